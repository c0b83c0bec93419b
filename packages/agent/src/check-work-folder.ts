import { access, constants } from 'node:fs/promises';
import { MutiraoError } from '@mutirao/api/errors';
import type { WorkFolder } from '@mutirao/core/messages';
import { describeWorkFolder, findDifference, findFolderAround } from '@mutirao/runtime/files';

/** What a work folder is compared with. */
export interface OwnPlaces {
  /** A home folder that may be shared; left out where nothing is. */
  readonly sharedHome: string | undefined;
  /** Where agents keep their files, which are removed. */
  readonly ownFolder: string;
}

/**
 * Checks that the folder in which a task is to start is here the same folder as at home, so that nothing of another
 * folder of that name is read or changed.
 *
 * @throws {MutiraoError} MUT_WORK_FOLDER
 */
export async function requireWorkFolder(folder: WorkFolder, { sharedHome, ownFolder }: OwnPlaces): Promise<void> {
  const { path } = folder;
  if (sharedHome === undefined)
    throw new MutiraoError(
      'MUT_WORK_FOLDER',
      `the agent of this machine shares no files (--shared none), and the job works in ${path}`,
    );
  const difference = findDifference(folder, await describeWorkFolder(path, sharedHome));
  if (difference !== undefined)
    throw new MutiraoError('MUT_WORK_FOLDER', `${path} of this machine is not the folder of submission: ${difference}`);
  if ((await findFolderAround(path, [ownFolder])) !== undefined)
    throw new MutiraoError('MUT_WORK_FOLDER', `${path} is one of the agents' own folders, whose files are removed`);
  await access(path, constants.X_OK).catch((error: unknown) => {
    throw new MutiraoError('MUT_WORK_FOLDER', `cannot work in the folder ${path}: permission denied`, { cause: error });
  });
}
