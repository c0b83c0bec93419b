/** The results of the thesis for a trace; undefined if it has none. */
export interface SeedNumbers {
  /** In percent. */
  readonly offeredLoad: number;
  readonly adaptive: number;
  readonly mixed: number | undefined;
  /** Requests of its log. */
  readonly requestCount: number;
}

/** The numbers of the thesis, by trace. @source costa2005, Tables 4.1 and 4.3 to 4.6. */
export const seedNumbers: Readonly<Record<string, SeedNumbers>> = {
  sp2: { offeredLoad: 72, adaptive: 2.05, mixed: 1.37, requestCount: 73_496 },
  bluehorizon: { offeredLoad: 73, adaptive: 2.37, mixed: 1.59, requestCount: 250_440 },
  ctc: { offeredLoad: 55, adaptive: 14.74, mixed: 14.73, requestCount: 79_302 },
  'ctc-0.9': { offeredLoad: 61, adaptive: 1.99, mixed: undefined, requestCount: 79_302 },
  'ctc-0.7': { offeredLoad: 78, adaptive: 1.83, mixed: undefined, requestCount: 79_302 },
};

/**
 * Requests whose start differs between the simulators of the thesis, in percent, by log. @source costa2005, Table 4.7.
 */
export const seedDifferences: Readonly<Record<string, number>> = { sp2: 0, ctc: 0, lanl: 0.12, bluehorizon: 2.3 };
