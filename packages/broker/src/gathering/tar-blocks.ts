import { Header } from 'tar/header';
import { Pax } from 'tar/pax';

import type { Bytes } from '@mutirao/core/shared';

/** All in a tar archive comes in blocks of this size. */
export const tarBlock: Bytes = 512;

/** What ends a tar archive; the next member takes its place. */
export const tarEnd = Buffer.alloc(2 * tarBlock);

/** A file in a tar archive. */
export interface TarMember {
  readonly path: string;
  readonly size: Bytes;
  /** Permission bits. */
  readonly mode: number;
  /** In whole seconds since the epoch. */
  readonly modifiedSeconds: number;
}

const ownIds = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

/** What goes before a member's bytes: its header, and one of the POSIX format before it where that cannot hold its name or size. */
export function tarHeader({ path, size, mode, modifiedSeconds }: TarMember): Buffer {
  const fields = { path, size, mode, mtime: new Date(modifiedSeconds * 1000), ...ownIds };
  const block = Buffer.alloc(tarBlock);
  const needsMore = new Header({ ...fields, type: 'File' }).encode(block);
  return needsMore ? Buffer.concat([new Pax(fields).encode(), block]) : block;
}

/** Bytes from the end of a member's to the next block. */
export function tarPadding(size: Bytes): Bytes {
  return (tarBlock - (size % tarBlock)) % tarBlock;
}
