import type { Content } from '../../messages/index.ts';
import type { Bytes } from '../../shared/index.ts';

/** What storages hold, as far as the broker sent it there. All of it is of the moment: a restarted broker learns it anew. */
export interface StoredContents {
  /** Sizes of contents by their hashes, by the storage's key. */
  readonly storages: Map<string, Map<string, Bytes>>;
  /** What a path at home stood for when it was staged last. */
  readonly sources: Map<string, readonly Content[]>;
}

/** Knows nothing yet. */
export function createStoredContents(): StoredContents {
  return { storages: new Map(), sources: new Map() };
}
