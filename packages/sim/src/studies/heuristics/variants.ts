import type { HeuristicOptions } from '@mutirao/core/requests';

/** A heuristic with one of its options otherwise. */
export interface HeuristicVariant {
  /** Of letters, digits and `-`. */
  readonly id: string;
  /** What is otherwise, in the words of the report. */
  readonly title: string;
  readonly options: Partial<HeuristicOptions>;
}

/** What is varied of which heuristic in a part; empty where nothing is. */
export function listVariants(part: string, heuristic: string | undefined): readonly HeuristicVariant[] {
  return heuristic === undefined ? [] : variants[part]?.[heuristic] ?? [];
}

const holes: readonly HeuristicVariant[] = [
  { id: 'best-first', title: 'holes: the best of all breakpoints first', options: { holes: 'best-first' } },
  { id: 'maximal', title: 'holes: all maximal rectangles', options: { holes: 'maximal' } },
  { id: 'whole-hole', title: 'requests as long as their hole, not whole tasks', options: { holeWalltime: 'whole-hole' } },
];

const defaultTimes: readonly HeuristicVariant[] = [
  { id: 'default-60', title: 'DEFAULT_TIME 60 s', options: { defaultTime: 60_000 } },
  { id: 'default-3600', title: 'DEFAULT_TIME 3600 s', options: { defaultTime: 3_600_000 } },
];

const variants: Readonly<Record<string, Readonly<Record<string, readonly HeuristicVariant[]>>>> = {
  ablations: { mixed: holes }, constants: { mixed: defaultTimes },
};
