import { MutiraoError } from '@mutirao/api/errors';
import type { HeldReplica } from '@mutirao/core/machines/agent';
import { resolveInside } from '@mutirao/runtime/files';
import type { ContentCache } from './content-cache.ts';
import { shorten } from './find-outputs.ts';
import { getErrno } from './verdict.ts';

const turnEvery = 16;

/** Where a replica's paths begin. */
export interface ReplicaFolders {
  readonly playpen: string;
  readonly storage: string;
}

/**
 * Puts a replica's inputs in place, in order: copies into the playpen, which its task may write, and read-only ones
 * under their names in the
 * user's storage, which stay for later tasks.
 *
 * @throws {MutiraoError} MUT_PATH_ESCAPES, MUT_INPUT_UNPLACEABLE, MUT_DISK_FULL, MUT_CONTENT_NOT_FOUND; or an Error of
 * the file system.
 */
export async function stageIn(replica: HeldReplica, folders: ReplicaFolders, cache: ContentCache): Promise<void> {
  for (const [index, { root, path, content, mode }] of replica.start.inputs.entries()) {
    // Small files are put there without waiting; others want their turn meanwhile.
    if (index % turnEvery === turnEvery - 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    try {
      const destination = resolveInside(folders[root], path);
      if (root === 'playpen') await cache.copyTo(content, destination, mode);
      else await cache.keepCopy(content, destination, mode);
    } catch (error) {
      throw classifyInputError(error, `input "${shorten(path)}"`);
    }
  }
}

/**
 * Names the input in an error of the file system that the names of inputs have caused; returns any other error
 * unchanged.
 */
export function classifyInputError(error: unknown, shown: string): unknown {
  if (error instanceof MutiraoError) return error;
  switch (getErrno(error)) {
    case 'ENAMETOOLONG':
      return unplaceable(
        `${shown} has a name that is longer than the file system takes (255 bytes a part, 4096 in all)`,
        error,
      );
    case 'ENOTDIR':
    case 'EISDIR':
    case 'EEXIST':
    case 'ENOTEMPTY':
      return unplaceable(
        `${shown} is in the way of another input or file: one of them is a file where the other needs a folder`,
        error,
      );
    default:
      return error;
  }
}

function unplaceable(message: string, cause: unknown): MutiraoError {
  return new MutiraoError('MUT_INPUT_UNPLACEABLE', message, { cause });
}
