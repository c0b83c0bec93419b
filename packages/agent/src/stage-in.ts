import { resolveInside } from '@mutirao/runtime/files';
import type { HeldReplica } from '@mutirao/core/machines/agent';
import type { ContentCache } from './content-cache.ts';

const turnEvery = 16;

/** Where a replica's paths begin. */
export interface ReplicaFolders {
  readonly playpen: string;
  readonly storage: string;
}

/**
 * Puts a replica's inputs in place, in order: copies into the playpen, which its task may write, and named files in the
 * user's storage that share the content, which it may not.
 *
 * @throws {MutiraoError} MUT_PATH_ESCAPES, MUT_DISK_FULL, MUT_CONTENT_NOT_FOUND; or an Error of the file system.
 */
export async function stageIn(replica: HeldReplica, folders: ReplicaFolders, cache: ContentCache): Promise<void> {
  for (const [index, { root, path, content, mode }] of replica.start.inputs.entries()) {
    // Small files are put there without waiting; others want their turn meanwhile.
    if (index % turnEvery === turnEvery - 1) await new Promise((resolve) => { setImmediate(resolve); });
    const destination = resolveInside(folders[root], path);
    if (root === 'playpen') await cache.copyTo(content, destination, mode);
    else await cache.linkTo(content.sha256, destination, mode);
  }
}
