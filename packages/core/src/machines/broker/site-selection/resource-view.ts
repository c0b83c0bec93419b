import {
  type AssignedTask,
  type SiteSelectionResource,
  SiteSelectionTable,
  QueueModel,
} from '../../../site-selection/index.ts';
import type { Duration, Instant, ProcessorCount, ProcessorMillis, TaskIndex } from '../../../shared/index.ts';
import { getGroup, getTaskGroup } from '../jobs/task-groups.ts';
import { mayObtain } from '../machines/machine-pattern.ts';
import type { BrokerJob, BrokerProvider, BrokerState, TaskQueue } from '../state.ts';
import { knownNeed } from '../times/remaining-time.ts';
import { findSize, isAvailable, type KnownSize } from './known-size.ts';

/** What a provider's resource has to do, and since when. */
interface OwnTask extends AssignedTask {
  /** 0 while it waits. */
  readonly startedAt: Instant;
}

/** Resources in the order of size among which tasks of a queue are placed. */
export interface Candidates {
  readonly table: SiteSelectionTable;
  /** A provider is there that could take the tasks, for all that is known, and of whose size nothing is known. */
  readonly hasUnknown: boolean;
}

/**
 * What one step knows of the resources that tasks are assigned to. Its instants count from the step.
 *
 * The queue of a space-shared resource is what its provider reported, with the tasks behind it that were assigned there
 * and that this broker's own requests in it have no processor-time for; time-shared machines have their running and
 * assigned tasks. Cost: O(assigned tasks + providers), and for each provider that is a candidate the cost of a schedule
 * of its own tasks.
 */
export class ResourceView {
  readonly #state: BrokerState;
  readonly #now: Instant;
  readonly #sizes = new Map<BrokerProvider, KnownSize>();
  readonly #resources = new Map<BrokerProvider, SiteSelectionResource>();
  readonly #candidates = new Map<TaskQueue, Candidates>();
  readonly #own = new Map<BrokerProvider, OwnTask[]>();
  readonly #times = new Map<BrokerJob, Duration | undefined>();
  #lastId = 0;

  constructor(state: BrokerState, now: Instant) {
    this.#state = state;
    this.#now = now;
    for (const provider of state.providers.values()) {
      const size = provider.isConnected ? findSize(state, provider) : undefined;
      if (size !== undefined) this.#sizes.set(provider, size);
    }
    for (const job of state.openJobs.values()) this.#gather(job);
  }

  /** Of all resources, ascending. */
  get sizes(): ProcessorCount[] {
    return [...this.#sizes.values()].map(({ processors }) => processors).sort((one, other) => one - other);
  }

  /** The resources that tasks of a whole queue could run on. */
  candidatesFor(queue: TaskQueue): Candidates {
    let candidates = this.#candidates.get(queue);
    if (candidates === undefined) this.#candidates.set(queue, (candidates = this.#look(queue)));
    return candidates;
  }

  /** Whether a provider's resource is one that tasks of a queue could run on; undefined where its size is not known. */
  suits(queue: TaskQueue, provider: BrokerProvider): boolean | undefined {
    const size = this.#sizes.get(provider);
    return size === undefined ? undefined : isAvailable(queue, provider, size);
  }

  /**
   * What is known of a task for its assignment: its time is by its limit, by the ended tasks of its job, by its file,
   * or guessed.
   */
  findTask(job: BrokerJob, index: TaskIndex, submittedAt = job.submittedAt): AssignedTask {
    const group = getGroup(job, index);
    if (!this.#times.has(job)) this.#times.set(job, knownNeed(this.#state, job));
    const walltime =
      this.#times.get(job) ??
      getTaskGroup(job, group.groupIndex).expectedTime ??
      this.#state.options.siteSelection.taskTime;
    // Strategies divide by work and by ends: of a task that takes no time they would compare nothing.
    return {
      width: group.queue.processors,
      walltime: Math.max(1, walltime),
      submittedAt: Math.min(0, submittedAt - this.#now),
    };
  }

  /** In how long a task would start on a resource, behind all that is there; undefined where that is not known. */
  waitOn({ book, level, receivedAt }: SiteSelectionResource, task: AssignedTask): Duration | undefined {
    if (level < 4 || -receivedAt > this.#state.options.siteSelection.staleAfter) return undefined;
    return Math.max(0, book.foresee(task, 0).endsAt - task.walltime);
  }

  /** Has a task behind all that is on a resource from now on. */
  assign({ book }: SiteSelectionResource, task: AssignedTask): void {
    this.#lastId += 1;
    book.add(this.#lastId, task, 0);
  }

  #gather(job: BrokerJob): void {
    for (const [index, { provider, queue }] of job.assigned) {
      if (!this.#sizes.has(provider)) continue;
      const [replica] = queue.ready.has(index) ? [] : (job.tasks.get(index)?.replicas ?? []);
      const own = this.#own.get(provider) ?? [];
      this.#own.set(provider, own);
      own.push({
        ...this.findTask(job, index),
        startedAt: replica === undefined ? 0 : replica.startedAt || replica.dispatchedAt,
      });
    }
  }

  #look(queue: TaskQueue): Candidates {
    const resources: SiteSelectionResource[] = [];
    let hasUnknown = false;
    for (const provider of this.#state.providers.values()) {
      const size = this.#sizes.get(provider);
      // A provider that reports nothing may have more than was seen of it.
      hasUnknown ||=
        provider.isConnected &&
        provider.resource === undefined &&
        size?.isTimeShared !== true &&
        mayObtain(queue, provider);
      if (size !== undefined && isAvailable(queue, provider, size)) {
        resources.push(this.#resourceOf(provider, size));
      }
    }
    return { table: new SiteSelectionTable(resources), hasUnknown };
  }

  #resourceOf(provider: BrokerProvider, size: KnownSize): SiteSelectionResource {
    let resource = this.#resources.get(provider);
    if (resource === undefined)
      this.#resources.set(
        provider,
        (resource = size.isTimeShared ? this.#timeShared(provider, size) : this.#spaceShared(provider, size)),
      );
    return resource;
  }

  /** Its machines are this broker's alone while they are announced to it: their work is known. */
  #timeShared(provider: BrokerProvider, { processors }: KnownSize): SiteSelectionResource {
    const book = new QueueModel(processors);
    const running: OwnTask[] = [];
    for (const machine of provider.machines.values()) {
      for (const { job, task, processors: width, startedAt, dispatchedAt, status } of machine.replicas.values()) {
        if (status !== 'aborting' && job.groups.length > 0)
          running.push({ ...this.findTask(job, task.index), width, startedAt: startedAt || dispatchedAt });
      }
    }
    for (const task of running) this.#run(book, task);
    for (const task of this.#own.get(provider) ?? []) if (task.startedAt === 0) this.#wait(book, task);
    return { name: provider.providerId, book, level: 4, receivedAt: Infinity };
  }

  #spaceShared(provider: BrokerProvider, { processors }: KnownSize): SiteSelectionResource {
    const own = this.#own.get(provider) ?? [];
    const { resource } = provider;
    const queue = resource?.resourceStatus.queue;
    if (resource === undefined || queue === undefined) {
      const book = new QueueModel(processors);
      for (const task of own) this.#wait(book, task);
      return { name: provider.providerId, book, level: 0, receivedAt: 0 };
    }
    const since = Math.max(0, this.#now - resource.receivedAt);
    const book = new QueueModel(processors, 'unfinished', { known: queue.known, by: -since });
    for (const task of this.#uncovered(own, queue.ownWork)) this.#wait(book, task);
    return { name: provider.providerId, book, level: 4, receivedAt: -since - queue.age };
  }

  /**
   * Tasks that wait and for which the requests that there are have no processor-time left, in the order of their
   * assignment.
   */
  #uncovered(own: readonly OwnTask[], ownWork: ProcessorMillis): OwnTask[] {
    let left = ownWork - own.reduce((sum, task) => (task.startedAt > 0 ? sum + this.#workLeft(task) : sum), 0);
    return own.filter((task) => {
      const work = task.width * task.walltime;
      if (task.startedAt > 0) return false;
      if (work > left) return true;
      left -= work;
      return false;
    });
  }

  #workLeft({ width, walltime, startedAt }: OwnTask): ProcessorMillis {
    return width * Math.max(0, startedAt + walltime - this.#now);
  }

  #wait(book: QueueModel, task: OwnTask): void {
    this.#lastId += 1;
    book.add(this.#lastId, { ...task, width: Math.min(task.width, book.processors) }, 0);
  }

  #run(book: QueueModel, task: OwnTask): void {
    this.#wait(book, task);
    book.start(this.#lastId, Math.min(0, task.startedAt - this.#now));
  }
}
