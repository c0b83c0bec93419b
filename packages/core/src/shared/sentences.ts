import type { Duration } from './units.ts';

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
