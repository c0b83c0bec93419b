import { type JobSpec, priorityMax, priorityMin, runningMaxMost } from '@mutirao/core/messages';
import { MutiraoError } from '@mutirao/api/errors';
import { parseDuration } from '@mutirao/formats';
import { parseMoment } from '../../local-time.ts';
import { showInstant } from '../../output/units.ts';
import { readStart } from '../../usage/foreign-values.ts';
import { readInteger } from '../../usage/read-integer.ts';

/** Options that say when a job is served. */
export interface ServiceOptions {
  readonly runningMax?: string;
  readonly priority?: string;
  readonly hold?: boolean;
  readonly open?: boolean;
  readonly begin?: string;
  readonly expire?: string;
}

/** Those of them that were given, as the user writes them. */
export function serviceOptionsGiven(options: ServiceOptions): (readonly [string, unknown])[] {
  const { runningMax, priority, hold, open, begin, expire } = options;
  return [
    ['--running-max', runningMax],
    ['--priority', priority],
    ['--hold', hold],
    ['--open', open],
    ['--begin', begin],
    ['--expire', expire],
  ];
}

/** The times and the priority that the options give; times count from `now`. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function readService(
  options: ServiceOptions,
  now: number,
): Pick<JobSpec, 'runningMax' | 'priority' | 'isHeld' | 'open' | 'beginAt' | 'expireAt'> {
  const runningMax = readRunningMax(options.runningMax);
  const priority = readPriority(options.priority);
  const beginAt = options.begin === undefined ? undefined : readMoment(options.begin, now);
  return {
    ...(runningMax === undefined ? {} : { runningMax }),
    ...(priority === undefined ? {} : { priority }),
    ...(options.hold === true ? { isHeld: true } : {}),
    ...(options.open === true ? { open: true } : {}),
    ...(beginAt === undefined ? {} : { beginAt }),
    ...(options.expire === undefined ? {} : { expireAt: readExpiry(options.expire, now, beginAt) }),
  };
}

const aheadMax = 5 * 365 * 24 * 3_600_000;

/** A time of day, a date, or a time counted from now. @throws {MutiraoError} MUT_BAD_REQUEST, MUT_LOCAL_TIME */
export function readMoment(text: string, now: number): number {
  if (text.trim().toLowerCase() === 'now') return now;
  const meant = readStart(text.trim());
  if (meant !== text.trim())
    throw new MutiraoError('MUT_BAD_REQUEST', `the time is ${JSON.stringify(text)}; did you mean ${meant}?`);
  const at = text.startsWith('+') ? now + parseDuration(text.slice(1)) : parseMoment(text, now);
  if (at - now > aheadMax)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the time ${JSON.stringify(text)} is more than 5 years ahead; expected an earlier one`,
    );
  return at;
}

function readExpiry(text: string, now: number, beginAt = now): number {
  const at = readMoment(text, now);
  if (at <= now)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--expire is ${showInstant(at)}, which has passed; expected a future time`,
    );
  if (at > beginAt) return at;
  throw new MutiraoError(
    'MUT_BAD_REQUEST',
    `--expire is ${showInstant(at)}, and --begin is ${showInstant(beginAt)}; expected --expire after --begin`,
  );
}

/** When a job that is submitted now begins, in local time; undefined if no time is given. */
export function describeBegin({ beginAt }: Pick<JobSpec, 'beginAt'>, now: number): string | undefined {
  if (beginAt === undefined) return undefined;
  return beginAt > now
    ? `It begins at ${showInstant(beginAt)} or later.`
    : `--begin is ${showInstant(beginAt)}, which has passed: it begins at once.`;
}

/** Most tasks at once; undefined where nothing is said. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function readRunningMax(text: string | undefined): number | undefined {
  return text === undefined ? undefined : readInteger('--running-max', text, { min: 1, max: runningMaxMost });
}

/** A priority; undefined where nothing is said. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function readPriority(text: string | undefined): number | undefined {
  return text === undefined ? undefined : readInteger('--priority', text, { min: priorityMin, max: priorityMax });
}
