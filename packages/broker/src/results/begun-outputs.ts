import { rmSync, statSync } from 'node:fs';

import type { Content } from '@mutirao/core/messages';
import type { Bytes, MachineId } from '@mutirao/core/shared';

import type { Arrivals } from './arrivals.ts';

/** Where an output is written that is on its way. */
export interface BegunOutput {
  readonly path: string;
  /** Bytes of its beginning that are there, from a transfer that broke. */
  readonly offset: Bytes;
  /** The transfer is over: the next one can use this many bytes; with none the file is removed. */
  leave(bytes: Bytes): void;
}

/** Writes within this many bytes go out of order, so the last ones that a killed process left may have gaps. */
const doubtedBytes: Bytes = 1024 * 1024;

/**
 * The beginnings of outputs whose transfers broke, so that the next transfer brings the rest only.
 *
 * Each machine has its own: what one says of a content another may not be spoilt by.
 */
export class BegunOutputs {
  readonly #arrivals: Pick<Arrivals, 'newPart' | 'findBeginning'>;
  readonly #inUse = new Set<string>();
  /** What this process has left, to the byte. */
  readonly #left = new Map<string, Bytes>();

  constructor(arrivals: Pick<Arrivals, 'newPart' | 'findBeginning'>) {
    this.#arrivals = arrivals;
  }

  /** Takes up an output. Of two of one content from one machine at a time the second begins again. */
  take(machineId: MachineId, content: Content): BegunOutput {
    const path = this.#arrivals.findBeginning(machineId, content);
    if (this.#inUse.has(path)) {
      const part = this.#arrivals.newPart();
      return {
        path: part,
        offset: 0,
        leave: () => {
          rmSync(part, { force: true });
        },
      };
    }
    this.#inUse.add(path);
    return {
      path,
      offset: this.getSize(machineId, content),
      leave: (bytes) => {
        this.#inUse.delete(path);
        if (bytes > 0) this.#left.set(path, bytes);
        else this.#forget(path);
      },
    };
  }

  /** Bytes that are there of an output's beginning. */
  getSize(machineId: MachineId, content: Content): Bytes {
    const path = this.#arrivals.findBeginning(machineId, content);
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    return Math.min(this.#left.get(path) ?? Math.max(0, size - doubtedBytes), size, content.size);
  }

  #forget(path: string): void {
    this.#left.delete(path);
    rmSync(path, { force: true });
  }
}
