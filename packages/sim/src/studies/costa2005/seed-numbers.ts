/** What the thesis reports of a trace; undefined where it does not. */
export interface SeedNumbers {
  /** In percent. */
  readonly offeredLoad: number;
  readonly adaptive: number;
  readonly mixed: number | undefined;
}

/** The numbers of the thesis, by trace. @source costa2005, Tables 4.3 to 4.6. */
export const seedNumbers: Readonly<Record<string, SeedNumbers>> = {
  sp2: { offeredLoad: 72, adaptive: 2.05, mixed: 1.37 },
  bluehorizon: { offeredLoad: 73, adaptive: 2.37, mixed: 1.59 },
  ctc: { offeredLoad: 55, adaptive: 14.74, mixed: 14.73 },
  'ctc-0.9': { offeredLoad: 61, adaptive: 1.99, mixed: undefined },
  'ctc-0.7': { offeredLoad: 78, adaptive: 1.83, mixed: undefined },
};
