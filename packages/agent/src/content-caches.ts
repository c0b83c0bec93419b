import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { StartReplicas, TaskTemplate } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import { ContentCache, type CacheBound } from './content-cache.ts';
import { getFolderName } from './storages.ts';

/**
 * The contents that an agent keeps between tasks, those of each user apart: nobody gets a content, by its hash, that
 * only another user has brought here.
 *
 * The owner has one folder, and each other user has one next to it. One limit covers them all.
 */
export class ContentCaches {
  /** The owner's. */
  readonly own: ContentCache;
  readonly #folder: string;
  readonly #bound: CacheBound;
  readonly #byName: Map<string, ContentCache>;

  private constructor(folder: string, bound: CacheBound, own: ContentCache, byName: Map<string, ContentCache>) {
    this.#folder = folder;
    this.#bound = bound;
    this.own = own;
    this.#byName = byName;
  }

  /** Opens what a former agent left below a folder. @param folder of all files of the agent. */
  static async open(folder: string, bytesMax: Bytes): Promise<ContentCaches> {
    const bound: CacheBound = { bytesMax, caches: new Set() };
    const others = path.join(folder, 'contents-of-users');
    const names = listFolders(others);
    const own = await ContentCache.open(path.join(folder, 'contents'), bound);
    const opened = await Promise.all(
      names.map(async (name) => [name, await ContentCache.open(path.join(others, name), bound)] as const),
    );
    return new ContentCaches(others, bound, own, new Map(opened));
  }

  /** The cache of a user. @param shelf undefined for the owner. */
  of(shelf: string | undefined): ContentCache {
    if (shelf === undefined) return this.own;
    const name = getFolderName(shelf);
    let cache = this.#byName.get(name);
    if (cache === undefined) {
      cache = ContentCache.make(path.join(this.#folder, name), this.#bound);
      this.#byName.set(name, cache);
    }
    return cache;
  }
}

function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return []; // Nobody else's tasks have had inputs here.
  }
}

/**
 * Where the contents of a task are kept: those of the owner's tasks together (undefined), those of other users each
 * apart.
 */
export function findShelf({ isForeign, userId }: Pick<TaskTemplate, 'isForeign' | 'userId'>): string | undefined {
  return isForeign === true ? userId : undefined;
}

/** Says of the inputs of another user's tasks whose they are. */
export function shelveInputs(batch: StartReplicas): StartReplicas {
  const shelf = findShelf(batch.template);
  if (shelf === undefined) return batch;
  const replicas = batch.replicas.map((replica) => ({
    ...replica,
    inputs: replica.inputs.map((input) => ({ ...input, content: { ...input.content, shelf } })),
  }));
  return { ...batch, replicas };
}
