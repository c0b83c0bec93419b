import type { GivenUpRequest } from '../../requests/index.ts';
import type { RequestId } from '../../shared/index.ts';
import type { ResourceLimits } from '../../messages/index.ts';
import { budgetLeft } from './asked-lately.ts';
import { getRequests } from './brokers.ts';
import { isServing, type KnownBroker, type OwnRequest } from './state.ts';
import { releaseRequest } from './submission.ts';
import type { Turn } from './turn.ts';

/**
 * Gives back what a heuristic no longer needs, except the one that is wide enough for a waiting gang; answers which.
 */
export function giveUp(turn: Turn, broker: KnownBroker, unwanted: readonly GivenUpRequest[]): ReadonlySet<RequestId> {
  const givenUp = new Set<RequestId>();
  const kept = keptForGang(turn, broker);
  for (const { requestId, reasons } of unwanted) {
    const request = turn.state.requests.get(requestId);
    if (request === undefined || request === kept || !canBeGivenUp(request)) continue;
    releaseRequest(turn, request, reasons, { isGivenUp: true });
    givenUp.add(requestId);
  }
  return givenUp;
}

/** Withdraws waiting requests that exceed the present limits of the resource: they might never start. */
export function withdrawUnfit(turn: Turn, broker: KnownBroker, { widthMax, walltimeMax }: ResourceLimits): void {
  for (const request of getRequests(turn.state, broker.brokerId)) {
    const { width, walltime, status } = request;
    if (status !== 'queued' || !isServing(request) || (width <= widthMax && walltime <= walltimeMax)) continue;
    if (turn.state.listingFailure !== '' || budgetLeft(turn.state, turn.now).withdrawals === 0) return;
    releaseRequest(
      turn,
      request,
      {
        code: 'withdrawn-over-limits',
        processors: width,
        walltimeMs: walltime,
        requestProcessorsMax: widthMax,
        walltimeMsMax: walltimeMax,
      },
      { isGivenUp: true },
    );
  }
}

/** A request that is being submitted has no id for its withdrawal yet. */
function canBeGivenUp(request: OwnRequest): boolean {
  return isServing(request) && (request.status === 'queued' || request.status === 'running');
}

/**
 * The one request that a gang which has no place yet would fit into at once: a heuristic that knows of no gangs would
 * give it up, and it would be asked for again.
 */
function keptForGang({ state }: Turn, { brokerId, demand }: KnownBroker): OwnRequest | undefined {
  const gang = demand?.gangProcessors ?? 0;
  if (gang === 0) return undefined;
  const wide = getRequests(state, brokerId).filter((request) => isServing(request) && request.width >= gang);
  return wide.length === 1 ? wide[0] : undefined;
}
