import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes between two collections; a transfer takes this much memory for its buffers. */
const bytesBetween = 16 * 1024 * 1024;

type Collect = (options: { readonly type: 'minor' }) => void;

/**
 * Has the buffers of a transfer collected as it goes on.
 *
 * Messages come in buffers outside of the heap. While little else happens V8 sees no reason to collect until there are
 * about 64 MiB of them; a minor collection now and then, of well under a millisecond, keeps it at a quarter of that.
 */
export class BufferCollector {
  private readonly collect: Collect;
  private passed = 0;

  constructor() {
    setFlagsFromString('--expose-gc');
    this.collect = runInNewContext('gc') as Collect;
  }

  /** Counts bytes that passed through buffers. */
  count(bytes: number): void {
    this.passed += bytes;
    if (this.passed < bytesBetween) return;
    this.passed = 0;
    this.collect({ type: 'minor' });
  }
}
