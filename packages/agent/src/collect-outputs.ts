import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { HeldReplica } from '@mutirao/core/machines/agent';
import type { Content, OutputContent } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import { resolveInside } from '@mutirao/runtime/files';
import { AnnouncedFile } from './announced-file.ts';
import type { DroppedFile } from './shared-folders.ts';
import type { ReplicaFolders } from './stage-in.ts';

/** A file up to this size travels inside the report, as long as all of a replica's files fit into `inlineTotalMax`. */
export const inlineMax: Bytes = 64 * 1024;
/** See `inlineMax`. */
export const inlineTotalMax: Bytes = 1024 * 1024;
const filesMax = 10_000;

/** Sends a file's bytes on a stream of their own; resolves to the transfer's name when they are at the broker. */
export type PushFile = (file: AnnouncedFile) => Promise<string>;

/** Leaves a copy of a file where its broker finds it; undefined where they share no file system. */
export type DropFile = (file: string) => Promise<DroppedFile | undefined>;

/** Keeps a file that another task is to read, as far as it can be kept; never rejects. */
export type KeepFile = (content: Content, file: string) => Promise<void>;

/** The ways in which a file too large for the report comes home. */
export interface WaysHome {
  readonly push: PushFile;
  /** Left out where nothing is kept. */
  readonly keep?: KeepFile;
  /** Tried first; left out where it is not to be had. */
  readonly drop?: DropFile;
}

interface FoundFile {
  readonly outputIndex: number;
  /** Below the output where that is a folder; empty for a file. */
  readonly path: string;
  readonly file: string;
  readonly size: Bytes;
  readonly mode: number;
}

/**
 * Reads what a replica is to bring home.
 *
 * @throws {MutiraoError} MUT_OUTPUT_MISSING, MUT_OUTPUT_FILES_MAX, MUT_PATH_ESCAPES; what the ways home throw.
 */
export async function collectOutputs(replica: HeldReplica, folders: ReplicaFolders, ways: WaysHome): Promise<OutputContent[]> {
  const found: FoundFile[] = [];
  for (const [outputIndex, output] of replica.start.outputs.entries()) await find(found, outputIndex, resolveInside(folders[output.root], output.path), output.path);
  const outputs: OutputContent[] = [];
  let inlineTotal = 0;
  for (const file of found) {
    const isInline = file.size <= inlineMax && inlineTotal + file.size <= inlineTotalMax;
    if (isInline) inlineTotal += file.size;
    const { keep = false } = replica.start.outputs[file.outputIndex] ?? {};
    outputs.push(await readOutput({ ...file, isKept: keep, ...(isInline ? { inline: await readFile(file.file) } : {}) }, ways));
  }
  return outputs;
}

async function find(found: FoundFile[], outputIndex: number, file: string, shown: string): Promise<void> {
  const entry = await lstat(file).catch(() => undefined);
  if (entry === undefined) throw new MutiraoError('MUT_OUTPUT_MISSING', `output "${shown}" was not there when the command had ended`);
  if (entry.isFile()) found.push({ outputIndex, path: '', file, size: entry.size, mode: entry.mode & 0o777 });
  else if (entry.isDirectory()) await findBelow(found, { outputIndex, root: file, shown }, '');
  else throw new MutiraoError('MUT_OUTPUT_MISSING', `output "${shown}" is neither a file nor a folder`);
}

/** Adds the files of a folder in the order of their names. Links to files are followed as far as they stay inside; others are passed over. */
async function findBelow(found: FoundFile[], output: { readonly outputIndex: number; readonly root: string; readonly shown: string }, below: string): Promise<void> {
  const { outputIndex, root, shown } = output;
  const entries = await readdir(path.join(root, below), { withFileTypes: true });
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const entry of entries) {
    const relative = path.join(below, entry.name);
    if (entry.isDirectory()) {
      await findBelow(found, output, relative);
      continue;
    }
    const file = entry.isFile() ? path.join(root, relative) : entry.isSymbolicLink() ? linkedFile(root, relative) : undefined;
    const target = file === undefined ? undefined : await stat(file);
    if (file === undefined || target?.isFile() !== true) continue;
    found.push({ outputIndex, path: relative, file, size: target.size, mode: target.mode & 0o777 });
    if (found.length > filesMax) throw new MutiraoError('MUT_OUTPUT_FILES_MAX', `output "${shown}" holds more than ${filesMax} files`);
  }
}

function linkedFile(root: string, relative: string): string | undefined {
  try {
    return resolveInside(root, relative);
  } catch {
    return undefined;
  }
}

/** A file to be told of: with its bytes where they travel inside the report, else where they are on this host. */
export interface OutputSource {
  readonly outputIndex: number;
  /** Below the output where that is a folder; empty for a file. */
  readonly path: string;
  readonly mode: number;
  readonly inline?: Uint8Array;
  readonly file?: string;
  /** Whether another task is to read it. */
  readonly isKept?: boolean;
}

/**
 * Makes an output of a file, pushing it where it does not travel inside the report.
 *
 * The first message of a transfer names its content, so a file is read twice; the second time it comes from memory mostly.
 */
export async function readOutput(source: OutputSource, ways: WaysHome): Promise<OutputContent> {
  const { outputIndex, path: below, mode, inline } = source;
  const told = { outputIndex, path: below, mode };
  if (inline === undefined) return { ...told, inline, ...(await bringFile(source, ways)) };
  const content = { sha256: createHash('sha256').update(inline).digest('hex'), size: inline.length };
  await keepFile(source, content, ways);
  return { ...told, content, inline, transferId: '' };
}

async function bringFile(source: OutputSource, ways: WaysHome): Promise<Pick<OutputContent, 'content' | 'transferId' | 'droppedName'>> {
  const { file = '' } = source;
  const dropped = await ways.drop?.(file);
  // Who shares a file system with home links what is there: nothing is to be kept.
  if (dropped !== undefined) return { content: dropped.content, transferId: '', droppedName: dropped.name };
  const announced = await AnnouncedFile.read(file);
  const { content } = announced;
  const transferId = await ways.push(announced);
  // Not before: a further name changes the file's status, and it would be read again.
  await keepFile(source, content, ways);
  return { content, transferId };
}

async function keepFile({ file, isKept = false }: OutputSource, content: Content, { keep }: WaysHome): Promise<void> {
  if (isKept && file !== undefined) await keep?.(content, file);
}
