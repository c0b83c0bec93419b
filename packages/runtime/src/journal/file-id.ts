import { createHash } from 'node:crypto';
import { statSync, type BigIntStats } from 'node:fs';

/** Digits that a database keeps exactly. */
const digits = 12;

/** What tells a file from its copies. */
type FileMarks = Pick<BigIntStats, 'ino' | 'birthtimeNs'>;

const findMarks = (path: string): FileMarks | undefined => statSync(path, { bigint: true, throwIfNoEntry: false });

/**
 * A number for a file, another one for each copy of it; undefined where there is none.
 *
 * Some file systems do not say when a file was made. There the inode alone has to do: it stays over a restart of the
 * host, and a copy beside the original has another one.
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
