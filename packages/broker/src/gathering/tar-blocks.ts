import { Header } from 'tar/header';
import { Pax } from 'tar/pax';

import { bytesOfName, isByteName } from '@mutirao/api/codecs';
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

/**
 * What goes before a member's bytes: its header, and one of the POSIX format before it where that cannot hold its name
 * or size.
 */
export function tarHeader(member: TarMember): Buffer {
  const { path, size, mode, modifiedSeconds } = member;
  if (isByteName(path)) return byteHeader(member);
  const fields = { path, size, mode, mtime: new Date(modifiedSeconds * 1000), ...ownIds };
  const block = Buffer.alloc(tarBlock);
  const needsMore = new Header({ ...fields, type: 'File' }).encode(block);
  return needsMore ? Buffer.concat([new Pax(fields).encode(), block]) : block;
}

const nameMax: Bytes = 100;
const checksumAt = 148;

/**
 * As `tarHeader`, of a member whose name is not UTF-8: POSIX's own extension takes no other, so a long name goes before
 * it as GNU tar writes it.
 */
function byteHeader({ path, size, mode, modifiedSeconds }: TarMember): Buffer {
  const name = bytesOfName(path);
  const block = Buffer.alloc(tarBlock);
  const needsMore = new Header({
    path: 'x',
    size,
    mode,
    mtime: new Date(modifiedSeconds * 1000),
    ...ownIds,
    type: 'File',
  }).encode(block);
  putName(block, name);
  return Buffer.concat([
    ...(needsMore ? [new Pax({ size }).encode()] : []),
    ...(name.length > nameMax ? [longName(name)] : []),
    block,
  ]);
}

function longName(name: Buffer): Buffer {
  const size = name.length + 1;
  const block = Buffer.alloc(tarBlock);
  new Header({ path: '././@LongLink', size, mode: 0, ...ownIds, type: 'NextFileHasLongPath' }).encode(block);
  return Buffer.concat([block, name, Buffer.alloc(1 + tarPadding(size))]);
}

function putName(block: Buffer, name: Buffer): void {
  block.fill(0, 0, nameMax);
  name.copy(block, 0, 0, nameMax);
  block.fill(' ', checksumAt, checksumAt + 8);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, checksumAt, 'latin1');
}

/** Bytes from the end of a member's to the next block. */
export function tarPadding(size: Bytes): Bytes {
  return (tarBlock - (size % tarBlock)) % tarBlock;
}
