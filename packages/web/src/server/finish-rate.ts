import type { JobSummary } from '@mutirao/api/broker';

const windowMs = 3000;

/** How many tasks finish per second, by counts that are looked at now and then. */
export class FinishRate {
  readonly #counts = new Map<number, number>();
  /** When counts were looked at, and how many tasks in all had finished since the first look. */
  #looks: { readonly at: number; readonly total: number }[] = [];

  /** Takes the counts of jobs at an instant; a job that is seen for the first time has finished nothing yet. */
  note(now: number, jobs: readonly Pick<JobSummary, 'jobId' | 'finishedCount'>[]): void {
    let total = this.#looks.at(-1)?.total ?? 0;
    for (const { jobId, finishedCount } of jobs)
      total += Math.max(0, finishedCount - (this.#counts.get(jobId) ?? finishedCount));
    this.#counts.clear();
    for (const { jobId, finishedCount } of jobs) this.#counts.set(jobId, finishedCount);
    this.#looks = [...this.#looks.filter(({ at }) => at > now - windowMs), { at: now, total }];
  }

  /** Over the last seconds; 0 before there were two looks. */
  perSecond(now: number): number {
    const [first] = this.#looks;
    const last = this.#looks.at(-1);
    if (first === undefined || last === undefined || now <= first.at || now - last.at > windowMs) return 0;
    return Math.round(((last.total - first.total) * 10_000) / (now - first.at)) / 10;
  }
}
