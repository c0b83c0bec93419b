import { Prng } from '../shared/index.ts';

/** Which tasks check the machines that run them. */
export interface SpotCheckRules {
  /** Share of tasks, in [0, 1]. */
  readonly rate: number;
  /** Only the broker knows it, so that no machine can find out which tasks are checked. */
  readonly secret: string;
}

/**
 * Whether a task is a spot check: its result, though it could be believed, is held until another machine has brought it
 * too.
 *
 * @source Sarmenta 2002 (see `decideByMajority`), spot-checking: work whose result is known already is given out at a
 *   rate q, and a worker that brings another result is a saboteur. Symbols: q = `rate`.
 * Departs from the source: the known answer is one that is credible enough to be accepted and is not booked yet; a
 * contradiction is decided by further votes, so that a wrong answer does not convict an honest machine.
 */
export function isSpotCheck(
  { jobId, taskIndex }: { readonly jobId: number; readonly taskIndex: number },
  { rate, secret }: SpotCheckRules,
): boolean {
  return new Prng(`spot check ${secret} ${jobId} ${taskIndex}`).fraction() < rate;
}
