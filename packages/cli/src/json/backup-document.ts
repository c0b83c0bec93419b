import type { Manifest } from '../backup/manifest.ts';

/** A back-up as `--json` prints it. @param replacedFolder where what it replaced is now. */
export function backupJson(folder: string, { madeUnixMs, files }: Manifest, replacedFolder: string | undefined): object {
  return {
    folder, made_unix_ms: madeUnixMs, files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0),
    journals: files.filter(({ lastChange }) => lastChange !== undefined).map(({ path, lastChange }) => ({ path, last_change: lastChange })), replaced_folder: replacedFolder ?? null,
  };
}
