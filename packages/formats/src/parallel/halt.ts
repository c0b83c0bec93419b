/** When GNU parallel ends before all jobs have run. */
export interface HaltRule {
  /** `soon` lets what runs end; `now` kills it. */
  readonly when: 'soon' | 'now';
  readonly what: 'fail' | 'success' | 'done';
  /** A number of jobs, or a share of all. */
  readonly count: number;
  readonly isShare: boolean;
}

/** Counts of jobs that have ended. */
export interface EndedJobs {
  readonly failed: number;
  readonly succeeded: number;
  readonly total: number;
}

const firstFailure = { what: 'fail', count: 1, isShare: false } as const;
const namedRules: Readonly<Record<string, HaltRule | 'never'>> = {
  never: 'never',
  '0': 'never',
  '1': { when: 'soon', ...firstFailure },
  '2': { when: 'now', ...firstFailure },
};

/** Reads `--halt`: `never`, `now,fail=1`, `soon,fail=10%`, or 0, 1 and 2 of older versions; undefined if malformed. */
export function parseHalt(text: string): HaltRule | 'never' | undefined {
  const named = namedRules[text];
  if (named !== undefined) return named;
  const match = /^(soon|now),(fail|success|done)=(\d+(?:\.\d+)?)(%?)$/.exec(text);
  const [, when, what, number = '', percent] = match ?? [];
  const count = Number(number);
  const isShare = percent === '%';
  if (match === null || count === 0 || (isShare ? count > 100 : !Number.isInteger(count))) return undefined;
  return { when: when as HaltRule['when'], what: what as HaltRule['what'], count, isShare };
}

/** Whether it is time to end. A share counts from the third job on, so that one early failure is not all of them. */
export function isHalted({ what, count, isShare }: HaltRule, { failed, succeeded, total }: EndedJobs): boolean {
  const ended = { fail: failed, success: succeeded, done: failed + succeeded }[what];
  if (!isShare) return ended >= count;
  return ended >= 3 && (100 * ended) / total >= count;
}
