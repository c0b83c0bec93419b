/** A duration as people read it: `0.4s`, `42s`, `3m05s`, `2h07m`, `3d04h`. */
export function showDuration(durationMs: number): string {
  if (durationMs < 9_950) return `${(durationMs / 1000).toFixed(1)}s`;
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)}d${two(hours % 24)}h`;
}

/** A moment in local time to the second: `2026-03-01 14:05:09`; `-` for one that has not come (0). */
export function showInstant(unixMs: number): string {
  if (unixMs === 0) return '-';
  return `${showDay(unixMs)} ${showTimeOfDay(unixMs)}`;
}

/** The local day: `2026-03-01`. */
export function showDay(unixMs: number): string {
  const at = new Date(unixMs);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** The local time of day to the second: `14:05:09`. */
export function showTimeOfDay(unixMs: number): string {
  const at = new Date(unixMs);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/**
 * A moment in local time, without its day where it lies less than half a day from now; `-` for one that has not come
 * (0).
 */
export function showMoment(unixMs: number, nowUnixMs: number): string {
  return unixMs !== 0 && Math.abs(unixMs - nowUnixMs) < 12 * 3_600_000 ? showTimeOfDay(unixMs) : showInstant(unixMs);
}

/** A size as people read it, in powers of 1024: `812 B`, `1.5 MiB`. */
export function showBytes(bytes: number): string {
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit] ?? ''}`;
}

/** A number without what is less than a thousandth, as documents have it. */
export function thousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** Processor-milliseconds as processor-seconds with one decimal. */
export function showProcessorSeconds(processorMs: number): string {
  return (processorMs / 1000).toFixed(1);
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
