import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes that pass between two collections. */
const collectEvery = 8 * 1024 * 1024;

/**
 * Keeps a process small while the bytes of large contents pass through it.
 *
 * Left alone, the engine lets tens of megabytes of used buffers pile up before it collects, since it sees only the
 * small objects in front of them. A collection of the young objects every few megabytes takes well under a millisecond,
 * and so the same memory is used again while it is still in the processor's cache.
 */
export class InFlightBytes {
  readonly #collect: () => void;
  #passed = 0;

  constructor(collect: () => void = collectYoung) {
    this.#collect = collect;
  }

  /** Notes that this many bytes have passed and are not needed any more. */
  note(bytes: number): void {
    this.#passed += bytes;
    if (this.#passed < collectEvery) return;
    this.#passed = 0;
    this.#collect();
  }
}

type Collector = (options: { readonly type: 'minor' }) => void;

function findCollector(): Collector {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collector;
}

const collector = findCollector();

function collectYoung(): void {
  collector({ type: 'minor' });
}
