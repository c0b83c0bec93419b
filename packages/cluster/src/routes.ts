import type { ClusterServiceService } from '@mutirao/api/cluster';
import {
  decodeAllocateRequest, decodeGetQueueRequest, decodeReleaseRequest, encodeLimitsOf, encodeQueueListing,
} from '@mutirao/api/codecs';
import type { ClusterInput } from '@mutirao/core/machines/cluster';
import { MutiraoError } from '@mutirao/api/errors';
import type { QueueListing, ResourceLimits } from '@mutirao/core/messages';
import type { UserId } from '@mutirao/core/shared';
import { unary, type Handlers } from '@mutirao/runtime/rpc';
import type { ChangeSignal } from '@mutirao/runtime/driver';

/** What the routes need of the process. */
export interface ClusterHost {
  /** Resolves to the machine's reply, after it is in the journal. */
  ask<T>(make: (replyTo: number) => ClusterInput): Promise<T>;
  /** @throws {MutiraoError} MUT_DISK_FULL where no new request can be taken. */
  demandRoom(): void;
  listQueue(endedMax: number): QueueListing;
  readonly limits: ResourceLimits;
  /** Who may act for others. */
  readonly ownerId: UserId;
  /** Whose request it is; undefined for one that nobody remembers. */
  userOf(requestId: number): UserId | undefined;
  /** Notified after each turn that changed something. */
  readonly changes: ChangeSignal;
}

/** Ended requests that a watcher sees, so that it does not miss an end. */
const watchedEndedMax = 100;

/** @throws {MutiraoError} MUT_NOT_OWNER unless a user acts for herself, or the cluster's owner for anybody. */
function demandSelf({ ownerId }: ClusterHost, userId: UserId, other: UserId): void {
  if (userId !== other && userId !== ownerId) throw new MutiraoError('MUT_NOT_OWNER', `the request is ${other}'s; you are ${userId}`);
}

/** ClusterService over one cluster. */
export function clusterRoutes(host: ClusterHost): Handlers<typeof ClusterServiceService> {
  return {
    allocate: unary({
      decode: decodeAllocateRequest,
      handle: (order, { userId }) => {
        host.demandRoom();
        if (order.userId !== '') demandSelf(host, userId, order.userId);
        return host.ask<{ readonly requestId: number }>((replyTo) => ({
          kind: 'AllocationRequested', replyTo, order: order.userId === '' ? { ...order, userId } : order,
        }));
      },
      encode: ({ requestId }) => ({ requestId: String(requestId) }),
    }),
    release: unary({
      decode: decodeReleaseRequest,
      handle: (requestId, { userId }) => {
        demandSelf(host, userId, host.userOf(requestId) ?? userId);
        return host.ask<object>((replyTo) => ({ kind: 'ReleaseRequested', replyTo, requestId }));
      },
      encode: () => ({}),
    }),
    getLimits: unary({ decode: () => undefined, handle: () => host.limits, encode: encodeLimitsOf }),
    getQueue: unary({ decode: decodeGetQueueRequest, handle: (endedMax) => host.listQueue(endedMax), encode: encodeQueueListing }),
    watchQueue: async (_request, writer, context) => {
      const over = AbortSignal.any([context.signal, context.stopping]);
      while (!over.aborted) {
        const seen = host.changes.count;
        writer.write({ queue: encodeQueueListing(host.listQueue(watchedEndedMax)) });
        await writer.drained(); // Whoever reads slowly misses levels, not the last one.
        await host.changes.changed(seen, over);
      }
    },
  };
}
