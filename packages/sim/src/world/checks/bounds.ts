import { invariant } from '@mutirao/core/shared';
import type { AgentProcess } from '../agent-process.ts';
import { hasSleeps } from '../scenario.ts';
import type { ClusterSite, World } from '../world.ts';
import type { WorldCheck } from './check.ts';

/** More inputs than ever wait for one turn; when home wakes, all comes at once that was kept for it. */
const inboxMax = 500;
const wakingInboxMax = 20_000;

/** No limit is exceeded: no request is beyond the limits of its cluster, and no queue grows without a bound. */
export class BoundsCheck implements WorldCheck {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  look(): void {
    for (const site of this.#world.clusters) checkCluster(site);
    const waitingMax = hasSleeps(this.#world.scenario.lease) ? wakingInboxMax : inboxMax;
    for (const { process } of this.#world.processes())
      invariant(process.waitingCount <= waitingMax, `${process.waitingCount} inputs wait for one turn`);
    for (const agent of this.#world.agents()) checkAgent(agent);
    for (const { provider } of [...this.#world.clusters, ...this.#world.labs]) {
      const state = provider.current?.process.state;
      if (state === undefined) continue;
      const ended = [...state.requests.values()].filter(({ endedAt }) => endedAt > 0).length;
      invariant(ended <= state.config.endedRequestsMax, `${provider.name} remembers ${ended} requests that ended`);
    }
  }
}

/** As its user sees it: the manager's own limits, which its machine might get wrong. */
function checkCluster({ plan, cluster }: ClusterSite): void {
  const state = cluster.current?.process.state;
  if (state === undefined) return;
  const [counts, keys] = [new Map<string, number>(), new Set<string>()];
  for (const {
    id,
    order: { userId, clientRequestId, width, walltime, reservationId },
    status,
  } of state.requests.values()) {
    if (status === 'ended') continue;
    const count = (counts.get(userId) ?? 0) + 1;
    counts.set(userId, count);
    invariant(
      count <= plan.requestsMax,
      `${cluster.name} has ${count} requests of ${userId}, who may have ${plan.requestsMax}`,
    );
    invariant(
      width <= plan.widthMax && walltime <= plan.walltimeMax,
      `request ${id} of ${cluster.name} is of ${width} processors and ${walltime} ms, beyond its limits`,
    );
    // Inside a reservation its own time is the limit, to the millisecond.
    invariant(
      reservationId !== undefined || walltime % state.options.walltimeGranularity === 0,
      `request ${id} of ${cluster.name} has a walltime of ${walltime} ms`,
    );
    invariant(clientRequestId === '' || !keys.has(clientRequestId), `${cluster.name} has ${clientRequestId} twice`);
    keys.add(clientRequestId);
  }
}

function checkAgent({ state }: AgentProcess): void {
  const { options, endedIds, replicas, unreportedStarts } = state;
  invariant(
    unreportedStarts.length <= options.processors + endedIds.size + options.unacknowledgedMax,
    `an agent has ${unreportedStarts.length} unreported starts`,
  );
  for (const {
    start: { replicaId },
    status,
    verdict,
    deadline,
  } of replicas.values()) {
    invariant(
      status !== 'running' || verdict === undefined || deadline !== undefined,
      `r${replicaId} must end, and nothing will end it`,
    );
  }
  const running = [...replicas.values()].filter(({ status }) => status === 'running' || status === 'ending').length;
  invariant(running <= options.processors, `an agent of ${options.processors} processors runs ${running} replicas`);
}
