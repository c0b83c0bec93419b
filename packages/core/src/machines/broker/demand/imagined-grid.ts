import { countStartable, dispatchQueues, usableProcessors, type SchedulingPort } from '../../../bag/index.ts';
import type { AllocationRequest, SchedulerName } from '../../../messages/index.ts';
import {
  capacityOfSlots,
  FreeResources,
  holdsSlot,
  multiplyCapacity,
  type ResourceCapacity,
  plainSlot,
  type ResourceRequest,
  type Slot,
} from '../../../resources/index.ts';
import { type Instant, invariant, type ProcessorCount, type RequestId } from '../../../shared/index.ts';
import { addShape, shapeOf, type ShapeCounts } from './task-shape.ts';
import { unknownSlowness } from '../../../times/index.ts';
import { requireUnits, requireWidth } from './require-units.ts';
import { isFollower } from '../gangs/gang.ts';
import { imagineGangs } from './imagine-gangs.ts';
import { takesWork } from '../machines/takes-work.ts';
import { mayMatch } from '../machines/machine-pattern.ts';
import { matchesQueue } from '../dispatch/matching.ts';
import { countReadySoon } from './ready-soon.ts';
import { holdsUntil, keepsAway, type Moment, type TimedMachine } from '../times/remaining-time.ts';
import { runsBeside } from '../reservations/reserved-place.ts';
import type {
  BrokerJob,
  BrokerMachine,
  BrokerProvider,
  BrokerReplica,
  BrokerState,
  Success,
  TaskQueue,
} from '../state.ts';
import { getRoom } from '../jobs/serving-order.ts';
import { getAlternative, listRequests } from '../jobs/task-groups.ts';
import { findQueue } from '../site-selection/assigned-tasks.ts';
import { isVotedOn, runsMissing, votesWanted } from '../trust/votes.ts';

/** The share of a walltime that is left when the machines of a request have joined. */
const walltimeLeft = 0.9;

/** One request is imagined as no more machines than this. */
const machinesPerRequestMax = 64;

/** Machines that take tasks in the imagination: a real one, or all that a request will bring. */
export interface ImaginedMachine extends TimedMachine {
  readonly provider: BrokerProvider;
  /** Empty for a real machine. */
  readonly requestId: RequestId;
  /** Undefined for what a request will bring. */
  readonly real: BrokerMachine | undefined;
  /** Its walltime runs; the one of a request that waits does not get shorter while that waits. */
  readonly hasBegun: boolean;
  readonly processors: ProcessorCount;
  /** What its request is made of; left out for single processors, and of a real machine. */
  readonly slot?: Slot;
  heldProcessors: ProcessorCount;
  /** Left out where no queue asks for more than processors. */
  readonly resources?: FreeResources;
  /** Tasks that it is expected to take, by their queue. */
  readonly taken: Map<TaskQueue, number>;
}

/** Ready tasks of a queue in the imagination; those that wait at busy machines are among them. */
export interface ImaginedQueue {
  readonly source: TaskQueue;
  readonly processors: ProcessorCount;
  readonly resources: ResourceRequest | undefined;
  readonly scheduler: SchedulerName;
  /** Falls as machines take tasks; no machine takes the rest. A gang counts as one task for each of its processors. */
  readyCount: number;
  /** Queues of the same ready tasks for what these can do with instead. */
  readonly alternatives: readonly ImaginedQueue[];
}

/** Where open tasks would be if every machine and request did what it is there for. */
export interface ImaginedGrid {
  readonly machines: readonly ImaginedMachine[];
  /** In the order in which they are served; also those that wait for nothing. */
  readonly queues: readonly ImaginedQueue[];
  readonly running: ReadonlyMap<BrokerProvider, Running>;
}

/** What runs on a provider's machines, by shape. */
export interface Running {
  /** Tasks that count there, those whose results are fetched from there included. */
  readonly tasks: ShapeCounts;
  /** Replicas that they hold, siblings of tasks that count elsewhere and those that wait included. */
  readonly replicas: ShapeCounts;
}

/**
 * Places all ready tasks on present and coming machines, with the code of the real dispatch: first on the processors of
 * present machines, which come free sooner or later, one task for each; then on the machines of running requests that
 * have not joined; then on those of waiting requests, in the order in which this broker learnt of them. The rest is
 * what no machine will take, and what the broker should request by its site selection.
 *
 * Tasks of workflows that are ready soon (`countReadySoon`) come last: they retain present machines, and request none.
 *
 * Tasks inside a reservation are left out: they have a demand of their own (`reservedFor`).
 *
 * Cost: O(replicas + requests + machines with a free processor x queues).
 */
export function imagineGrid(moment: Moment): ImaginedGrid {
  const queues = new Map<TaskQueue, ImaginedQueue>();
  for (const job of moment.state.openJobs.values()) {
    if (job.status !== 'running' || !runsBeside(job)) continue;
    for (const source of job.queues) queues.set(source, imagineQueue(source, 0));
    let room = getRoom(job);
    // Runs that votes need come first, as in the dispatch.
    if (isVotedOn(job)) room -= addVotes(moment.state, job, { queues, room });
    for (const source of job.queues) {
      const tasks = Math.min(room, source.ready.size);
      room -= tasks;
      (queues.get(source) as ImaginedQueue).readyCount += tasks * requireUnits(source);
    }
  }
  const running = new Map(
    [...moment.state.providers.values()].map((provider): [BrokerProvider, Running] => [
      provider,
      { tasks: new Map(), replicas: new Map() },
    ]),
  );
  const isCounted = [...queues.keys()].flatMap(listRequests).some(({ resources }) => resources !== undefined);
  const machines = [...takeStock(moment, queues, { running, isCounted }), ...comingMachines(moment, isCounted)];
  countFetched(moment.state, running);
  const port: ImaginedPort = {
    matches: ({ source }, machine) => suits(moment, source, machine),
    prefetchDepth: () => 0,
    listAlternatives: ({ alternatives }) => alternatives,
    countSoonerBefore: (queue, alternative, among) => countFreeBefore({ queue, alternative, among }, port),
    dispatch: take,
    // How many tasks have a place does not depend on which of them gets which, so that a scheduler gets only what a
    // workqueue needs.
    readyTasks: () => [],
    suits: () => true,
    dispatchTasks: () => undefined,
    taskTime: () => undefined,
    waits: () => [],
    timeLeft: () => Infinity,
    bytesHeld: () => 0,
    lookAgain: () => undefined,
    isPlanned: () => false,
    dispatchPlanned: () => new Set(),
  };
  const ready = [...queues.values()].filter((queue) => queue.readyCount > 0);
  imagineGangs(
    machines,
    ready.filter(({ source }) => source.isGang),
    port.matches,
  );
  const single = ready.filter(({ source }) => !source.isGang);
  fillSlots(machines, single, port);
  dispatchQueues(machines, single, port);
  // Behind all ready tasks, and only on present machines: a task that finds no place here is not missing one.
  dispatchQueues(machines, imagineSoon(moment), port);
  return { machines, queues: [...queues.values()], running };
}

/**
 * Gives slots that are asked for to tasks of the shape that they were asked for: were others in line before, those
 * would ask for more and more.
 */
function fillSlots(machines: readonly ImaginedMachine[], queues: readonly ImaginedQueue[], port: ImaginedPort): void {
  for (const machine of machines) {
    const { slot } = machine;
    if (slot === undefined) continue;
    for (const queue of queues.flatMap((first) => [first, ...first.alternatives]))
      if (queue.readyCount > 0 && isMadeFor(slot, queue.source) && port.matches(queue, machine))
        take(machine, queue, Infinity);
  }
}

function isMadeFor(slot: Slot, queue: TaskQueue): boolean {
  const needed = shapeOf(queue).slot;
  if (needed === undefined || needed.gpus !== slot.gpus || !holdsSlot(slot, needed)) return false;
  return needed.processors === slot.processors || slot.gpus > 0;
}

type ImaginedPort = SchedulingPort<ImaginedMachine, ImaginedQueue>;

/** Tasks that are ready soon, in the order of their jobs. */
function imagineSoon(moment: Moment): ImaginedQueue[] {
  const soon: ImaginedQueue[] = [];
  for (const job of moment.state.openJobs.values()) {
    const counts = job.status === 'running' && runsBeside(job) ? countReadySoon(moment, job) : [];
    for (const [source, readyCount] of counts) soon.push(imagineQueue(source, readyCount));
  }
  return soon;
}

/** One that looks at its data, or follows a plan, would look at each task; for their number it is a workqueue. */
function imagineQueue(source: TaskQueue, tasks: number): ImaginedQueue {
  const scheduler = source.scheduler === 'storage-affinity' || source.scheduler === 'plan' ? 'wqr' : source.scheduler;
  const alternatives: ImaginedQueue[] = [];
  const queue = {
    source,
    processors: requireWidth(source),
    resources: source.resources,
    scheduler,
    readyCount: tasks * requireUnits(source),
    alternatives,
  };
  for (const request of source.alternatives) alternatives.push(imagineAlternative(queue, request));
  return queue;
}

function imagineAlternative(queue: ImaginedQueue, source: TaskQueue): ImaginedQueue {
  const { processors, resources } = source;
  return {
    source,
    processors,
    resources,
    scheduler: queue.scheduler,
    alternatives: [],
    get readyCount() {
      return queue.readyCount;
    },
    set readyCount(count) {
      queue.readyCount = count;
    },
  };
}

/** Places that are free for the requests before an alternative. */
function countFreeBefore(
  {
    queue,
    alternative,
    among,
  }: {
    readonly queue: ImaginedQueue;
    readonly alternative: ImaginedQueue;
    readonly among: readonly ImaginedMachine[];
  },
  { matches }: Pick<ImaginedPort, 'matches'>,
): number {
  const before = [queue, ...queue.alternatives.slice(0, alternative.source.alternative - 1)];
  return before.reduce(
    (sum, request) =>
      among.reduce((free, machine) => free + (matches(request, machine) ? countStartable(machine, request) : 0), sum),
    0,
  );
}

/** Runs that votes need and that no replica provides for wait in addition to the ready tasks. */
function addVotes(
  state: BrokerState,
  job: BrokerJob,
  { queues, room }: { readonly queues: ReadonlyMap<TaskQueue, ImaginedQueue>; readonly room: number },
): number {
  let added = 0;
  for (const task of job.tasks.values()) {
    const missing = Math.min(room - added, runsMissing(state, job, task));
    const queue = missing === 0 ? undefined : queues.get(findQueue(job, task.index));
    if (queue === undefined) continue;
    queue.readyCount += missing;
    added += missing;
  }
  return added;
}

function suits(moment: Moment, queue: TaskQueue, machine: ImaginedMachine): boolean {
  if (requireWidth(queue) > (machine.slot?.processors ?? Infinity)) return false;
  const isMatch = machine.real === undefined ? mayMatch(queue, machine.provider) : matchesQueue(queue, machine.real);
  if (!isMatch) return false;
  const { state, now } = moment;
  return !keepsAway(machine.hasBegun ? moment : { state, now }, queue, machine);
}

function take(machine: ImaginedMachine, queue: ImaginedQueue, countMax: number): number {
  const count = Math.min(queue.readyCount, countMax, countStartable(machine, queue));
  const { resources } = queue;
  if (resources !== undefined) for (let index = 0; index < count; index++) machine.resources?.take(resources);
  queue.readyCount -= count;
  machine.heldProcessors += count * queue.processors;
  machine.taken.set(queue.source, (machine.taken.get(queue.source) ?? 0) + count);
  return count;
}

/**
 * Counts running replicas, puts those that wait at busy machines back in their queues, and returns the machines that
 * have processors for more.
 */
function takeStock(
  moment: Moment,
  queues: ReadonlyMap<TaskQueue, ImaginedQueue>,
  { running, isCounted }: { readonly running: ReadonlyMap<BrokerProvider, Running>; readonly isCounted: boolean },
): ImaginedMachine[] {
  const { state } = moment;
  const machines: ImaginedMachine[] = [];
  for (const machine of state.machines.values()) {
    if (machine.facts.reservation !== undefined) continue;
    const ofProvider = running.get(machine.provider);
    invariant(ofProvider !== undefined, `machine ${machine.facts.machineId} of a provider that is not there`);
    const heldProcessors = countOn(state, machine, { queues, running: ofProvider });
    if (heldProcessors >= usableProcessors(machine) || !isUsable(moment, machine)) continue;
    const { provider, facts, slowness } = machine;
    machines.push({
      provider,
      requestId: '',
      real: machine,
      hasBegun: true,
      facts,
      slowness,
      processors: usableProcessors(machine),
      heldProcessors,
      ...(isCounted ? { resources: machine.resources.clone() } : {}),
      taken: new Map(),
    });
  }
  return machines;
}

/**
 * A machine that will be announced again after a break counts as usable; otherwise other providers would be asked to
 * run its tasks for a moment.
 */
function isUsable(moment: Moment, { provider, facts: { until }, quarantinedUntil }: BrokerMachine): boolean {
  if (!takesWork(provider)) return false;
  for (const end of [until ?? Infinity, quarantinedUntil]) holdsUntil(moment, end);
  return (until === undefined || until > moment.now) && quarantinedUntil <= moment.now;
}

/** Processors that hold what the machine runs; replicas that do not fit on them go back to their queue. */
function countOn(
  state: BrokerState,
  machine: BrokerMachine,
  {
    queues,
    running: { tasks, replicas },
  }: { readonly queues: ReadonlyMap<TaskQueue, ImaginedQueue>; readonly running: Running },
): ProcessorCount {
  let held = 0;
  for (const replica of machine.replicas.values()) {
    if (replica.status === 'aborting') continue;
    const { processors, job, task, member, alternative } = replica;
    // Demand counts the fewest processors of a task, whatever this one got.
    const shape = shapeOf(getAlternative(findQueue(job, task.index), alternative));
    const count = member === undefined ? 1 : processors;
    addShape(replicas, shape, count);
    if (held + processors <= machine.processors || !machine.provider.isConnected) {
      held += processors;
      if (isWanted(state, replica)) addShape(tasks, shape, count);
    } else if (isWanted(state, replica) && member === undefined) {
      const queue = queues.get(findQueue(replica.job, replica.task.index));
      if (queue !== undefined) queue.readyCount++;
    }
  }
  return held;
}

/**
 * A task counts once, at its eldest replica, or at its success if it has one; a task that is voted on counts for each
 * vote that it needs.
 */
function isWanted(state: BrokerState, replica: BrokerReplica): boolean {
  const {
    job,
    task,
    task: { successes, replicas },
  } = replica;
  if (isFollower(replica)) return replica.status !== 'aborting';
  if (isVotedOn(job)) return replicas.indexOf(replica) < votesWanted(state, job, task);
  return successes === undefined && replicas[0] === replica;
}

/** Whether a success is being checked or brought home; one that waits for further votes is not. */
function isFetched(success: Success): boolean {
  const { task, job, digest } = success;
  return isVotedOn(job) ? digest === undefined || task.accepting === success : task.successes?.[0] === success;
}

/** Results that are being brought home may still be on their machines: those are wanted until they are settled. */
function countFetched(state: BrokerState, running: ReadonlyMap<BrokerProvider, Running>): void {
  for (const success of state.successes.values()) {
    if (!isFetched(success) || success.job.status !== 'running' || !runsBeside(success.job)) continue;
    const provider = state.providers.get(success.account.providerId);
    const counted = provider && running.get(provider);
    if (counted !== undefined) addShape(counted.tasks, shapeOf(findQueue(success.job, success.task.index)), 1);
  }
}

/**
 * What requests of connected providers that take work will bring: first the rest of the running ones, then the waiting
 * ones, in the order in which they were reported.
 */
function comingMachines({ state, now }: Moment, isCounted: boolean): ImaginedMachine[] {
  const joined = countJoined(state);
  const rest: ImaginedMachine[] = [];
  const waiting: ImaginedMachine[] = [];
  for (const [key, request] of state.requests) {
    const provider = state.providers.get(request.providerId);
    if (provider === undefined || !takesWork(provider) || request.reservation !== undefined) continue;
    if (request.status === 'running') {
      const until = request.startedAt + request.walltime;
      rest.push(...bring(provider, request, { until, processors: request.width - (joined.get(key) ?? 0) }));
    } else if (isWaiting(request)) {
      waiting.push(
        ...bring(provider, request, { until: now + walltimeLeft * request.walltime, processors: request.width }),
      );
    }
  }
  const coming = [...rest, ...waiting].filter((machine) => machine.processors > 0);
  return isCounted ? coming : coming.map(({ resources: _, ...machine }) => machine);
}

/**
 * The expected total resources of a request's machines: as requested if nodes are known, else as earlier machines of
 * the provider had.
 */
function hopedResources(
  { pattern, resource }: BrokerProvider,
  { slot }: AllocationRequest,
  processors: ProcessorCount,
): FreeResources {
  const had = multiplyPattern(pattern, processors);
  if (slot === undefined && resource?.resourceStatus.nodes === undefined)
    return had === undefined ? FreeResources.unknown() : new FreeResources(had);
  const { processors: step } = slot ?? plainSlot;
  const asked = capacityOfSlots(slot ?? plainSlot, Math.floor(processors / step));
  // Counted resources are not asked of managers: machines bring what those before them had.
  return new FreeResources({ ...asked, named: had?.named ?? asked.named });
}

function multiplyPattern(pattern: BrokerProvider['pattern'], processors: ProcessorCount): ResourceCapacity | undefined {
  if (pattern?.capacity === undefined) return undefined;
  return multiplyCapacity(pattern.capacity, Math.max(1, Math.floor(processors / pattern.processors)));
}

function countJoined(state: BrokerState): Map<string, ProcessorCount> {
  const joined = new Map<string, ProcessorCount>();
  for (const {
    account: { key },
    processors,
  } of state.machines.values())
    joined.set(key, (joined.get(key) ?? 0) + processors);
  return joined;
}

function bring(
  provider: BrokerProvider,
  request: AllocationRequest,
  { until, processors }: { readonly until: Instant; readonly processors: ProcessorCount },
): ImaginedMachine[] {
  return splitInSlots(request, processors).map((share) => ({
    provider,
    requestId: request.requestId,
    real: undefined,
    hasBegun: request.status === 'running',
    facts: { until },
    slowness: unknownSlowness,
    processors: share,
    ...(request.slot === undefined ? {} : { slot: request.slot }),
    heldProcessors: 0,
    resources: hopedResources(provider, request, share),
    taken: new Map(),
  }));
}

/** Tasks do not span slots: each slot is a machine, or a part of them if there are very many. */
function splitInSlots({ slot }: AllocationRequest, processors: ProcessorCount): ProcessorCount[] {
  if (slot === undefined) return [processors];
  const slots = Math.max(0, Math.floor(processors / slot.processors));
  const machines = Math.min(slots, machinesPerRequestMax);
  return Array.from({ length: machines }, (_, index) => {
    const share = Math.floor(slots / machines) + (index < slots % machines ? 1 : 0);
    return share * slot.processors;
  });
}

function isWaiting({ status }: AllocationRequest): boolean {
  return status === 'queued' || status === 'submitting';
}
