import type { Prng } from '@mutirao/core/shared';

/** Changes that were written at once: all of them are there after a fall, or none. */
type Transaction =
  | { readonly kind: 'changes'; readonly bodies: readonly string[] }
  | { readonly kind: 'snapshot'; readonly body: string };

/** Writing failed: nothing of it is on the disk. */
export class DiskFullError extends Error {
  override readonly name = 'DiskFullError';
}

/**
 * The journal of a process on a simulated disk: transactions, the last of which may still be in the system's cache.
 *
 * A process that falls leaves all that it wrote; a host that falls leaves the synced part, and more by chance. A sync
 * includes all that was written before, as it does in a write-ahead log.
 */
export class SimulatedDisk<Change> {
  #transactions: Transaction[] = [];
  /** The number of transactions, from the front, that are on the disk for good. */
  #syncedCount = 0;
  isFull = false;
  #hasFallen = false;

  /** @throws {DiskFullError} */
  write(changes: readonly Change[], isDurable: boolean): void {
    if (this.isFull) throw new DiskFullError('no space left on the simulated disk');
    this.#transactions.push({ kind: 'changes', bodies: changes.map(encode) });
    if (isDurable) this.#syncedCount = this.#transactions.length;
  }

  /** Keeps the state as it is after all that was written. @throws {DiskFullError} */
  writeSnapshot(body: string): void {
    if (this.isFull) throw new DiskFullError('no space left on the simulated disk');
    this.#transactions.push({ kind: 'snapshot', body });
  }

  /** The host falls: what was not synced is there up to some transaction, and gone from then on. */
  loseUnsynced(rng: Prng): void {
    const unsynced = this.#transactions.length - this.#syncedCount;
    this.#transactions.length -= rng.below(unsynced + 1);
    this.#syncedCount = this.#transactions.length;
    this.#hasFallen = true;
  }

  /** Removes all that is on it. */
  wipe(): void {
    this.#transactions.length = 0;
    this.#syncedCount = 0;
    this.#hasFallen = false;
  }

  /** Whether its host has fallen since `forgetFall`. */
  get hasFallen(): boolean {
    return this.#hasFallen;
  }

  /**
   * The consequences of the fall are handled and written; they are synced, since the next fall must not take them back.
   */
  forgetFall(): void {
    this.#syncedCount = this.#transactions.length;
    this.#hasFallen = false;
  }

  /** The body of the latest snapshot; undefined when there is none. */
  latestSnapshot(): string | undefined {
    return this.#transactions.findLast((transaction) => transaction.kind === 'snapshot')?.body;
  }

  /** Visits the changes after the latest snapshot, in order. */
  replay(visit: (change: Change) => void): void {
    const from = this.#transactions.findLastIndex(({ kind }) => kind === 'snapshot') + 1;
    for (const transaction of this.#transactions.slice(from)) visitChanges(transaction, visit);
  }

  /** Visits all changes that are there, in order. */
  visitAll(visit: (change: Change) => void): void {
    for (const transaction of this.#transactions) visitChanges(transaction, visit);
  }
}

/** Stands for bytes in a line. */
const bytesKey = '$bytes';

function visitChanges<Change>(transaction: Transaction, visit: (change: Change) => void): void {
  if (transaction.kind !== 'changes') return;
  // Most lines have none, and reviving is slow.
  for (const body of transaction.bodies)
    visit((body.includes(bytesKey) ? JSON.parse(body, reviveBytes) : JSON.parse(body)) as Change);
}

/** As the live journals do, a line leaves bytes out. */
function encode(change: unknown): string {
  return JSON.stringify(change, (_key, value: unknown) =>
    value instanceof Uint8Array ? { [bytesKey]: value.length } : value,
  );
}

function reviveBytes(_key: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && bytesKey in value ? new Uint8Array(0) : value;
}
