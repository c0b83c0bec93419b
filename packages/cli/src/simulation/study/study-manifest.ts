import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';

/**
 * Opens the folder of a study, and makes it where it is absent.
 *
 * @param wanted says what study it is, and how it is run. @throws {MutiraoError} MUT_BAD_REQUEST when it holds
 * something else, or the same study with other settings.
 */
export function openStudyFolder(path: string, wanted: object): void {
  const manifest = join(path, 'study.json');
  if (existsSync(manifest)) {
    const found = readFileSync(manifest, 'utf8').trim();
    if (found !== JSON.stringify(wanted)) {
      throw new MutiraoError(
        'MUT_BAD_REQUEST',
        `${path} holds another study: ${found}; expected ${JSON.stringify(wanted)}, or another --out`,
      );
    }
  } else {
    refuseForeign(path);
    writeAtomic(manifest, `${JSON.stringify(wanted)}\n`, 0o644);
  }
}

/** Refuses to write results into a folder with other files. */
function refuseForeign(path: string): void {
  let names: string[];
  try {
    names = existsSync(path) ? readdirSync(path) : [];
  } catch (error) {
    throw new MutiraoError('MUT_BAD_REQUEST', `cannot use ${path} for results: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const [first] = names;
  if (first !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${path} holds ${first} and no study.json; expected an empty folder, or that of a study`,
    );
}
