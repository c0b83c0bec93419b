import { partBytesMax, type LiveOutputPart, type LiveOutputRequest } from '@mutirao/api/codecs';
import type { Bytes, Duration, MachineId, ProviderId, ReplicaId } from '@mutirao/core/shared';
import type { Timers } from '@mutirao/runtime/driver';

/** A replica on a machine, and what a reader has of its output. */
export interface ReplicaPlace {
  readonly providerId: ProviderId;
  readonly machineId: MachineId;
  readonly replicaId: ReplicaId;
  readonly standardOutputOffset: Bytes;
  readonly standardErrorOffset: Bytes;
}

/** What asking machines needs. */
export interface LiveOutputsPort {
  readonly timers: Timers;
  /** Sends a request behind the starts of its machine; dropped where there is no way to it. */
  send(providerId: ProviderId, machineId: MachineId, request: LiveOutputRequest): void;
}

/** Bytes of each stream in one answer: two of them are all that a reader costs the broker. */
const bytesMax: Bytes = partBytesMax;
/** How long a machine waits for something to say. */
const wait: Duration = 3000;
/** Beyond that no answer is waited for: a connection broke meanwhile. */
const lateMax: Duration = 1000;

interface Asked {
  readonly machineId: MachineId;
  readonly replicaId: ReplicaId;
  settle(part: LiveOutputPart | undefined): void;
}

/** A question that a machine has been asked. */
export interface OpenQuestion {
  /** Resolves to the answer; undefined where none comes, or nobody waits any more. Never rejects. */
  readonly answer: Promise<LiveOutputPart | undefined>;
  /** Nobody waits any more. */
  drop(): void;
}

/**
 * Asks machines for what tasks have written. Every question has one answer or none, so that nobody who reads slowly
 * makes the broker keep anything.
 */
export class LiveOutputs {
  readonly #port: LiveOutputsPort;
  readonly #asked = new Map<number, Asked>();
  #lastRequestId = 0;

  constructor(port: LiveOutputsPort) {
    this.#port = port;
  }

  /** Questions that have no answer yet. */
  get openCount(): number {
    return this.#asked.size;
  }

  /** Asks for what follows the bytes that a reader has. */
  ask({ providerId, ...place }: ReplicaPlace): OpenQuestion {
    const { machineId, replicaId, standardOutputOffset, standardErrorOffset } = place;
    this.#lastRequestId += 1;
    const requestId = this.#lastRequestId;
    const { promise, resolve } = Promise.withResolvers<LiveOutputPart | undefined>();
    const timer = this.#port.timers.start(wait + lateMax, () => {
      settle(undefined);
    });
    const settle = (part: LiveOutputPart | undefined): void => {
      this.#port.timers.cancel(timer);
      this.#asked.delete(requestId);
      resolve(part);
    };
    this.#asked.set(requestId, { machineId, replicaId, settle });
    const request = { requestId, replicaId, standardOutputOffset, standardErrorOffset, bytesMax, wait };
    this.#port.send(providerId, machineId, request);
    return {
      answer: promise,
      drop: () => {
        settle(undefined);
      },
    };
  }

  /** Takes an answer. One that nobody waits for, or that another machine gives, is dropped. */
  readonly take = (machineId: MachineId, part: LiveOutputPart): void => {
    const asked = this.#asked.get(part.requestId);
    if (asked?.machineId === machineId && asked.replicaId === part.replicaId) asked.settle(part);
  };
}
