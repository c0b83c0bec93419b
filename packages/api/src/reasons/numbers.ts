import type { Duration } from '@mutirao/core/shared';

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
/** Longer times are shown in days. */
const hoursMax = 72;

/** A span of time, rounded for people: `250 ms`, `3.2 s`, `40 s`, `5 min 10 s`, `2 h 3 min`, `9 days`. */
export function span(time: Duration): string {
  if (time < second) return `${Math.round(time)} ms`;
  if (time < 9950) return `${Math.round(time / 100) / 10} s`;
  if (Math.round(time / second) < 60) return `${Math.round(time / second)} s`;
  if (Math.round(time / second) < 3600) return inTwo(Math.round(time / second), 60, ['min', 's']);
  if (time < hoursMax * hour) return inTwo(Math.round(time / minute), 60, ['h', 'min']);
  return inTwo(Math.round(time / hour), 24, ['days', 'h']);
}

/** When something is, from now: `now`, `in 3.2 s`, `5 min ago`. */
export function fromNow(time: Duration): string {
  if (Math.round(time) === 0) return 'now';
  return time > 0 ? `in ${span(time)}` : `${span(-time)} ago`;
}

/** A span of time that is only an estimate, in one unit: `4 s`, `5 min`, `2 h`, `9 days`. */
export function roughly(time: Duration): string {
  if (time < second) return '1 s';
  if (Math.round(time / second) < 90) return `${Math.round(time / second)} s`;
  if (Math.round(time / minute) < 90) return `${Math.round(time / minute)} min`;
  if (time < hoursMax * hour) return `${Math.round(time / hour)} h`;
  return `${Math.round(time / day)} days`;
}

function inTwo(count: number, size: number, [large, small]: readonly [string, string]): string {
  const rest = count % size;
  const whole = `${Math.floor(count / size)} ${large}`;
  return rest === 0 ? whole : `${whole} ${rest} ${small}`;
}

/** A number that was measured, with two digits after the point where it is small. */
export function rounded(value: number): string {
  return String(value >= 100 ? Math.round(value) : Math.round(value * 100) / 100);
}

/** A remark in parentheses; nothing for an empty one. */
export function aside(text: string): string {
  return text === '' ? '' : ` (${text})`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}

/** The name that is meant, or those that there are. */
export function suggest(nearest: string | undefined, names: readonly string[]): string {
  return nearest === undefined ? `expected one of ${names.join(', ')}` : `did you mean "${nearest}"?`;
}

/** Of `lab=3` the name and the number; a name may have the sign itself. */
export function splitCount(entry: string): readonly [string, string] {
  const at = entry.lastIndexOf('=');
  return [entry.slice(0, at), entry.slice(at + 1)];
}
