import { type JobSpec, priorityMax, priorityMin, runningMaxMost } from '@mutirao/core/messages';
import { readInteger } from '../../usage/read-integer.ts';

/** Options that say when a job is served. */
export interface ServiceOptions {
  readonly runningMax?: string;
  readonly priority?: string;
  readonly hold?: boolean;
  readonly open?: boolean;
}

/** Those of them that were given, as the user writes them. */
export function serviceOptionsGiven(options: ServiceOptions): (readonly [string, unknown])[] {
  const { runningMax, priority, hold, open } = options;
  return [
    ['--running-max', runningMax],
    ['--priority', priority],
    ['--hold', hold],
    ['--open', open],
  ];
}

/** What the options say of when a job is served. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function readService(options: ServiceOptions): Pick<JobSpec, 'runningMax' | 'priority' | 'isHeld' | 'open'> {
  const runningMax = readRunningMax(options.runningMax);
  const priority = readPriority(options.priority);
  return {
    ...(runningMax === undefined ? {} : { runningMax }),
    ...(priority === undefined ? {} : { priority }),
    ...(options.hold === true ? { isHeld: true } : {}),
    ...(options.open === true ? { open: true } : {}),
  };
}

/** Most tasks at once; undefined where nothing is said. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function readRunningMax(text: string | undefined): number | undefined {
  return text === undefined ? undefined : readInteger('--running-max', text, { min: 1, max: runningMaxMost });
}

/** A priority; undefined where nothing is said. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function readPriority(text: string | undefined): number | undefined {
  return text === undefined ? undefined : readInteger('--priority', text, { min: priorityMin, max: priorityMax });
}
