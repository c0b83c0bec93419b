import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';

/** One file of a back-up. */
export interface BackupFile {
  /** Below the home folder, and below the folder `home` of the back-up. */
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  /** Of a journal: the sequence of its last change. */
  readonly lastChange?: number;
}

/** What a back-up says of itself. */
export interface Manifest {
  readonly format: 1;
  readonly madeUnixMs: number;
  readonly release: string;
  readonly home: string;
  readonly files: readonly BackupFile[];
}

/** The name of the manifest in the folder of a back-up. */
export const manifestName = 'backup.json';
/** The folder of a back-up in which its files are, each where it is in the home folder. */
export const filesFolder = 'home';

/**
 * Reads the manifest of a back-up. @throws {MutiraoError} MUT_BAD_REQUEST when the folder has none that can be read.
 */
export function readManifest(folder: string): Manifest {
  const path = join(folder, manifestName);
  try {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
    if (manifest.format === 1) return manifest;
    throw new Error(`its format is ${String(manifest.format)}; this release reads 1`);
  } catch (error) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${folder} is not a readable backup: ${(error as Error).message}; expected a folder that "mutirao ` +
        'backup" has made',
      { cause: error },
    );
  }
}
