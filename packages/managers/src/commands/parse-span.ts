import type { Duration, Instant } from '@mutirao/core/shared';

const unitMillis: Readonly<Record<string, Duration>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Reads a walltime: seconds (`3600`), `90m`, `1h30m`, `MM:SS`, `HH:MM:SS` or `D-HH:MM:SS` (or `D:HH:MM:SS`). Undefined
 * for anything else.
 */
export function parseSpan(text: string): Duration | undefined {
  const trimmed = text.trim();
  if (/^\d{1,12}$/.test(trimmed)) return Number(trimmed) * 1000;
  if (/^(?:\d{1,9}[smhd])+$/.test(trimmed))
    return [...trimmed.matchAll(/(\d+)([smhd])/g)].reduce(
      (sum, [, count, unit]) => sum + Number(count) * (unitMillis[unit ?? ''] ?? 0),
      0,
    );
  const match = /^(?:(\d{1,6})[-:])?(?:(\d{1,9}):)?(\d{1,9}):(\d{1,9})$/.exec(trimmed);
  if (match === null) return undefined;
  const [days, hours, minutes, seconds] =
    match[2] === undefined
      ? [0, Number(match[1] ?? 0), Number(match[3]), Number(match[4])]
      : match.slice(1).map((part) => Number(part ?? 0));
  return ((((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1000;
}

/**
 * Reads an instant that a command wrote under `TZ=UTC`: seconds since the epoch, or a date with its time. 0 for
 * anything else.
 */
export function parseMoment(text: string): Instant {
  const trimmed = text.trim();
  if (/^\d{9,11}(?:\.\d+)?$/.test(trimmed)) return Math.round(Number(trimmed) * 1000);
  if (!/\d:\d\d/.test(trimmed)) return 0;
  const hasZone = /(?:Z|UTC|GMT|[+-]\d\d:?\d\d)$/.test(trimmed);
  return Date.parse(hasZone ? trimmed : `${trimmed}${/^\d{4}-\d\d-\d\dT/.test(trimmed) ? 'Z' : ' UTC'}`) || 0;
}
