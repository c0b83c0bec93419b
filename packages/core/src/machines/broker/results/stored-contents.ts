import type { Content } from '../../../messages/index.ts';
import type { Bytes, MachineId } from '../../../shared/index.ts';

/** What a task wrote for others. */
export interface WrittenContents {
  readonly machineId: MachineId;
  /** Of that machine. */
  readonly storage: string;
  /** By the path of the output, as its group says it. */
  readonly contents: ReadonlyMap<string, readonly Content[]>;
}

/**
 * What storages hold, as far as the broker sent it there, or it was written there for other tasks. All of it is of the
 * moment: a restarted broker learns it again.
 */
export interface StoredContents {
  /** Sizes of contents by their hashes, by the storage's key. */
  readonly storages: Map<string, Map<string, Bytes>>;
  /** What a path at home stood for when it was staged last. */
  readonly sources: Map<string, readonly Content[]>;
  /** What tasks of workflows wrote that others read, by `<job> <task>`. */
  readonly written: Map<string, WrittenContents>;
}

/** Knows nothing yet. */
export function createStoredContents(): StoredContents {
  return { storages: new Map(), sources: new Map(), written: new Map() };
}
