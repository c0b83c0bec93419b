import type { ClusterServiceService } from '@mutirao/api/cluster';
import {
  decodeAllocateRequest,
  decodeGetQueueRequest,
  decodeGetScoresRequest,
  decodeReleaseRequest,
  encodeAllocateResponse,
  encodeLimitsOf,
  encodeQueueListing,
  encodeScores,
  type AllocateAnswer,
  type ScoresAnswer,
} from '@mutirao/api/codecs';
import type { ClusterInput, ListedNode } from '@mutirao/core/machines/cluster';
import { MutiraoError } from '@mutirao/api/errors';
import type { QueueListing, RequestOrder, ReservedWindow, ResourceLimits } from '@mutirao/core/messages';
import type { UserId } from '@mutirao/core/shared';
import { unary, type Handlers } from '@mutirao/runtime/rpc';
import type { ChangeSignal } from '@mutirao/runtime/driver';

/** What the routes need of the process. */
export interface ClusterHost {
  /** The reservation that a claim is good for. @throws {MutiraoError} why it is not. */
  admitClaim(claim: string, userId: UserId): Promise<ReservedWindow>;
  /** Has the machine know of a reservation whose claim is good. */
  show(window: ReservedWindow): void;
  /** Resolves to the machine's reply, after it is in the journal. */
  ask<T>(make: (replyTo: number) => ClusterInput): Promise<T>;
  /** @throws {MutiraoError} MUT_DISK_FULL where no new request can be taken. */
  requireDiskSpace(): void;
  /** @param userId the user whose requests the ranking describes. */
  listQueue(endedMax: number, userId: UserId): QueueListing;
  /** None of a cluster that gives processors and nothing else. */
  listNodes(): readonly ListedNode[];
  /** Of all users with a request that has counted, or of one. */
  listScores(userId: UserId | undefined): ScoresAnswer;
  readonly limits: ResourceLimits;
  /** Who may act for others. */
  readonly ownerId: UserId;
  /** Whose request it is; undefined for one that nobody remembers. */
  getUser(requestId: number): UserId | undefined;
  /** Notified after each turn that changed something. */
  readonly changes: ChangeSignal;
}

/** Ended requests that a watcher sees, so that it does not miss an end. */
const watchedEndedMax = 100;

/** @throws {MutiraoError} MUT_NOT_OWNER unless a user acts for herself, or the cluster's owner for anybody. */
function requireSelf({ ownerId }: ClusterHost, userId: UserId, other: UserId): void {
  if (userId !== other && userId !== ownerId)
    throw new MutiraoError('MUT_NOT_OWNER', `the request is ${other}'s; you are ${userId}`);
}

function allocate(host: ClusterHost, order: RequestOrder): Promise<AllocateAnswer> {
  return host.ask((replyTo) => ({ kind: 'AllocationRequested', replyTo, order }));
}

/** The cluster may receive the claim of a reservation before the manager reports the reservation. */
async function allocateInside(host: ClusterHost, order: RequestOrder, claim: string): Promise<AllocateAnswer> {
  const window = await host.admitClaim(claim, order.userId);
  host.show(window);
  return allocate(host, { ...order, reservationId: window.reservationId });
}

/** ClusterService over one cluster. */
export function clusterRoutes(host: ClusterHost): Handlers<typeof ClusterServiceService> {
  return {
    allocate: unary({
      decode: (wire) => ({ order: decodeAllocateRequest(wire), claim: wire.reservationClaim }),
      handle: ({ order: asked, claim }, { userId }) => {
        host.requireDiskSpace();
        if (asked.userId !== '') requireSelf(host, userId, asked.userId);
        const order = asked.userId === '' ? { ...asked, userId } : asked;
        return claim === '' ? allocate(host, order) : allocateInside(host, order, claim);
      },
      encode: encodeAllocateResponse,
    }),
    release: unary({
      decode: decodeReleaseRequest,
      handle: (requestId, { userId }) => {
        requireSelf(host, userId, host.getUser(requestId) ?? userId);
        return host.ask<object>((replyTo) => ({ kind: 'ReleaseRequested', replyTo, requestId }));
      },
      encode: () => ({}),
    }),
    getLimits: unary({ decode: () => undefined, handle: () => host.limits, encode: encodeLimitsOf }),
    getQueue: unary({
      decode: decodeGetQueueRequest,
      handle: ({ endedMax, userId: asked }, { userId }) => host.listQueue(endedMax, asked === '' ? userId : asked),
      encode: (listing) => encodeQueueListing(listing, host.listNodes()),
    }),
    getScores: unary({
      decode: decodeGetScoresRequest,
      handle: (userId) => host.listScores(userId),
      encode: encodeScores,
    }),
    watchQueue: async (_request, writer, context) => {
      const over = AbortSignal.any([context.signal, context.stopping]);
      while (!over.aborted) {
        const seen = host.changes.count;
        writer.write({ queue: encodeQueueListing(host.listQueue(watchedEndedMax, context.userId), host.listNodes()) });
        await writer.drained(); // A slow reader misses levels, but not the last one.
        await host.changes.changed(seen, over);
      }
    },
  };
}
