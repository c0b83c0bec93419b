import type { Instant, ProcessorCount } from '../../../shared/index.ts';
import { requireUnits } from './require-units.ts';
import { addShape, isSmaller, shapeFor, shapeOf, widthAlone, type ShapeCounts, type TaskShape } from './task-shape.ts';
import { imagineGrid, type ImaginedGrid, type ImaginedQueue } from './imagined-grid.ts';
import { takesWork } from '../machines/takes-work.ts';
import { mayMatch } from '../machines/machine-pattern.ts';
import { holdsUntil, type Moment } from '../times/remaining-time.ts';
import { runsBeside } from '../reservations/reserved-place.ts';
import type { BrokerJob, BrokerProvider, BrokerState, TaskQueue } from '../state.ts';
import { listRequests } from '../jobs/task-groups.ts';
import { findQueue } from '../site-selection/assigned-tasks.ts';
import { countRunsWanted } from '../trust/votes.ts';

/** The demand for one provider. */
export interface DemandPart {
  /** Of the tasks that are reported to it. */
  readonly shape: TaskShape;
  /** Processors that tasks of other shapes hold there, or will; 0 for a provider that knows widths alone. */
  readonly otherProcessors: ProcessorCount;
  /** Tasks of that shape, those that run there included. */
  readonly pendingTasks: number;
  /** How many of them nothing that it has, or has asked for, will take. */
  readonly unplacedTasks: number;
  /** Of the widest gang among those; 0 where there is none. */
  readonly gangProcessors: ProcessorCount;
}

/**
 * Splits the open tasks among the providers: to each the tasks that run there, those that its machines and requests are
 * expected to take (see `imagineGrid`), and those that no machine takes though its machines could run them.
 *
 * Requests that wait count in the order in which this broker received them, each for what those before it leave: if
 * each counted for everything, two providers would take turns in giving way to each other. (The instants that they
 * state do not decide the order: if a clock step put a new request before a waiting one, its provider would give the
 * waiting one up and ask again without end.) Remaining tasks are shared evenly among the providers whose machines could
 * run them, so that two providers that learn of a job at once do not both ask for all of it; after `shareWait` the
 * others may ask for the rest of one's share too.
 *
 * A part covers tasks of one shape. A provider whose manager knows nodes gets the shape of remaining tasks that has
 * least there: the shapes take turns. Others get the narrowest shape, so that wide tasks never increase the demand for
 * narrow slots; the wide ones follow when those are done.
 */
export function splitDemand(moment: Moment): Map<BrokerProvider, DemandPart> {
  const grid = imagineGrid(moment);
  const providers = [...moment.state.providers.values()];
  const left = grid.queues.filter((queue) => queue.readyCount > 0);
  const fresh = dealShares(moment, left);
  return new Map(providers.map((provider) => [provider, derivePart(moment.state, grid, { provider, left, fresh })]));
}

interface Split {
  readonly provider: BrokerProvider;
  /** Queues of which something is left that nothing takes. */
  readonly left: readonly ImaginedQueue[];
  /** What is kept for providers alone. */
  readonly fresh: ReadonlyMap<BrokerProvider, ReadonlyMap<ImaginedQueue, number>>;
}

function derivePart(state: BrokerState, grid: ImaginedGrid, { provider, left, fresh }: Split): DemandPart {
  const placed = placedWith(grid, provider);
  const unplaced = unplacedFor({ provider, left, fresh });
  const replicas = seenBy(provider, grid.running.get(provider)?.replicas);
  const shape = chooseShape(provider, placed, unplaced) ?? shapeFor(provider, smallestOpen(state));
  const [there, lacking] = [countOf(placed, shape), countOf(unplaced, shape)];
  // The demand covers all that it runs, also siblings of tasks that count elsewhere: machines with work must stay.
  const pendingFor = (one: TaskShape, least: number): number =>
    Math.max(Math.min(countOf(replicas, one), countPending(state, provider, one)), least);
  let otherProcessors = 0;
  if (knowsNodes(provider))
    for (const { shape: other, count } of placed.values())
      if (other.key !== shape.key) otherProcessors += other.processors * pendingFor(other, count);
  return {
    shape,
    otherProcessors,
    pendingTasks: pendingFor(shape, there + lacking),
    unplacedTasks: lacking,
    gangProcessors: lacking === 0 ? 0 : widestGang({ provider, left, fresh }),
  };
}

function countOf(counts: ShapeCounts, { key }: TaskShape): number {
  return counts.get(key)?.count ?? 0;
}

function knowsNodes({ resource }: BrokerProvider): boolean {
  return resource?.resourceStatus.nodes !== undefined;
}

/** The shape that a provider receives; undefined where nothing is its to run or to ask for. */
function chooseShape(provider: BrokerProvider, placed: ShapeCounts, unplaced: ShapeCounts): TaskShape | undefined {
  const takesTurns = knowsNodes(provider) && unplaced.size > 0;
  const candidates = takesTurns ? unplaced.values() : [...placed.values(), ...unplaced.values()];
  const heldBy = (shape: TaskShape): number => (takesTurns ? countOf(placed, shape) * shape.processors : 0);
  let chosen: TaskShape | undefined;
  for (const { shape } of candidates) {
    if (chosen !== undefined && heldBy(chosen) < heldBy(shape)) continue;
    if (chosen === undefined || heldBy(shape) < heldBy(chosen) || isSmaller(shape, chosen)) chosen = shape;
  }
  return chosen;
}

/** Counts by the shapes as a provider receives them. */
function seenBy(provider: BrokerProvider, counts: ShapeCounts | undefined): ShapeCounts {
  const seen: ShapeCounts = new Map();
  for (const { shape, count } of counts?.values() ?? []) addShape(seen, shapeFor(provider, shape), count);
  return seen;
}

/** Tasks that run there, and those that its machines and requests are expected to take, by shape. */
function placedWith(grid: ImaginedGrid, provider: BrokerProvider): ShapeCounts {
  const placed = seenBy(provider, grid.running.get(provider)?.tasks);
  for (const machine of grid.machines) {
    if (machine.provider !== provider) continue;
    for (const [queue, count] of machine.taken) addShape(placed, shapeFor(provider, shapeOf(queue)), count);
  }
  return placed;
}

/** Tasks that nothing takes and its machines could run, but those that are kept for others, by shape. */
function unplacedFor({ provider, left, fresh }: Split): ShapeCounts {
  const unplaced: ShapeCounts = new Map();
  if (!takesWork(provider)) return unplaced;
  for (const queue of left) {
    const request = findObtainable(queue.source, provider);
    if (request === undefined) continue;
    addShape(unplaced, shapeFor(provider, shapeOf(request)), leftFor({ provider, fresh }, queue));
  }
  return unplaced;
}

/** The first request of a queue's tasks that a machine could have which the provider may obtain. */
function findObtainable(queue: TaskQueue, provider: BrokerProvider): TaskQueue | undefined {
  return listRequests(queue).find((request) => mayHold(request, provider));
}

/** Whether it may ever run such a task: it never has more processors for a gang than all of its resource. */
function mayHold(queue: TaskQueue, provider: BrokerProvider): boolean {
  const processors = provider.resource?.resourceStatus.processors ?? 0;
  const isTooWide = queue.isGang && processors > 0 && queue.processors > processors;
  return !isTooWide && mayMatch(queue, provider);
}

/** The rest of a queue that no machine takes, except the shares kept for others. */
function leftFor({ provider, fresh }: Pick<Split, 'provider' | 'fresh'>, queue: ImaginedQueue): number {
  let elsewhere = 0;
  for (const [other, shares] of fresh) if (other !== provider) elsewhere += shares.get(queue) ?? 0;
  return queue.readyCount - elsewhere;
}

function widestGang({ provider, left, fresh }: Split): ProcessorCount {
  let widest = 0;
  for (const queue of left) {
    if (queue.source.isGang && mayHold(queue.source, provider) && leftFor({ provider, fresh }, queue) > 0)
      widest = Math.max(widest, queue.source.processors);
  }
  return widest;
}

/** The shape of the smallest tasks of open jobs; one processor if no job needs a machine. */
function smallestOpen(state: BrokerState): TaskShape {
  let least: TaskShape | undefined;
  for (const job of state.openJobs.values()) {
    if (job.status !== 'running' || !runsBeside(job)) continue;
    for (const shape of job.queues.map(shapeOf)) if (least === undefined || isSmaller(shape, least)) least = shape;
  }
  return least ?? widthAlone(1);
}

/**
 * Tasks of a shape that have not ended, and the votes that they need beyond one run of each: those of a cancelled job
 * only have to be stopped.
 */
function countPending(state: BrokerState, provider: BrokerProvider, shape: TaskShape): number {
  const isOfShape = (queue: TaskQueue): boolean => shapeFor(provider, shapeOf(queue)).key === shape.key;
  let pending = 0;
  for (const job of state.openJobs.values()) {
    if (job.status === 'running' && runsBeside(job) && job.queues.some(isOfShape))
      pending += requireUnits(job) * (countPendingOf(job, isOfShape) + countRunsWanted(state, job));
  }
  return pending;
}

/** Of a job whose tasks are all alike, those that have not ended; of another one those that are ready or begun. */
function countPendingOf(job: BrokerJob, isOfShape: (queue: TaskQueue) => boolean): number {
  const { queues, taskCount, finished, failed, cancelled, tasks } = job;
  if (queues.every(isOfShape)) return taskCount - finished.size - failed.size - cancelled.size;
  let pending = 0;
  for (const queue of queues) if (isOfShape(queue)) pending += queue.ready.size;
  for (const task of tasks.values()) if (task.status !== 'ready' && isOfShape(findQueue(job, task.index))) pending++;
  return pending;
}

/** Deals what nothing takes evenly to the providers that may ask for it; only shares that are fresh are sent. */
function dealShares(moment: Moment, left: readonly ImaginedQueue[]): Map<BrokerProvider, Map<ImaginedQueue, number>> {
  const askers = [...moment.state.providers.values()].filter(mayAsk);
  const shares = new Map(askers.map((provider) => [provider, new Map<ImaginedQueue, number>()]));
  for (const queue of left) {
    const takers = askers.filter((provider) => findObtainable(queue.source, provider) !== undefined);
    const units = requireUnits(queue.source);
    const count = queue.readyCount / units;
    takers.forEach((provider, index) => {
      const share = units * (Math.floor(count / takers.length) + (index < count % takers.length ? 1 : 0));
      if (share > 0) shares.get(provider)?.set(queue, share);
    });
  }
  for (const [provider, ofProvider] of shares) {
    const until = freshUntil(moment, provider, ofProvider.size > 0);
    if (until <= moment.now) shares.delete(provider);
    else if (ofProvider.size > 0 && moment.state.providers.size > 1) holdsUntil(moment, until);
  }
  return shares;
}

/** Until when a share is kept for its provider alone. */
function freshUntil({ state, now }: Moment, provider: BrokerProvider, hasShare: boolean): Instant {
  if (!hasShare) provider.shareSince = undefined;
  else provider.shareSince ??= now;
  return (provider.shareSince ?? now) + state.options.shareWait;
}

/**
 * Those with time-shared machines have what they have, and those that are away or drain ask for nothing that counts.
 */
export function mayAsk(provider: BrokerProvider): boolean {
  if (!takesWork(provider)) return false;
  for (const { facts } of provider.machines.values()) if (facts.requestId === '') return false;
  return true;
}
