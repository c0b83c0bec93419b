import type { Reason } from '../../../src/schema/index.ts';

/** Reasons one after another that say the same of different things: the first, and the others. */
export interface ReasonGroup {
  readonly first: Reason;
  readonly others: readonly Reason[];
}

/** Fewer than that are shown as they are. */
const foldedFrom = 3;

/** Folds reasons of one code that follow each other. */
export function groupReasons(reasons: readonly Reason[]): ReasonGroup[] {
  const runs: Reason[][] = [];
  for (const reason of reasons) {
    const last = runs.at(-1);
    if (last !== undefined && reason.code !== '' && last[0]?.code === reason.code) last.push(reason);
    else runs.push([reason]);
  }
  return runs.flatMap((run) => {
    const [first, ...others] = run;
    if (first === undefined) return [];
    return run.length < foldedFrom ? run.map((one) => ({ first: one, others: [] })) : [{ first, others }];
  });
}
