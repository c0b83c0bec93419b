import type { Bytes, Duration, Instant } from './units.ts';

/** A number with its noun: `1 task`, `2 tasks`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A span of time for people: `250 ms`, `3.2 s`, `5 min 10 s`, `2 h 3 min`. */
export function describeTime(time: Duration): string {
  if (time < 1000) return `${Math.round(time)} ms`;
  if (time < 60_000) return `${Math.round(time / 100) / 10} s`;
  const seconds = Math.round(time / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/**
 * A span of time for people, to the millisecond: `24 h`, `1 min 30 s`, `1 s 1 ms`. For limits, which can be missed by
 * little.
 */
export function describeExactTime(time: Duration): string {
  const parts: string[] = [];
  let rest = time;
  for (const [unit, size] of [
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
    ['ms', 1],
  ] as const) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.length === 0 ? '0 ms' : parts.join(' ');
}

/**
 * A moment for people and programs, in UTC: `2026-03-01T14:00:00Z`, with milliseconds where there are any. @param at
 * from 1970 on.
 */
export function describeInstant(at: Instant): string {
  const dayLength = 86_400_000;
  const time = at % dayLength;
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = [time / 3_600_000, (time / 60_000) % 60, (time / 1000) % 60]
    .map((part) => two(Math.floor(part)))
    .join(':');
  const millis = time % 1000;
  return `${describeDay(Math.floor(at / dayLength))}T${clock}${millis === 0 ? '' : `.${String(millis).padStart(3, '0')}`}Z`;
}

/** Years are counted from March, so that the leap day is the last of each: then months follow from days by one line. */
function describeDay(daysSince1970: number): string {
  const days = daysSince1970 + 719_468;
  const era = Math.floor(days / 146_097);
  const ofEra = days - era * 146_097;
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  const day = ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** An amount of memory or of a file's contents for people, in powers of 1024: `812 B`, `1.5 MiB`. */
export function describeBytes(bytes: Bytes): string {
  let value = bytes;
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (value < 1024) return `${Math.round(value * 10) / 10} ${unit}`;
    value /= 1024;
  }
  return `${Math.round(value * 10) / 10} TiB`;
}

/** The message of whatever was thrown. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
