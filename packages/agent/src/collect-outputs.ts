import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { HeldReplica } from '@mutirao/core/machines/agent';
import type { Content, OutputContent } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import { fsPath, resolveInside } from '@mutirao/runtime/files';
import { AnnouncedFile } from './announced-file.ts';
import { describe, OutputFinder, readError, type FoundFile } from './find-outputs.ts';
import type { DroppedFile } from './shared-folders.ts';
import type { ReplicaFolders } from './stage-in.ts';

/** A file up to this size travels inside the report, as long as all of a replica's files fit into `inlineTotalMax`. */
export const inlineMax: Bytes = 64 * 1024;
/** See `inlineMax`. */
export const inlineTotalMax: Bytes = 1024 * 1024;

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
  /** Tried first; left out if it is not available. */
  readonly drop?: DropFile;
}

/**
 * Reads the outputs that a replica brings home; of a failed one as many as possible.
 *
 * @throws {MutiraoError} MUT_OUTPUT_MISSING, MUT_OUTPUT_UNREADABLE, MUT_OUTPUT_LINK, MUT_OUTPUT_CHANGED,
 * MUT_OUTPUT_FILES_MAX, MUT_PATH_ESCAPES; what the ways home throw.
 */
export async function collectOutputs(
  replica: HeldReplica,
  folders: ReplicaFolders,
  ways: WaysHome,
): Promise<OutputContent[]> {
  const [playpen, storage] = await Promise.all([realFolder(folders.playpen), realFolder(folders.storage)]);
  const finder = new OutputFinder([playpen, storage].filter((folder) => folder !== ''));
  // A failed task brings the outputs that exist. A missing one is not worth a second error.
  const isPartial = replica.verdict !== undefined;
  const { workFolder } = replica.template;
  const all = replica.start.outputs.map(({ root, path: shown }, outputIndex) => ({ outputIndex, root, shown }));
  const isInPlace = ({ root }: (typeof all)[number]): boolean => workFolder !== undefined && root === 'playpen';
  if (workFolder !== undefined && !isPartial)
    for (const { shown } of all.filter(isInPlace)) await requireThere(workFolder.path, shown);
  for (const { outputIndex, root, shown } of all.filter((output) => !isInPlace(output))) {
    try {
      await finder.find({ outputIndex, place: resolveInside(folders[root], shown), shown });
    } catch (error) {
      if (!isPartial) throw error;
    }
  }
  return await readAll(replica, finder.found, { ways, isPartial });
}

/** What a task writes into the folder of submission is at home already. @throws {MutiraoError} MUT_OUTPUT_MISSING */
async function requireThere(folder: string, shown: string): Promise<void> {
  await stat(fsPath(join(folder, shown))).catch((error: unknown) => {
    throw new MutiraoError('MUT_OUTPUT_MISSING', `output "${shown}" was not in ${folder} when the command had ended`, {
      cause: error,
    });
  });
}

async function readAll(
  { start }: HeldReplica,
  files: readonly FoundFile[],
  { ways, isPartial }: { readonly ways: WaysHome; readonly isPartial: boolean },
): Promise<OutputContent[]> {
  const outputs: OutputContent[] = [];
  let inlineTotal = 0;
  for (const found of files) {
    const isInline = found.size <= inlineMax && inlineTotal + found.size <= inlineTotalMax;
    if (isInline) inlineTotal += found.size;
    const { keep = false, path: shown = '' } = start.outputs[found.outputIndex] ?? {};
    try {
      outputs.push(
        await readOutput({ ...found, isKept: keep, ...(isInline ? { inline: await readSmall(found) } : {}) }, ways),
      );
    } catch (error) {
      if (!isPartial) throw readError(error, describe({ shown }, found.path));
    }
  }
  return outputs;
}

/** Without links on the way; empty where it is not there. */
async function realFolder(folder: string): Promise<string> {
  return await realpath(folder).catch(() => '');
}

/** No more than was seen of it: a file that grows would not fit into the report. */
async function readSmall({ file, size }: FoundFile): Promise<Uint8Array> {
  const bytes = await readFile(fsPath(file));
  return bytes.length > size ? bytes.subarray(0, size) : bytes;
}

/** A file to report: with its bytes if they travel inside the report, otherwise with its path on this host. */
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
 * The first message of a transfer names its content, so a file is read twice; the second time it comes from memory
 * mostly.
 */
export async function readOutput(source: OutputSource, ways: WaysHome): Promise<OutputContent> {
  const { outputIndex, path: below, mode, inline } = source;
  const reported = { outputIndex, path: below, mode };
  if (inline === undefined) return { ...reported, inline, ...(await bringFile(source, ways)) };
  const content = { sha256: createHash('sha256').update(inline).digest('hex'), size: inline.length };
  await keepFile(source, content, ways);
  return { ...reported, content, inline, transferId: '' };
}

async function bringFile(
  source: OutputSource,
  ways: WaysHome,
): Promise<Pick<OutputContent, 'content' | 'transferId' | 'droppedName'>> {
  const { file = '' } = source;
  const dropped = await ways.drop?.(file);
  // Machines that share a file system with home read the copy there, so the agent keeps none.
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
