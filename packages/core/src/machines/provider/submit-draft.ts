import type { ResourceLimits } from '../../messages/index.ts';
import type { DraftedRequest, RequestCandidate } from '../../requests/index.ts';
import type { Slot } from '../../resources/index.ts';
import { decidingHeuristic } from './heuristic.ts';
import { inWholeSlots } from './slots.ts';
import { getClientRequestId, type KnownBroker } from './state.ts';
import { commit, type Turn } from './turn.ts';

/** The parts of a draft, and the choice that it came from. */
interface Terms {
  /** Undefined for single processors. */
  readonly slot: Slot | undefined;
  /** Undefined where the heuristic compares nothing. */
  readonly candidates: readonly RequestCandidate[] | undefined;
}

/** Submits what the heuristic that decides now drafted for a broker. */
export function submitDraft(turn: Turn, broker: KnownBroker, draft: DraftedRequest, { slot, candidates }: Terms): void {
  const { state, now } = turn;
  const { userId } = state.config;
  const { name: heuristic } = decidingHeuristic(state);
  const { walltime } = draft;
  const { width, reasons } =
    slot === undefined || state.limits === undefined
      ? inWholeNodes(draft, state.limits)
      : inWholeSlots(draft, slot, state.limits);
  const shape = slot === undefined ? {} : { slot };
  const requestId = `q${state.nextRequestNumber}`;
  const compared = candidates === undefined ? {} : { candidates };
  commit(turn, {
    kind: 'RequestDrafted',
    requestId,
    brokerId: broker.brokerId,
    userId,
    width,
    walltime,
    heuristic,
    reasons,
    at: now,
    ...shape,
    ...compared,
  });
  commit(turn, { kind: 'RequestSubmitting', requestId, at: now });
  turn.commands.push({
    kind: 'SubmitRequest',
    requestId,
    clientRequestId: getClientRequestId(state, requestId),
    userId,
    width,
    walltime,
    ...shape,
  });
}

/**
 * If the manager gives whole nodes, all processors of the nodes that a request takes are requested: they are paid for
 * anyway.
 */
function inWholeNodes(
  { width, reasons }: DraftedRequest,
  limits: ResourceLimits | undefined,
): Pick<DraftedRequest, 'width' | 'reasons'> {
  const node = limits?.widthGranularity ?? 1;
  const whole = Math.min(Math.ceil(width / node) * node, limits?.widthMax ?? width);
  if (whole <= width) return { width, reasons };
  return {
    width: whole,
    reasons: [
      ...reasons,
      { code: 'widened-to-nodes', processorsBefore: width, processors: whole, nodeProcessors: node },
    ],
  };
}
