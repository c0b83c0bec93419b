import {
  AdaptiveAdmissibility,
  SiteSelectionTable,
  QueueModel,
  type CountedTasks,
  type FinishedTask,
  type SiteSelectionStrategy,
} from '@mutirao/core/site-selection';
import { RequestPlan, ResourceReplay, type QueuePolicy, type TracedRequest } from '@mutirao/core/queue';
import { InvariantError, Prng } from '@mutirao/core/shared';
import type { Instant, ProcessorCount } from '@mutirao/core/shared';

/** Clusters and how tasks are placed on them. */
export interface SiteSelectionSetup {
  /** Processors of each cluster, the least first. */
  readonly sizes: readonly ProcessorCount[];
  /** The local level: which request goes first on each cluster. */
  readonly policy: QueuePolicy;
  readonly strategy: SiteSelectionStrategy;
  /** a in 0..1, or as the adaptive policy moves it. */
  readonly admissibility: number | 'adaptive';
  /** Which tasks the strategy's sums are taken over; those that have not ended when left out. */
  readonly counted?: CountedTasks;
  /** Of what is left to chance. */
  readonly seed: string;
}

/** What became of a stream of tasks. */
export interface SiteSelectionRun {
  /** By task, in the order of the stream. */
  readonly finished: readonly FinishedTask[];
  /** The cluster that each went to. */
  readonly clusters: readonly number[];
  /** The mean of a over the decisions. */
  readonly meanAdmissibility: number;
}

/** A cluster with the book that is kept of it, and when something happens there next. */
interface Cluster {
  readonly replay: ResourceReplay;
  readonly book: QueueModel;
  next: Instant;
}

/**
 * Runs a stream of rigid tasks on several clusters: each is placed when it is submitted, and waits in that cluster's
 * queue.
 *
 * At one instant: submissions in the order of the stream, each placed and taken in, then ends and starts, cluster by
 * cluster. Tentative schedules are
 * FCFS by walltimes whatever the local policy.
 *
 * @param stream by submission, from 0 on. @throws {InvariantError} for a task that is wider than every cluster.
 * @source gonzalez2010, section 4.
 */
export function runSiteSelection(setup: SiteSelectionSetup, stream: readonly TracedRequest[]): SiteSelectionRun {
  return new SiteSelectionSimulation(setup, stream).run();
}

class SiteSelectionSimulation {
  readonly #setup: SiteSelectionSetup;
  readonly #stream: readonly TracedRequest[];
  readonly #clusters: readonly Cluster[];
  readonly #table: SiteSelectionTable;
  readonly #adaptive: AdaptiveAdmissibility;
  readonly #prng: Prng;
  readonly #finished: FinishedTask[];
  readonly #placed: number[] = [];
  #submitted = 0;
  #admissibilities = 0;

  constructor(setup: SiteSelectionSetup, stream: readonly TracedRequest[]) {
    this.#setup = setup;
    this.#stream = stream;
    this.#clusters = setup.sizes.map((size) => ({
      replay: new ResourceReplay(setup.policy, new RequestPlan(size, 0)),
      book: new QueueModel(size, setup.counted),
      next: Infinity,
    }));
    this.#table = new SiteSelectionTable(
      this.#clusters.map(({ book }, index) => ({ name: `c${index}`, book, level: 4, receivedAt: Infinity })),
    );
    this.#adaptive = new AdaptiveAdmissibility(this.#table.sets);
    this.#prng = new Prng(setup.seed);
    this.#finished = new Array<FinishedTask>(stream.length);
  }

  run(): SiteSelectionRun {
    for (let now = this.#nextInstant(); now < Infinity; now = this.#nextInstant()) {
      this.#submitAll(now);
      for (const cluster of this.#clusters) if (cluster.next <= now) this.#settle(cluster, now);
    }
    return {
      finished: this.#finished,
      clusters: this.#placed,
      meanAdmissibility: this.#admissibilities / Math.max(1, this.#placed.length),
    };
  }

  #nextInstant(): Instant {
    let next = this.#stream[this.#submitted]?.submittedAt ?? Infinity;
    for (const cluster of this.#clusters) if (cluster.next < next) next = cluster.next;
    return next;
  }

  #submitAll(now: Instant): void {
    for (let task = this.#stream[this.#submitted]; task?.submittedAt === now; task = this.#stream[this.#submitted]) {
      const { width, walltime, runTime } = task;
      const id = this.#submitted;
      const index = this.#place(task, now);
      const { replay, book } = this.#clusters[index] as Cluster;
      book.add(id, task, now);
      replay.submit({ id, width, walltime, runTime }, now);
      (this.#clusters[index] as Cluster).next = now;
      this.#placed.push(index);
      this.#submitted += 1;
    }
  }

  #place(task: TracedRequest, now: Instant): number {
    const { strategy, admissibility: fixed } = this.#setup;
    if (fixed === 'adaptive') this.#adaptive.noteArrival(task.width, now);
    const admissibility = fixed === 'adaptive' ? this.#adaptive.value : fixed;
    this.#admissibilities += admissibility;
    const decision = this.#table.decide({ strategy, admissibility, staleAfter: 0 }, task, now, this.#prng);
    if (decision.kind === 'too-wide')
      throw new InvariantError(
        `a task of ${decision.width} processors is wider than every cluster (${decision.widest})`,
      );
    return decision.index;
  }

  #settle(cluster: Cluster, now: Instant): void {
    const { replay, book } = cluster;
    for (const id of replay.endDue(now)) {
      const { submittedAt, width, runTime } = this.#stream[id] as TracedRequest;
      book.end(id, now);
      this.#finished[id] = { submittedAt, width, runTime, endedAt: now };
      if (this.#setup.admissibility === 'adaptive') this.#adaptive.noteEnd(width, runTime);
    }
    for (const { id } of replay.startDue(now)) book.start(id, now);
    cluster.next = replay.nextInstant;
  }
}
