import { openSync, readdirSync, readFileSync } from 'node:fs';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const closeOnExec = 0o2_000_000;
/** Room above a descriptor, for the copies that `spawn` makes above the highest one. */
const roomAbove = 64;
const highest = 4096;
const known: { strays?: readonly number[]; nowhere?: number } = {};

/**
 * The descriptors of a child, with `/dev/null` in place of those that our parent left open: as in `exec 200>lock; flock
 * 200; mutirao up`, where a grid, and each of its tasks, would hold the lock.
 *
 * They are not closed in this process: we may still read a user's `<(list)`, and a number may be in use by another
 * thread by the time that it is closed. Node opens nothing that its children inherit.
 *
 * @param own standard input, output and error, and what else the child gets. Cost: at the first call a small file for
 * each open descriptor.
 */
export function withoutStrays<const T extends readonly unknown[]>(own: T): Writable<T> {
  known.strays ??= findStrays();
  if (known.strays.length === 0) return [...own] as Writable<T>;
  const all: unknown[] = [...own];
  for (const stray of known.strays) {
    if (stray < own.length) continue;
    while (all.length < stray) all.push('ignore');
    known.nowhere ??= openSync('/dev/null', 'r+');
    all.push(known.nowhere);
  }
  // Readers of the child's streams know its own descriptors alone.
  return all as Writable<T>;
}

/** Descriptors above standard error that a child would inherit, in ascending order. */
function findStrays(): number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((file) => file > 2 && file < highest && isInherited(file))
      .sort((one, other) => one - other)
      .filter((file) => file + roomAbove < readOpenFilesMax());
  } catch {
    return []; // There is no /proc.
  }
}

function isInherited(file: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false; // It was that of the listing.
  }
}

function readOpenFilesMax(): number {
  const text = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  return text === undefined ? Infinity : Number(text);
}
