import { ClusterServiceClient, type WalltimeGain } from '@mutirao/api/cluster';
import { decodeAllocateResponse, decodeLimitsOf, decodeQueueListing, encodeAllocateRequest } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { QueueListing, ResourceLimits } from '@mutirao/core/messages';
import type { UserId } from '@mutirao/core/shared';
import type { TrustSource } from '@mutirao/runtime/identity';
import { callUnary, dial, listMessages } from '@mutirao/runtime/rpc';
import type { AllocationOrder, ResourceManager } from './resource-manager.ts';

/** How to reach an embedded cluster. */
export interface EmbeddedClusterOptions {
  /** `host:port`. */
  readonly address: string;
  readonly token: string;
  /** How a cluster on another host is trusted. */
  readonly trust?: TrustSource;
  /** What the cluster is called at its reservation manager; empty where it honours no reservations. */
  readonly reservationResource?: string;
  /** Receives, for a waiting order, the gain of a tighter walltime, if the queue is by scores and there is a gain. */
  readonly onWalltimeGain?: (order: AllocationOrder, gain: WalltimeGain) => void;
  /** Of each call; 10 s when left out. */
  readonly deadlineMs?: number;
}

/** Time before a watch that broke off is tried again. */
const rewatchMs = 1000;

/** The embedded cluster as a resource manager: a client of ClusterService. */
export class EmbeddedCluster implements ResourceManager {
  readonly reservationResource?: string;
  readonly #client: ClusterServiceClient;
  readonly #deadlineMs: number;
  readonly #onWalltimeGain: EmbeddedClusterOptions['onWalltimeGain'];
  readonly #closed = new AbortController();

  constructor(options: EmbeddedClusterOptions) {
    this.#client = dial(ClusterServiceClient, options.address, { token: options.token, trust: options.trust });
    if (options.reservationResource !== undefined && options.reservationResource !== '')
      this.reservationResource = options.reservationResource;
    this.#deadlineMs = options.deadlineMs ?? 10_000;
    this.#onWalltimeGain = options.onWalltimeGain;
  }

  async allocate(order: AllocationOrder): Promise<string> {
    const { requestId, walltimeGain } = decodeAllocateResponse(
      await callUnary(this.#client, 'allocate', encodeAllocateRequest(order), this.#limits()),
    );
    if (walltimeGain !== undefined) this.#onWalltimeGain?.(order, walltimeGain);
    return requestId;
  }

  async release(managerRequestId: string): Promise<void> {
    // Its numbers are counted from 1; whatever else is asked for is unknown to it.
    if (!/^[1-9]\d{0,15}$/.test(managerRequestId)) return;
    try {
      await callUnary(this.#client, 'release', { requestId: managerRequestId }, this.#limits());
    } catch (error) {
      // Nothing is left to end of a request that the cluster does not know.
      if (!(error instanceof MutiraoError) || error.code !== 'MUT_NOT_FOUND') throw error;
    }
  }

  async limits(userId: UserId): Promise<ResourceLimits> {
    return decodeLimitsOf(await callUnary(this.#client, 'getLimits', { userId }, this.#limits()));
  }

  async queue(endedMax: number, userId: UserId = ''): Promise<QueueListing> {
    return decodeQueueListing(await callUnary(this.#client, 'getQueue', { endedMax, userId }, this.#limits()));
  }

  /**
   * A cluster that honours none says so of any claim; one that does refuses this as forged, before it looks at what is
   * asked for.
   */
  async honoursReservations(): Promise<boolean | undefined> {
    const order = {
      userId: '',
      width: 1,
      walltime: 1,
      command: ['true'],
      environment: {},
      workingDirectory: '',
      clientRequestId: '',
    };
    try {
      await callUnary(
        this.#client,
        'allocate',
        { ...encodeAllocateRequest(order), reservationClaim: 'none' },
        this.#limits(),
      );
    } catch (error) {
      const code = error instanceof MutiraoError ? error.code : '';
      return code === 'MUT_CLAIM_FORGED' ? true : code === 'MUT_CLAIM_ELSEWHERE' ? false : undefined;
    }
    return undefined;
  }

  watch(onHint: () => void, signal: AbortSignal): void {
    void this.#watch(onHint, AbortSignal.any([signal, this.#closed.signal]));
  }

  close(): void {
    this.#closed.abort();
    this.#client.close();
  }

  #limits(): { readonly deadlineMs: number; readonly signal: AbortSignal } {
    return { deadlineMs: this.#deadlineMs, signal: this.#closed.signal };
  }

  async #watch(onHint: () => void, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const call = this.#client.watchQueue({});
      const cancel = (): void => {
        call.cancel();
      };
      over.addEventListener('abort', cancel, { once: true });
      try {
        for await (const _level of listMessages(call)) onHint();
      } catch {
        // The cluster is away or stops. The caller reads the queue on its own clock, and that read reports what is
        // wrong.
      }
      over.removeEventListener('abort', cancel);
      await pause(rewatchMs, over);
    }
  }
}

function pause(ms: number, over: AbortSignal): Promise<void> {
  if (over.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      over.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    over.addEventListener('abort', end, { once: true });
  });
}
