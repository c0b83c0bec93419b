import { moveInstants, movedBy, type Duration } from '../../shared/index.ts';
import type { GetInput } from './inputs.ts';
import type { BrokerProvider, BrokerState } from './state.ts';
import { commit, type Turn } from './turn.ts';

const seenOfProvider = [
  'leaseSeenAt',
  'awaySince',
  'listeningUntil',
  'resourceAwaitedUntil',
  'demandAt',
  'shareSince',
] as const satisfies readonly (keyof BrokerProvider)[];

/**
 * The clock was set: graces, pauses and ages last as long as they were meant to. Deadlines and reservations are at the
 * times that people meant.
 */
export function followClock(turn: Turn, { by }: GetInput<'ClockStepped'>): void {
  const { state } = turn;
  commit(turn, { kind: 'ClockStepped', by, at: turn.now });
  for (const provider of state.providers.values()) moveProvider(provider, by);
  for (const machine of state.machines.values()) moveInstants(machine, ['quarantinedUntil'], by);
  for (const job of state.openJobs.values()) moveInstants(job, ['gangsPausedUntil'], by);
  for (const [replicaId, due] of state.awaitedEnds) state.awaitedEnds.set(replicaId, movedBy(due, by));
  for (const [key, at] of state.requestsSeen) state.requestsSeen.set(key, movedBy(at, by));
  moveInstants(state, ['demandsAt', 'demandsDue'], by);
  state.choosing.looks = new WeakMap();
  forgetPlan(state);
  // The alarm was set by the clock as it was.
  state.wakeAt = Infinity;
}

function moveProvider(provider: BrokerProvider, by: Duration): void {
  moveInstants(provider, seenOfProvider, by);
  // Its own clock stays where it is; should it be the same as ours, its next greeting says so.
  provider.clockOffset -= by;
  if (provider.resource !== undefined)
    provider.resource = { ...provider.resource, receivedAt: movedBy(provider.resource.receivedAt, by) };
  if (provider.draining !== undefined)
    provider.draining = { ...provider.draining, since: movedBy(provider.draining.since, by) };
}

/** A plan is full of instants, and is made again in the same step. */
function forgetPlan({ planning }: BrokerState): void {
  planning.plan = undefined;
  planning.staleBecause = { code: 'plan-clock-set' };
  planning.foreseen.clear();
  planning.lateAt = Infinity;
}
