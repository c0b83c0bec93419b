const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** A time as people say it, in its two largest units: `2 h 5 min`, `3.4 s`, `120 ms`. */
export function sayDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(milliseconds < 9950 ? 1 : 0)} s`;
  const first = units.findIndex(([, size]) => milliseconds >= size);
  const [name, size] = units[first] ?? units[3];
  const whole = Math.floor(milliseconds / size);
  const [lesser, lesserSize] = units[first + 1] ?? units[3];
  const rest = Math.floor((milliseconds - whole * size) / lesserSize);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${lesser}`;
}

/** How long something still takes, said no more exactly than it is known. */
export function sayRemaining(least: number | null, most: number | null): string {
  if (least === null && most === null) return 'not known yet';
  if (least === null || most === null) return `about ${sayDuration(least ?? most ?? 0)}`;
  if (most - least < Math.max(1000, most * 0.15)) return `about ${sayDuration(most)}`;
  return `${sayDuration(least)} to ${sayDuration(most)}`;
}

/** A number with its thousands apart. */
export function sayCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** How many jobs have ended, as far as the newest show: `99`, or `99 or more` where older ones are not counted. */
export function sayEnded({
  jobs_ended: ended,
  has_more_jobs: hasMore,
}: {
  readonly jobs_ended: number;
  readonly has_more_jobs: boolean;
}): string {
  return hasMore ? `${sayCount(ended)} or more` : sayCount(ended);
}

/** How long all jobs still take, as far as that is known: what the rows of the jobs say, and no other estimate. */
export function sayToGo({
  remaining_ms_max: most,
  remaining_unknown_count: unknown,
}: {
  readonly remaining_ms_max: number | null;
  readonly remaining_unknown_count: number;
}): string {
  const jobs = sayMany(unknown, 'job');
  if (most === null) return unknown > 0 ? `tasks; remaining time unknown` : 'tasks finished';
  return `tasks; up to ${sayDuration(most)} to go${unknown > 0 ? `, unknown for ${jobs}` : ''}`;
}

/** A message as a sentence: `there is no job 9` becomes `There is no job 9.` */
export function saySentence(message: string): string {
  const end = /[.!?…]$/.test(message) ? '' : '.';
  return message === '' ? '' : message.charAt(0).toUpperCase() + message.slice(1) + end;
}

/** `1 task`, `2 tasks`. */
export function sayMany(count: number, one: string, many = `${one}s`): string {
  return `${sayCount(count)} ${count === 1 ? one : many}`;
}

/** A number of bytes in the largest unit that leaves one before the point. */
export function sayBytes(bytes: number): string {
  const names = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(names.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${names[power]}`;
}

/** Processor-time as hours of one processor, or less where it is less. */
export function sayProcessorTime(milliseconds: number): string {
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} processor-s`;
  if (milliseconds < 3_600_000) return `${(milliseconds / 60_000).toFixed(1)} processor-min`;
  return `${(milliseconds / 3_600_000).toFixed(milliseconds < 36_000_000 ? 2 : 1)} processor-h`;
}

/** A share in per cent, never rounded to nothing or to all. */
export function sayShare(part: number, whole: number): string {
  if (whole <= 0) return '0 %';
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 1) return '< 1 %';
  if (percent > 99 && percent < 100) return '> 99 %';
  return `${Math.round(percent)} %`;
}

/** How long ago an instant is. */
export function sayAgo(instant: number, now: number): string {
  const gone = now - instant;
  return gone < 1000 ? 'just now' : `${sayDuration(gone)} ago`;
}

/** An instant in the viewer's time zone, with its day where that is not today's (`today`, an instant of it). */
export function sayClock(instant: number, today: number): string {
  const at = new Date(instant);
  const clock = at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return at.toDateString() === new Date(today).toDateString()
    ? clock
    : `${at.toLocaleDateString(undefined, { weekday: 'short', day: 'numeric', month: 'short' })} ${clock}`;
}

/** The time zone in which the page shows times: `Europe/Lisbon`. */
export function sayTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** An instant by the clock of this computer: `14:03:07`. */
export function sayTimeOfDay(instant: number): string {
  const at = new Date(instant);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}
