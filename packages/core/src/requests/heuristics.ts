import { adaptiveHeuristic } from './adaptive.ts';
import { finishHeuristic } from './finish/index.ts';
import type { RequestHeuristic } from './heuristic.ts';
import { initialHeuristic } from './initial.ts';
import { mixedHeuristic } from './mixed.ts';
import { staticHeuristic } from './static.ts';

const heuristics: ReadonlyMap<string, RequestHeuristic> = new Map(
  [staticHeuristic, initialHeuristic, adaptiveHeuristic, mixedHeuristic, finishHeuristic].map((heuristic) => [
    heuristic.name,
    heuristic,
  ]),
);

/** Names of the request heuristics, in the order in which they are offered to users. */
export const heuristicNames: readonly string[] = [...heuristics.keys()];

/** The name for whichever is best by what is known to this release. */
const bestName = 'auto';

/** What a user may say for a heuristic. */
export const heuristicChoices: readonly string[] = [...heuristicNames, bestName];

/** Finds a request heuristic by its name, or the best one by `auto`; undefined where there is none of that name. */
export function findHeuristic(name: string): RequestHeuristic | undefined {
  return name === bestName ? finishHeuristic : heuristics.get(name);
}
