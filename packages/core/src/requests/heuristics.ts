import { adaptiveHeuristic } from './adaptive.ts';
import type { RequestHeuristic } from './heuristic.ts';
import { initialHeuristic } from './initial.ts';
import { mixedHeuristic } from './mixed.ts';
import { staticHeuristic } from './static.ts';

const heuristics: ReadonlyMap<string, RequestHeuristic> = new Map(
  [staticHeuristic, initialHeuristic, adaptiveHeuristic, mixedHeuristic].map((heuristic) => [heuristic.name, heuristic]),
);

/** Names of the request heuristics, in the order in which they are offered to users. */
export const heuristicNames: readonly string[] = [...heuristics.keys()];

/** Finds a request heuristic by its name; undefined where there is none of that name. */
export function findHeuristic(name: string): RequestHeuristic | undefined {
  return heuristics.get(name);
}
