import type { HeuristicOptions } from '@mutirao/core/requests';

/** An assumption that is varied, all others being as they are in the study. */
export interface StudyVariant {
  /** Of letters, digits and `-`. */
  readonly id: string;
  readonly title: string;
  /** What conservative backfilling does after an early end; left out, `start-now`. */
  readonly compression?: 'reinsert';
  readonly options?: Partial<HeuristicOptions>;
  readonly releasesIdle?: true;
  /** maxP as a part of the machine, in (0, 1]; left out, 1. */
  readonly widthShare?: number;
}

/** What the thesis leaves open and the study varies. */
export const studyVariants: readonly StudyVariant[] = [
  { id: 'static-largest', title: 'static asks for maxP always', options: { staticWidth: 'largest' } },
  { id: 'best-first', title: 'holes: the best of all breakpoints first', options: { holes: 'best-first' } },
  { id: 'maximal', title: 'holes: all maximal rectangles', options: { holes: 'maximal' } },
  {
    id: 'whole-hole',
    title: 'requests as long as their hole, not whole tasks',
    options: { holeWalltime: 'whole-hole' },
  },
  {
    id: 'first-exchange',
    title: 'a candidate replaces the first request for which V rises, not the one for which it rises most',
    options: { exchange: 'first' },
  },
  { id: 'release-idle', title: 'idle requests are released', releasesIdle: true },
  { id: 'default-60', title: 'DEFAULT_TIME 60 s', options: { defaultTime: 60_000 } },
  { id: 'default-3600', title: 'DEFAULT_TIME 3600 s', options: { defaultTime: 3_600_000 } },
  { id: 'half-width', title: 'maxP half of the machine', widthShare: 0.5 },
  { id: 'reinsert', title: 'compression by `reinsert`', compression: 'reinsert' },
];

/** On which traces, by their ids, and at how many instants assumptions are varied. */
export const variation = { traceIds: ['sp2', 'ctc'], instantCount: 20 } as const;

/** The users' own way of asking (costa2005, section 3.3.1), run on many more job types than the variations. */
export const usersVariant: StudyVariant = {
  id: 'static-largest-all',
  title: 'static asks for maxP always',
  options: { staticWidth: 'largest' },
};

/** On which traces, by their ids, at how many instants, and up to which number of tasks `usersVariant` is run. */
export const usersExtent = { traceIds: ['sp2', 'bluehorizon', 'ctc'], instantCount: 50, taskCountMax: 10_000 } as const;
