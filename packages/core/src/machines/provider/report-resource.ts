import type { QueueListing, QueueStatus, QueuedRequest, ResourceStatus } from '../../messages/index.ts';
import { keyOfNodes, type NodeShape } from '../../resources/index.ts';
import { QueueModel } from '../../site-selection/index.ts';
import type { Duration, Instant, ProcessorCount, ProcessorMillis } from '../../shared/index.ts';
import { takesNoWork } from './draining.ts';
import { listingWithOwn } from './listing-with-own.ts';
import { getClientRequestId, type KnownBroker, type OwnRequest, type ProviderState } from './state.ts';
import type { Turn } from './turn.ts';

/** Least time between two tellings of a queue that changes. */
const changedEvery: Duration = 1_000;

/** A queue without changes is reported again after this time, so that the broker knows it to be fresh. */
const unchangedEvery: Duration = 30_000;

/**
 * Reports to each broker that asked for it what the resource is and the state of its queue: when that changed, and
 * after a while when it was read again and did not.
 *
 * Cost: nothing in a step without news of it; else O(queue) for each broker, and for a report the cost of a tentative
 * schedule.
 */
export function reportResource(turn: Turn): void {
  const { state, now, commands } = turn;
  for (const broker of state.brokers.values()) {
    if (broker.connectionId === 0 || !broker.takesResource || !mayBeNews(turn, broker)) continue;
    const sign = findSign(state, now);
    broker.resourceDue = dueAt(turn, broker, sign);
    if (broker.resourceDue > now) continue;
    broker.resourceDue = Infinity;
    broker.resourceReported = { at: now, sign };
    commands.push({ kind: 'ReportResource', brokerId: broker.brokerId, resourceStatus: statusFor(state, broker, now) });
  }
}

function mayBeNews(
  { state, now, hasListing, changedRequestIds }: Turn,
  { resourceReported, resourceDue }: KnownBroker,
): boolean {
  if (resourceReported === undefined || resourceDue <= now || hasListing === true || changedRequestIds.size > 0)
    return true;
  return !resourceReported.sign.startsWith(findHead(state));
}

/** When its next report is due; Infinity if only an input makes it due. */
function dueAt({ now, hasListing }: Turn, { resourceReported }: KnownBroker, sign: string): Instant {
  // A broker whose last report is in the future of our clock, which was set back, gets one at once.
  if (resourceReported === undefined || resourceReported.at > now) return now;
  if (sign !== resourceReported.sign) return resourceReported.at + changedEvery;
  return hasListing === true && now >= resourceReported.at + unchangedEvery ? now : Infinity;
}

function findHead(state: ProviderState): string {
  const { listingFailure, limits } = state;
  return `${takesNoWork(state)} ${listingFailure} ${limits?.processors ?? 0} ${limits?.widthMax ?? 0}${keyOfNodes(limits?.nodes)};`;
}

function findSign(state: ProviderState, now: Instant): string {
  const listing = state.listing === undefined ? [] : unended(listingWithOwn(state, state.listing, now));
  return (
    findHead(state) +
    listing
      .map(({ managerRequestId, clientRequestId, status }) => `${managerRequestId || clientRequestId} ${status}`)
      .join(',')
  );
}

function unended({ requests }: QueueListing): QueuedRequest[] {
  return requests.filter(({ status }) => status !== 'ended');
}

function statusFor(state: ProviderState, broker: KnownBroker, now: Instant): ResourceStatus {
  const { limits, listing, config } = state;
  const isTimeShared = config.resourceKind === 'machines';
  const { processors, widthMax } = limits ?? { processors: 0, widthMax: 0 };
  const facts = {
    processors,
    widthMax: Math.min(widthMax, processors),
    isTimeShared,
    isDraining: takesNoWork(state),
    ...(limits === undefined || isTimeShared ? {} : { walltimeMax: limits.walltimeMax }),
    ...(limits?.nodes === undefined || isTimeShared ? {} : { nodes: nodesOfRequest(limits.nodes, widthMax) }),
  };
  if (isTimeShared || listing === undefined || processors === 0) return facts;
  return { ...facts, queue: queueFor(state, broker, { now, listing, processors }) };
}

/** Nodes with what one request may have of each, so that brokers put no more tasks together than it could run. */
function nodesOfRequest(nodes: readonly NodeShape[], widthMax: ProcessorCount): readonly NodeShape[] {
  return nodes.map((node) => ({ ...node, processors: Math.min(node.processors, Math.max(1, widthMax)) }));
}

interface Reading {
  readonly now: Instant;
  readonly listing: QueueListing;
  readonly processors: ProcessorCount;
}

function queueFor(state: ProviderState, { brokerId }: KnownBroker, { now, listing, processors }: Reading): QueueStatus {
  const own = new Map(
    [...state.requests.values()]
      .filter((request) => request.brokerId === brokerId)
      .map((request) => [getClientRequestId(state, request.requestId), request]),
  );
  const book = new QueueModel(processors);
  const entries = unended(listingWithOwn(state, listing, now));
  let ownWork = 0;
  // Running requests are put in first, whatever the order of the listing: the schedule of the rest begins behind them,
  // in the order of the queue.
  for (const [id, entry] of [...entries.entries()].sort(
    ([, one], [, other]) =>
      Number(other.status === 'running') - Number(one.status === 'running') ||
      (one.rankedAt ?? 0) - (other.rankedAt ?? 0),
  )) {
    const width = Math.min(entry.width, processors);
    book.add(id, { width, walltime: entry.walltime, submittedAt: Math.min(0, entry.submittedAt - now) }, 0);
    if (entry.status === 'running') book.start(id, entry.startsAt - now);
    ownWork += workLeft(own.get(entry.clientRequestId), entry, now);
  }
  return { age: Math.max(0, now - listing.at), trouble: state.listingFailure, known: book.summarize(0), ownWork };
}

function workLeft(
  request: OwnRequest | undefined,
  { width, walltime, status, startsAt }: QueuedRequest,
  now: Instant,
): ProcessorMillis {
  if (request === undefined || request.reservation !== undefined) return 0;
  return width * (status === 'running' ? Math.max(0, startsAt + walltime - now) : walltime);
}
