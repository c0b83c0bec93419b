import type { ReplicaStart, StartReplicas } from '../../messages/index.ts';
import { FreeResources } from '../../resources/index.ts';
import { neverRan, noResult, success, reportEnd } from './end-replica.ts';
import { getHeldResources } from './runners.ts';
import type { AgentState, HeldReplica, Verdict } from './state.ts';
import type { Turn } from './turn.ts';

const draining: Verdict = {
  outcome: 'broken',
  reason: 'MUT_DRAINING',
  detail: { code: 'agent-takes-no-replicas' },
};

/**
 * Queues a batch. Skips replicas that the agent holds already, or whose end is not acknowledged yet: they were sent
 * again.
 */
export function dispatchReplicas(turn: Turn, batch: StartReplicas): void {
  const { state } = turn;
  const { template } = batch;
  const refusal = findRefusal(state, batch);
  for (const start of batch.replicas) {
    if (state.replicas.has(start.replicaId) || state.endedIds.has(start.replicaId)) continue;
    if (refusal !== undefined) reportEnd(turn, start.replicaId, refusal, neverRan);
    else if (template.noOp && canAnswerAtOnce(state)) answerNoOp(turn, start);
    else queueReplica(state, batch, start);
  }
}

/** Ends a replica that has nothing to do. */
export function answerNoOp(turn: Turn, start: ReplicaStart): void {
  reportEnd(turn, start.replicaId, success, { startedAt: turn.now, result: noResult, outputs: neverRan.outputs });
}

/** Whether room is left for more ends that wait for their acknowledgement. */
export function hasReportRoom(state: AgentState): boolean {
  return (
    state.endedIds.size < state.options.unacknowledgedMax && state.endedBytes < state.options.unacknowledgedBytesMax
  );
}

function canAnswerAtOnce(state: AgentState): boolean {
  return state.queue.length === 0 && state.freeSlots.length > 0 && hasReportRoom(state);
}

function findRefusal(state: AgentState, { template }: StartReplicas): Verdict | undefined {
  if (state.isDraining) return draining;
  if (template.processors < 1 || template.processors > state.options.processors) {
    return {
      outcome: 'broken',
      reason: 'MUT_PROCESSORS_MAX',
      detail: {
        code: 'agent-processors-exceeded',
        requestedProcessors: template.processors,
        processors: state.options.processors,
      },
    };
  }
  const resources = getHeldResources(state, template);
  if (resources === undefined || state.freeResources.fits(resources)) return undefined;
  const shortage = new FreeResources(state.options.capacity).findShortage(resources);
  if (shortage === undefined) return undefined;
  return {
    outcome: 'broken',
    reason: 'MUT_RESOURCES_MAX',
    detail: {
      code: 'agent-resource-exceeded',
      resource: shortage.kind,
      resourceName: shortage.name,
      requestedAmount: shortage.needed,
      totalAmount: shortage.total,
    },
  };
}

function queueReplica(state: AgentState, { template }: StartReplicas, start: ReplicaStart): void {
  const needsContents = !template.noOp && start.inputs.length > 0;
  const replica: HeldReplica = {
    template,
    start,
    status: 'dispatched',
    isAsked: !needsContents,
    missingCount: 0,
    slots: [],
    assignment: undefined,
    runner: undefined,
    members: [],
    startedAt: 0,
    inputsAskedAt: 0,
    inputsHereAt: 0,
    inputsPlacingAt: 0,
    processEndedAt: 0,
    commandEndedAt: 0,
    verdict: undefined,
    deadline: undefined,
    result: undefined,
  };
  if (needsContents) state.unaskedCount++;
  state.replicas.set(start.replicaId, replica);
  state.queue.push(replica);
}
