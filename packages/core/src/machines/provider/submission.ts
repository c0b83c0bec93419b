import type { Reason } from '../../reasons/index.ts';
import type { RequestId } from '../../shared/index.ts';
import type { ProviderInput } from './inputs.ts';
import { noteCutOff } from './cut-off.ts';
import { getLoseMachines } from './machines.ts';
import { endRequest, noteQueued } from './queue.ts';
import { getOverCode } from './reserved-end.ts';
import { isPending, type OwnRequest } from './state.ts';
import { commit, type Turn } from './turn.ts';

/** The manager took a request. */
export function acceptSubmission(turn: Turn, requestId: RequestId, managerRequestId: string): void {
  const request = turn.state.requests.get(requestId);
  if (request !== undefined && isPending(request)) noteQueued(turn, request, managerRequestId);
}

/** The manager refused a request. */
export function refuseSubmission(
  turn: Turn,
  { requestId, reason, isPassing, code = '' }: Extract<ProviderInput, { readonly kind: 'SubmitRefused' }>,
): void {
  const request = turn.state.requests.get(requestId);
  if (request?.status !== 'submitting') return;
  endRequest(turn, request, {
    status: 'rejected',
    reason: { code: 'refused-by-manager', cause: reason },
    endedAt: turn.now,
    ...(isPassing === true ? { isPassing } : getOverCode(request, code)),
  });
}

/** Whether the manager has the request is unknown: its slot stays taken until listings show it. */
export function doubtSubmission(turn: Turn, requestId: RequestId): void {
  const request = turn.state.requests.get(requestId);
  if (request?.status === 'submitting') request.unknownSince = turn.now;
}

/** How a request is given back. */
interface ReleaseTerms {
  /** A heuristic gave it up, which counts among the withdrawals of the hour. */
  readonly isGivenUp?: boolean;
  /** It ran and completed no task. */
  readonly isUnused?: boolean;
  /** The reason that the broker gets for the loss of its machines; left out, that their allocation was released. */
  readonly code?: string;
}

/**
 * Gives a request back: its machines are lost at once, and the manager is asked to take it out. @param reasons one, or
 * several with the deciding one first.
 */
export function releaseRequest(
  turn: Turn,
  request: OwnRequest,
  reasons: Reason | readonly Reason[],
  { isGivenUp = false, isUnused = false, code = 'MUT_ALLOCATION_ENDED' }: ReleaseTerms = {},
): void {
  noteCutOff(turn, request);
  commit(turn, {
    kind: 'RequestReleasing',
    requestId: request.requestId,
    reasons: 'code' in reasons ? [reasons] : reasons,
    at: turn.now,
    ...(isGivenUp ? { isGivenUp } : {}),
    ...(isUnused ? { isUnused } : {}),
  });
  getLoseMachines(turn, request, code, 'MUT_ALLOCATION_ENDED');
}

/** Asks the manager for the releases that are due: the new ones, and again those that failed. */
export function askReleases(turn: Turn): void {
  const { state, now } = turn;
  for (const request of state.requests.values()) {
    if (!isReleaseDue(request) || now < nextRelease(turn, request)) continue;
    request.releaseAskedAt = now;
    turn.commands.push({
      kind: 'ReleaseRequest',
      requestId: request.requestId,
      managerRequestId: request.managerRequestId,
    });
  }
}

/** Whether the manager is still to take a request out. */
export function isReleaseDue(request: OwnRequest): boolean {
  return (
    request.releaseReason !== undefined &&
    request.managerRequestId !== '' &&
    (request.status === 'queued' || request.status === 'running')
  );
}

/** When a release is asked for next; 0 for one that never was. */
export function nextRelease(turn: Turn, request: OwnRequest): number {
  return request.releaseAskedAt === 0 ? 0 : request.releaseAskedAt + turn.state.config.releaseRetry;
}

/** The manager took a request out. */
export function finishRelease(turn: Turn, requestId: RequestId): void {
  const request = turn.state.requests.get(requestId);
  if (request === undefined || request.releaseReason === undefined || !isReleaseDue(request)) return;
  endRequest(turn, request, { status: 'ended', reason: { code: 'withdrawn-by-manager' }, endedAt: turn.now });
}
