import { createHash } from 'node:crypto';
import { statSync, type BigIntStats } from 'node:fs';

/** Digits that a database keeps exactly. */
const digits = 12;

/** Metadata in which a file differs from its copies. */
type FileMarks = Pick<BigIntStats, 'ino' | 'birthtimeNs'>;

const findMarks = (path: string): FileMarks | undefined => statSync(path, { bigint: true, throwIfNoEntry: false });

/**
 * A number for a file that differs for each copy; undefined if the file is missing.
 *
 * Some file systems do not record when a file was made. The inode alone must do there: it survives a restart of the
 * host, and a copy next to the original has another one.
 */
export function readFileId(
  path: string,
  findFile: (path: string) => FileMarks | undefined = findMarks,
): number | undefined {
  const found = findFile(path);
  if (found === undefined) return undefined;
  return Number.parseInt(
    createHash('sha256').update(`${found.ino} ${found.birthtimeNs}`).digest('hex').slice(0, digits),
    16,
  );
}
