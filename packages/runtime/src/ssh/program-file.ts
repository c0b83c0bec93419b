import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGzip } from 'node:zlib';

import { MutiraoError } from '@mutirao/api/errors';
import { hashFile } from '../files/index.ts';
import { isPacked } from '../processes/index.ts';

/** The executable that is carried to sites. */
export interface ProgramFile {
  /** Hash of the executable itself, which names its folder at a site. */
  readonly sha256: string;
  readonly bytes: number;
  /** What it runs on, as `uname -sm` has it. */
  readonly system: string;
  /** The gzipped form, made when it is first asked for. */
  packed(): Promise<string>;
}

/**
 * Finds the executable to carry: the one that is given, ourselves where we are one, or the one that scripts/pack made.
 *
 * @param home keeps gzipped forms. @throws {MutiraoError} MUT_NOT_PACKED, MUT_FILE_NOT_FOUND
 */
export async function findProgramFile(home: string, given: string): Promise<ProgramFile> {
  const path =
    given !== ''
      ? given
      : isPacked
        ? process.execPath
        : fileURLToPath(new URL('../../../../dist/mutirao', import.meta.url));
  if (!existsSync(path)) {
    throw given === ''
      ? new MutiraoError('MUT_NOT_PACKED', `${path} is not there`)
      : new MutiraoError('MUT_FILE_NOT_FOUND', `${path} is not there`);
  }
  const system = getSystem(path);
  const { sha256 } = await hashFile(path);
  return { sha256, system, bytes: statSync(path).size, packed: () => pack(home, path, sha256) };
}

const machines: Readonly<Record<number, string>> = { 62: 'x86_64', 183: 'aarch64' };

/**
 * The system of an executable, by the head of the file: a host that cannot run it may take it for a script.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST for a file that is not a Linux executable.
 */
function getSystem(path: string): string {
  const head = Buffer.alloc(20);
  const file = openSync(path, 'r');
  try {
    readSync(file, head, 0, head.length, 0);
  } finally {
    closeSync(file);
  }
  const machine = machines[head.readUInt16LE(18)];
  if (head.readUInt32BE(0) !== 0x7f454c46 || machine === undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', `${path} is not an executable of Linux for x86_64 or aarch64`);
  return `Linux ${machine}`;
}

async function pack(home: string, path: string, sha256: string): Promise<string> {
  if (readReportedHash(`${path}.json`) === sha256 && existsSync(`${path}.gz`)) return `${path}.gz`;
  const packed = join(home, 'programs', `${sha256}.gz`);
  if (existsSync(packed)) return packed;
  mkdirSync(dirname(packed), { recursive: true, mode: 0o700 });
  const draft = `${packed}.${process.pid}.tmp`;
  await pipeline(createReadStream(path), createGzip({ level: 4 }), createWriteStream(draft, { mode: 0o600 }));
  renameSync(draft, packed);
  return packed;
}

/** The hash that scripts/pack wrote next to the executable. */
function readReportedHash(path: string): unknown {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { sha256?: unknown }).sha256;
  } catch {
    return undefined;
  }
}
