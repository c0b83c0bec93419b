import { freeProcessors } from '@mutirao/core/bag';
import {
  findDrain,
  isQuarantined,
  keepsAway,
  mayUse,
  type BrokerJob,
  type BrokerMachine,
  type BrokerState,
  type TaskQueue,
} from '@mutirao/core/machines/broker';
import type { ClusterState } from '@mutirao/core/machines/cluster';
import type { ProviderState } from '@mutirao/core/machines/provider';
import { isOfReservation, isSameWindow, type MachineFacts, type SchedulerName } from '@mutirao/core/messages';
import { invariant, type Duration, type Instant } from '@mutirao/core/shared';
import { calmFaults, hasSleeps, honestManager, staysUp } from '../scenario.ts';
import type { ClusterSite, World } from '../world.ts';
import type { WorldCheck } from './check.ts';

/**
 * In quiet times nothing that is amiss stays so for longer: every grace, pause and patience of the machines is shorter.
 */
const patience: Duration = 90_000;

/** While nothing goes wrong, the beliefs of state machines are true, and no work is for nothing. */
export class QuietCheck implements WorldCheck {
  readonly #world: World;
  /** What is amiss, and since when. */
  #amiss = new Map<string, Instant>();

  constructor(world: World) {
    this.#world = world;
  }

  look(): void {
    const { kernel } = this.#world;
    const before = this.#amiss;
    this.#amiss = new Map();
    if (!isQuiet(this.#world)) return;
    for (const what of this.#findAmiss()) {
      const since = before.get(what) ?? kernel.now;
      this.#amiss.set(what, since);
      invariant(kernel.now - since <= patience, `for ${kernel.now - since} ms nothing has gone wrong, and ${what}`);
    }
  }

  *#findAmiss(): Iterable<string> {
    const { broker, clusters, labs } = this.#world;
    const state = broker.current?.process.state;
    if (state === undefined) return;
    yield* this.#compareAgents(state);
    yield* findIdle(state, broker.current?.process.now ?? 0);
    for (const { provider } of [...clusters, ...labs]) {
      const { current } = provider;
      if (current === undefined) continue;
      yield* compareRequests(state, current.process.state);
      yield* compareWindows(current.process, this.#world.reservations);
      if (isHonest(this.#world)) yield* findNeedless(state, current.process.state);
    }
    if (isHonest(this.#world)) for (const site of clusters) yield* compareManager(site);
  }

  /** Each replica of the broker's is at its machine, and machines hold no others. */
  *#compareAgents(state: BrokerState): Iterable<string> {
    const held = new Set<number>();
    for (const { state: agent } of this.#world.agents()) {
      for (const replicaId of agent.endedIds) held.add(replicaId);
      for (const [replicaId, { status }] of agent.replicas) {
        held.add(replicaId);
        // One that was on its way while another agent took its machine's place waits unwanted; it is cancelled as soon
        // as it starts.
        if (status === 'dispatched' && !state.replicas.has(replicaId)) continue;
        const replica = state.replicas.get(replicaId);
        if (replica === undefined || replica.status === 'aborting')
          yield `a machine holds r${replicaId}, which nobody wants`;
      }
    }
    for (const { replicaId, machine } of state.replicas.values()) {
      if (!held.has(replicaId))
        yield `the broker thinks that ${machine.facts.machineId} has r${replicaId}, which no machine has`;
    }
  }
}

/** Whether nothing has gone wrong for a while, nor is going to. */
function isQuiet({ isStormy, scenario }: World): boolean {
  const { faults, labs, choreFailureProbability = 0, stuckTaskProbability = 0, lease } = scenario;
  return (
    !isStormy ||
    (!hasSleeps(lease) &&
      JSON.stringify(faults) === JSON.stringify(calmFaults) &&
      choreFailureProbability === 0 &&
      stuckTaskProbability === 0 &&
      labs.every(staysUp))
  );
}

/** Whether managers do what they say, and calls to them arrive. */
function isHonest({ isStormy, scenario: { clusters, network } }: World): boolean {
  return (
    !isStormy ||
    (network.lossProbability === 0 &&
      clusters.every(({ faults }) => JSON.stringify(faults) === JSON.stringify(honestManager)))
  );
}

/** They leave slow machines idle while a faster one is expected to be free soon. */
const byEstimates: ReadonlySet<SchedulerName> = new Set(['min-min', 'sufferage', 'plan']);

/** A job inside a reservation waits for its machines, which are for no other job. */
function isForJob({ reservation, reservationOver }: BrokerJob, { reservation: place }: MachineFacts): boolean {
  const own = reservationOver === undefined ? reservation : undefined;
  return own === undefined || place === undefined ? own === place : isOfReservation(own, place);
}

/** Ready tasks do not wait while machines are idle. */
function* findIdle(state: BrokerState, now: Instant): Iterable<string> {
  const waiting = [...state.openJobs.values()].flatMap(({ queues }) =>
    queues.filter(({ readyCount, scheduler }) => readyCount > 0 && !byEstimates.has(scheduler)),
  );
  if (waiting.length === 0) return;
  for (const machine of state.machines.values()) {
    if (
      isQuarantined(state, machine) ||
      machine.provider.draining !== undefined ||
      findDrain(state, machine) !== undefined ||
      !isIdle(machine, now)
    )
      continue;
    // Excluded: tasks outside its reservation, tasks assigned elsewhere, tasks that need what it lacks, and tasks for
    // which its time is too short while another machine's is not.
    const suited = waiting.filter(
      (queue) =>
        isForJob(queue.job, machine.facts) &&
        mayUse(queue, machine.provider) &&
        (queue.resources === undefined || machine.resources.fits(queue.resources)) &&
        !keepsAway({ state, now }, queue, machine),
    );
    if (suited.length === 0 || isKeptForGang(machine, suited, now) || isKeptForPlan(state, machine, suited, now))
      continue;
    yield `${machine.facts.machineId} has nothing to do while tasks wait`;
  }
}

function isIdle(
  { facts: { until = Infinity }, isAnnounced, heldProcessors, quarantinedUntil }: BrokerMachine,
  now: Instant,
): boolean {
  return isAnnounced && heldProcessors === 0 && quarantinedUntil <= now && until > now;
}

/**
 * Whether it may be idle for the sake of a gang that is gathered at its provider and lacks processors there, or waits
 * for nothing but gangs that its provider is too small for, or that pause.
 */
function isKeptForGang({ provider: { machines } }: BrokerMachine, suited: readonly TaskQueue[], now: Instant): boolean {
  const gangs = suited.filter(({ job }) => job.isGang);
  if (gangs.length === 0) return false;
  const [all, free] = [...machines.values()].reduce(
    ([sum, left], machine) => [sum + machine.processors, left + freeProcessors(machine)],
    [0, 0],
  );
  if (gangs.some(({ processors }) => processors <= all && processors > free)) return true;
  return (
    gangs.length === suited.length &&
    gangs.every(({ processors, job }) => processors > all || job.gangsPausedUntil > now)
  );
}

/**
 * Whether a plan has the machine next for a task of a job that comes before all that wait, and that is not late: it
 * waits for what another task writes. How long those that wait would take is not known, so nothing shows that they
 * would be over before it begins.
 */
function isKeptForPlan(
  { planning: { plan } }: BrokerState,
  machine: BrokerMachine,
  suited: readonly TaskQueue[],
  now: Instant,
): boolean {
  const first = Math.min(...suited.map(({ job }) => job.jobId));
  const lane = plan?.lanes.get(machine) ?? [];
  return lane.some(
    (planned) =>
      planned.queue.job.jobId < first &&
      plan?.tasks.get(planned.queue.job)?.get(planned.index) === planned &&
      now <= planned.end,
  );
}

function* compareRequests({ requests }: BrokerState, provider: ProviderState): Iterable<string> {
  for (const { requestId, status, brokerId } of provider.requests.values()) {
    // A pre-acquired allocation belongs to no broker until it is given to one.
    if (brokerId === '') continue;
    const known = requests.get(`${provider.config.providerId}/${requestId}`)?.status;
    if (known !== status)
      yield `the broker thinks that ${requestId} of ${provider.config.providerId} is ${known ?? 'not there'} and it ` +
        `is ${status}`;
  }
}

/** Allocations without demand are given back; a pre-acquired one is needed as long as its reservation stands. */
function* findNeedless(
  { openJobs }: BrokerState,
  { config: { providerId }, requests, windows }: ProviderState,
): Iterable<string> {
  if (openJobs.size > 0) return;
  for (const { requestId, endedAt, heldFor } of requests.values()) {
    if (endedAt === 0 && !windows.has(heldFor?.reservationId ?? 0))
      yield `${requestId} of ${providerId} is kept while there is no job`;
  }
}

/**
 * A provider that pre-acquires for reservations knows the present ones.
 *
 * It uses its own clock, as `HeldCheck` allows: a fast one has forgotten those that end within the skew.
 */
function* compareWindows(
  { state, now }: { readonly state: ProviderState; readonly now: Instant },
  reservations: World['reservations'],
): Iterable<string> {
  const {
    config: { providerId, holding },
    windows,
  } = state;
  if (holding === undefined || reservations.isAway) return;
  for (const window of reservations.getWindows(providerId)) {
    if (now < window.endsAt && !isSameWindow(windows.get(window.reservationId), window))
      yield `${providerId} does not know where reservation ${window.reservationId} is`;
  }
}

const over: ReadonlySet<string> = new Set(['ended', 'rejected', 'vanished']);

/** What a provider believes to be pending is what its manager has. */
function* compareManager({ cluster, provider }: ClusterSite): Iterable<string> {
  const manager = cluster.current?.process.state;
  const state = provider.current?.process.state;
  if (manager === undefined || state === undefined) return;
  const living = listLiving(manager);
  for (const { requestId, status } of state.requests.values()) {
    const there = living.get(requestId) ?? 'over';
    living.delete(requestId);
    const believed = over.has(status) ? 'over' : status;
    if (believed !== there)
      yield `${provider.name} thinks that ${requestId} is ${status}, and for its manager it is ${there}`;
  }
  for (const requestId of living.keys()) yield `${cluster.name} has ${requestId}, of which its provider knows nothing`;
}

/** Our requests that a manager has, by our own names. */
function listLiving(manager: ClusterState): Map<string, string> {
  const living = new Map<string, string>();
  for (const {
    status,
    order: { userId, clientRequestId },
  } of manager.requests.values()) {
    if (userId !== 'user' || status === 'ended') continue;
    living.set(clientRequestId.slice(clientRequestId.indexOf('.') + 1), status === 'ending' ? 'running' : status);
  }
  return living;
}
