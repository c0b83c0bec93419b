import { MutiraoError } from '@mutirao/api/errors';

/** Turns an error of the file system that a user can mend into one that says how; any other comes back as it is. */
export function fileError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  switch (error.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new MutiraoError('MUT_FILE_NOT_FOUND', `${path} is not there`, { cause: error });
    case 'ENOSPC':
    case 'EDQUOT':
      return new MutiraoError('MUT_DISK_FULL', `no room left to write ${path}`, { cause: error });
    default:
      return error;
  }
}
