import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';

/** Digits that a database keeps exactly. */
const digits = 12;

/** A number for a file, another one for each copy of it; undefined where there is none, or its file system does not tell when a file was made. */
export function readFileId(path: string): number | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined || found.birthtimeNs <= 0n) return undefined;
  return Number.parseInt(createHash('sha256').update(`${found.ino} ${found.birthtimeNs}`).digest('hex').slice(0, digits), 16);
}
