import type { Bytes, Duration } from './units.ts';

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

/** A span of time for people, to the millisecond: `24 h`, `1 min 30 s`, `1 s 1 ms`. For limits, which can be missed by little. */
export function describeExactTime(time: Duration): string {
  const parts: string[] = [];
  let rest = time;
  for (const [unit, size] of [['h', 3_600_000], ['min', 60_000], ['s', 1000], ['ms', 1]] as const) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.length === 0 ? '0 ms' : parts.join(' ');
}

/** An amount of memory or of a file's contents for people, in powers of 1024: `812 B`, `1.5 MiB`. */
export function describeBytes(bytes: Bytes): string {
  let value = bytes;
  for (const unit of ['B', 'KiB', 'MiB']) {
    if (value < 1024) return `${Math.round(value * 10) / 10} ${unit}`;
    value /= 1024;
  }
  return `${Math.round(value * 10) / 10} GiB`;
}
