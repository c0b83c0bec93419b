import { MutiraoError } from '@mutirao/api/errors';

/** The wall clock of some place. */
interface WallTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const hour = 3_600_000;
const day = 24 * hour;
const wanted =
  'expected 14:00, "tomorrow 14:00", "2026-03-01 14:00", 2026-03-01T14:00:00Z, or a time from now on such as +30m';

/**
 * Reads a moment as people write it, in local time where no offset is given; `14:00` alone is the next such moment.
 *
 * @throws {MutiraoError} MUT_LOCAL_TIME for a local time that there is twice or never, as on days on which clocks
 * change: both readings are named.
 */
export function parseMoment(text: string, now: number): number {
  const trimmed = text.trim();
  if (/T.*(?:Z|[+-]\d\d:?\d\d)$|^\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? ?(?:Z|[+-]\d\d:?\d\d)$/i.test(trimmed))
    return parseWithOffset(trimmed);
  const [, date = '', time = ''] =
    /^(?:(today|tomorrow|\d{4}-\d\d-\d\d)[ T]?)?(\d{1,2}:\d\d(?::\d\d)?)?$/i.exec(trimmed) ?? [];
  if (date === '' && time === '')
    throw new MutiraoError('MUT_BAD_REQUEST', `the time is ${JSON.stringify(text)}; ${wanted}`);
  const wall = readWall(date.toLowerCase(), time === '' ? '00:00' : time, now);
  // A time of day alone is the next one: tomorrow's where today's has passed, whichever of two it is, or would have
  // been where clocks are put over it.
  const isPast = date === '' && listReadings(wall).every(({ at }) => at < now);
  return getInstant(
    isPast
      ? getReservationBlock(Date.UTC(wall.year, wall.month - 1, wall.day + 1, wall.hour, wall.minute, wall.second))
      : wall,
    trimmed,
  );
}

function parseWithOffset(text: string): number {
  const at = Date.parse(text.replace(/^(\S+) (\d\d:)/, '$1T$2').replace(/ (?=Z|[+-])/i, ''));
  const [year = 0, month = 0, dayOfMonth = 0] = text.slice(0, 10).split('-').map(Number);
  // The 30th of February would be the 2nd of March.
  const isReal = new Date(Date.UTC(year, month - 1, dayOfMonth)).getUTCDate() === dayOfMonth;
  if (Number.isNaN(at) || !isReal)
    throw new MutiraoError('MUT_BAD_REQUEST', `the time is ${JSON.stringify(text)}; ${wanted}`);
  return at;
}

function readWall(date: string, time: string, now: number): WallTime {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  const [year, month, dayOfMonth] = readDay(date, now);
  const wall = getReservationBlock(Date.UTC(year, month - 1, dayOfMonth, hours, minutes, seconds));
  const isReal =
    hours < 24 &&
    minutes < 60 &&
    seconds < 60 &&
    (!/^\d/.test(date) || (wall.month === month && wall.day === dayOfMonth));
  if (!isReal)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `there is no ${[date, time].filter((part) => part !== '').join(' ')}; ${wanted}`,
    );
  return wall;
}

/** Year, month and day of a date; the day of `tomorrow` may be beyond its month. */
function readDay(date: string, now: number): readonly [number, number, number] {
  const today = new Date(now);
  if (!/^\d/.test(date))
    return [today.getFullYear(), today.getMonth() + 1, today.getDate() + (date === 'tomorrow' ? 1 : 0)];
  const [year = 0, month = 0, dayOfMonth = 0] = date.split('-').map(Number);
  return [year, month, dayOfMonth];
}

/** A wall clock, kept as if it were that of UTC, where no hour is missing. */
function getReservationBlock(utc: number): WallTime {
  const at = new Date(utc);
  return {
    year: at.getUTCFullYear(),
    month: at.getUTCMonth() + 1,
    day: at.getUTCDate(),
    hour: at.getUTCHours(),
    minute: at.getUTCMinutes(),
    second: at.getUTCSeconds(),
  };
}

/**
 * What a time on local clocks may mean, in order: one moment, or two around a change of clocks, of which both or none
 * are shown as that time.
 */
function listReadings(wall: WallTime): { readonly offset: number; readonly at: number }[] {
  const utc = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
  // Clocks change at most once in two days: the offsets before and after are all that there can be.
  const offsets = [...new Set([offsetAt(utc - day), offsetAt(utc + day)])];
  return offsets.map((offset) => ({ offset, at: utc - offset })).sort((one, other) => one.at - other.at);
}

/** The moment at which local clocks show a time. @throws {MutiraoError} MUT_LOCAL_TIME where there are two or none. */
function getInstant(wall: WallTime, text: string): number {
  const candidates = listReadings(wall);
  const real = candidates.filter(({ at, offset }) => offsetAt(at) === offset);
  const [first, second] = real;
  if (first !== undefined && second === undefined) return first.at;
  const reported = candidates.map(({ at }) => `${showWithOffset(at)}`).join(' or ');
  const why =
    first === undefined ? 'does not exist: clocks are put forward over it' : 'comes twice: clocks are put back then';
  throw new MutiraoError('MUT_LOCAL_TIME', `the local time ${JSON.stringify(text)} ${why}; expected ${reported}`);
}

/** By how much local time is ahead of UTC at a moment. */
function offsetAt(at: number): number {
  return -new Date(at).getTimezoneOffset() * 60_000;
}

/** A moment in local time with its offset: `2026-03-29T01:30:00+01:00`. */
export function showWithOffset(at: number): string {
  const offset = offsetAt(at);
  const size = Math.abs(offset);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const wall = new Date(at + offset).toISOString().slice(0, 19);
  return `${wall}${offset < 0 ? '-' : '+'}${two(size / hour)}:${two((size % hour) / 60_000)}`;
}
