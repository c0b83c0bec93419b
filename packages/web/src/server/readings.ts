import {
  JobStatus,
  type GetOverviewResponse,
  type GetProviderQueueResponse,
  type JobSummary,
  type ListJobsResponse,
  type ListMachinesResponse,
  type ListProvidersResponse,
  type ListRequestsResponse,
} from '@mutirao/api/broker';

import type { Reason } from '@mutirao/api/common';

import { FinishRate } from './finish-rate.ts';
import type { GatewayParts } from './grid-calls.ts';
import type { Estimate } from './documents/jobs.ts';

/**
 * A reading is taken again after this multiple of the time that the last one took, so that all pages together cost the
 * broker a few per cent at most.
 */
const restFactor = 20;
/**
 * But not longer after that, in milliseconds: on a host where everything waits, an answer that is slow has cost the
 * broker little, and the page would stand still.
 */
const restMax = 4000;
/** Jobs whose remaining time is asked for, the newest of those that run. */
const estimatesMax = 8;
export const jobsListed = 100;

/** The least age, in milliseconds, at which a reading is taken again. */
const ages = {
  jobs: 200,
  estimate: 1500,
  explain: 2000,
  overview: 500,
  machines: 1000,
  requests: 1000,
  providers: 1000,
  queue: 2000,
  ledger: 2000,
} as const;

function isIdle({ status, readyCount, runningCount, dispatchedCount }: JobSummary): boolean {
  return status === JobStatus.RUNNING && readyCount > 0 && runningCount + dispatchedCount === 0;
}

interface Kept {
  readonly takenAt: number;
  /** Until then every caller gets it. */
  readonly until: number;
  readonly value: unknown;
}

/**
 * The broker's latest answers, for all pages at once: a call while an answer is young gets it, and a call while it is
 * fetched waits for the same one.
 */
export class Readings {
  readonly #parts: Pick<GatewayParts, 'grid' | 'clock'>;
  readonly #kept = new Map<string, Kept>();
  readonly #underway = new Map<string, Promise<unknown>>();
  readonly #rate = new FinishRate();

  constructor(parts: Pick<GatewayParts, 'grid' | 'clock'>) {
    this.#parts = parts;
  }

  /** The newest jobs. */
  async jobs(): Promise<ListJobsResponse> {
    return this.#take('jobs', ages.jobs, async (broker) => {
      const answer = await broker.listJobs({ pageSize: jobsListed, beforeJobId: 0 });
      this.#rate.note(this.#parts.clock.now(), answer.jobs);
      return answer;
    });
  }

  /** How much there is of what jobs run on: what a page without machines and requests asks in place of those. */
  overview(): Promise<GetOverviewResponse> {
    return this.#take('overview', ages.overview, (broker) => broker.getOverview());
  }

  machines(): Promise<ListMachinesResponse> {
    return this.#take('machines', ages.machines, (broker) => broker.listMachines());
  }

  /** Requests that have not ended. */
  requests(): Promise<ListRequestsResponse> {
    return this.#take('requests', ages.requests, (broker) => broker.listRequests({ includeEnded: false }));
  }

  providers(): Promise<ListProvidersResponse> {
    return this.#take('providers', ages.providers, (broker) => broker.listProviders());
  }

  /** The queue of a provider's resource; rejects if the provider cannot report it. */
  queue(providerId: string): Promise<GetProviderQueueResponse> {
    return this.#take(`queue ${providerId}`, ages.queue, (broker) => broker.getProviderQueue({ providerId }));
  }

  ledger(jobId: number) {
    return this.#take(`ledger ${jobId}`, ages.ledger, (broker) => broker.getLedger({ jobId }));
  }

  /** A job without its spec. */
  job(jobId: number) {
    return this.#take(`job ${jobId}`, ages.jobs, (broker) => broker.getJob({ jobId, withoutSpec: true }));
  }

  /** A job with how long it still takes, which is looked at less often. */
  estimate(jobId: number) {
    return this.#take(`estimate ${jobId}`, ages.estimate, (broker) => broker.getJob({ jobId, withoutSpec: true }));
  }

  /** How long the newest jobs that run still take. */
  async estimates(jobs: readonly JobSummary[]): Promise<ReadonlyMap<number, Estimate>> {
    const running = jobs.filter(({ status }) => status === JobStatus.RUNNING).slice(0, estimatesMax);
    const found = await Promise.all(running.map(async ({ jobId }) => [jobId, await this.estimate(jobId)] as const));
    return new Map(found);
  }

  /**
   * Why jobs wait of which nothing is at a machine although tasks are ready, by their numbers; of those that are looked
   * at least often, the newest.
   */
  async waits(jobs: readonly JobSummary[]): Promise<ReadonlyMap<number, Reason>> {
    const idle = jobs.filter(isIdle).slice(0, estimatesMax);
    const found = await Promise.all(
      idle.map(async ({ jobId }) => [jobId, (await this.#explain(jobId)).waiting] as const),
    );
    return new Map(found.flatMap(([jobId, waiting]) => (waiting === undefined ? [] : [[jobId, waiting] as const])));
  }

  #explain(jobId: number) {
    return this.#take(`explain ${jobId}`, ages.explain, (broker) =>
      broker.explain({ subject: { $case: 'jobId', value: jobId } }),
    );
  }

  /** Tasks that finished per second, lately. */
  finishedPerSecond(): number {
    return this.#rate.perSecond(this.#parts.clock.now());
  }

  async #take<T>(
    key: string,
    age: number,
    fetch: (broker: ReturnType<GatewayParts['grid']['broker']>) => Promise<T>,
  ): Promise<T> {
    const { clock, grid } = this.#parts;
    const kept = this.#kept.get(key);
    if (kept !== undefined && clock.now() < kept.until) return kept.value as T;
    const underway = this.#underway.get(key);
    if (underway !== undefined) return underway as Promise<T>;
    const takenAt = clock.now();
    const fetching = (async () => {
      const value = await fetch(grid.broker());
      const now = clock.now();
      this.#forgetOld(now);
      this.#kept.set(key, {
        takenAt,
        until: now + Math.max(age, Math.min(restMax, (now - takenAt) * restFactor)),
        value,
      });
      return value;
    })();
    this.#underway.set(key, fetching);
    try {
      return await fetching;
    } finally {
      this.#underway.delete(key);
    }
  }

  /** Answers about single jobs would pile up otherwise. */
  #forgetOld(now: number): void {
    for (const [key, { until }] of this.#kept) if (until + 60_000 < now) this.#kept.delete(key);
  }
}
