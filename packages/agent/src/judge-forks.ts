import type { Verdict } from '@mutirao/core/machines/agent';
import type { TaskEnd } from '@mutirao/runtime/processes';

/** A task with more processes than this may have used up the limit of its account by itself. */
const fewProcesses = 16;
/** Status with which dash and bash end where they cannot fork, and the last words of each. */
const forkFailures: ReadonlyMap<number, RegExp> = new Map([
  [2, /: Cannot fork$/],
  [254, /: fork: [^\n]*$/],
]);

/**
 * Judges a shell that could not start a process: the account has used up its limit, or the host its memory. A task with
 * few processes is not the cause, as the next task would meet the same.
 *
 * @param processesMost processes that the task was seen to have at once.
 */
export function judgeForks(
  { status, standardError }: Pick<TaskEnd, 'status' | 'standardError'>,
  processesMost: number,
): Verdict | undefined {
  const said = forkFailures.get(status);
  if (said === undefined || processesMost > fewProcesses) return undefined;
  const lastWords = Buffer.from(standardError.subarray(-200)).toString('latin1').trimEnd();
  return said.test(lastWords)
    ? { outcome: 'broken', reason: 'MUT_LAUNCH_FAILED', detail: { code: 'no-further-process' } }
    : undefined;
}
