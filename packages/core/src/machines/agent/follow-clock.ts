import { moveInstants, movedBy, type Duration } from '../../shared/index.ts';
import type { AgentState, HeldReplica } from './state.ts';

const instantsOfReplica = [
  'startedAt',
  'inputsAskedAt',
  'inputsHereAt',
  'inputsPlacingAt',
  'processEndedAt',
  'commandEndedAt',
  'deadline',
] as const satisfies readonly (keyof HeldReplica)[];

/**
 * The clock was set: run times, their limits and pauses last as long as they were meant to. All instants of an agent
 * are its own.
 */
export function followClock(state: AgentState, by: Duration): void {
  for (const replica of [
    ...state.replicas.values(),
    ...state.unreportedStarts.filter(({ start }) => !state.replicas.has(start.replicaId)),
  ])
    moveInstants(replica, instantsOfReplica, by);
  state.unsureEnds = state.unsureEnds.map(({ end, sureAt }) => ({ end, sureAt: movedBy(sureAt, by) }));
  for (const runner of state.runners)
    if (runner.idleSince !== undefined) runner.idleSince = movedBy(runner.idleSince, by);
  moveInstants(state, ['earliestSure', 'reportedAt', 'earliestDeadline'], by);
  // The alarm was set by the clock as it was.
  state.wakeAt = undefined;
}
