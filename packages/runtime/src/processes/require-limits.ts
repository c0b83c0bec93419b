import { MutiraoError } from '@mutirao/api/errors';
import { describeBytes, type Bytes } from '@mutirao/core/shared';
import { readProcessLimits, type Limit } from './soft-limits.ts';

/** A journal, and the log of a process, may become so large. */
const fileBytesMin: Bytes = 64 * 1024 * 1024;

/**
 * Checks that the limits which this account cannot raise let our processes work at all. To be called after
 * `raiseSoftLimits`.
 *
 * @param threadsMin how many processes and threads are needed. @param limits for tests.
 * @throws {MutiraoError} MUT_HOME_UNUSABLE
 */
export function requireLimits(
  threadsMin: number,
  limits: ReadonlyMap<string, Limit> = readProcessLimits(),
  isRoot: boolean = process.geteuid?.() === 0,
): void {
  const files = numberOf(limits, 'Max file size');
  if (files < fileBytesMin)
    throw new MutiraoError(
      'MUT_HOME_UNUSABLE',
      `this process may write files of at most ${describeBytes(files)} (hard limit, "ulimit -Hf"), and a journal ` +
        `needs more; expected ${describeBytes(fileBytesMin)} or more`,
    );
  const threads = numberOf(limits, 'Max processes');
  // It does not bind root.
  if (!isRoot && threads < threadsMin)
    throw new MutiraoError(
      'MUT_HOME_UNUSABLE',
      `this account may have at most ${threads} processes and threads (hard limit, "ulimit -Hu"); ` +
        `expected ${threadsMin} or more`,
    );
}

function numberOf(limits: ReadonlyMap<string, Limit>, name: string): number {
  const soft = limits.get(name)?.soft;
  return soft === undefined || soft === 'unlimited' ? Infinity : Number(soft);
}
