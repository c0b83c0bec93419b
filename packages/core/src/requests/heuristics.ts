import type { RequestHeuristic } from './heuristic.ts';
import { staticHeuristic } from './static.ts';

const heuristics: ReadonlyMap<string, RequestHeuristic> = new Map([[staticHeuristic.name, staticHeuristic]]);

/** Names of the request heuristics, in the order in which they are offered to users. */
export const heuristicNames: readonly string[] = [...heuristics.keys()];

/** Finds a request heuristic by its name; undefined where there is none of that name. */
export function findHeuristic(name: string): RequestHeuristic | undefined {
  return heuristics.get(name);
}
