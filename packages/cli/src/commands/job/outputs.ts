import { createHash } from 'node:crypto';
import { chmod, mkdir, open, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import {
  fileError,
  fsPath,
  gatheredIndexName,
  readGatheredIndex,
  resolveInside,
  type GatheredFile,
} from '@mutirao/runtime/files';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showBytes } from '../../output/units.ts';
import { resolveJobId, resolveTaskIndexes } from '../../selectors.ts';

/** What the command does with them. */
export interface OutputsOptions {
  readonly extract?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<job>', 'a job number, or "last"')
    .argument('[tasks]', 'which tasks: 5, 0-10:2, last or all (default: all)', 'all')
    .option('--extract <folder>', 'write the files into this folder, under their names')
    .action((job: string, tasks: string, options: OutputsOptions) =>
      act((context) => showOutputs(context, { job, tasks }, options)),
    );
}

/** Lists the gathered outputs of a job, the last of each task, and writes them to files where that is wanted. */
export async function showOutputs(
  context: CommandContext,
  { job, tasks }: { job: string; tasks: string },
  { extract }: OutputsOptions,
): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, job);
  const chosen = new Set(await resolveTaskIndexes(broker, jobId, tasks));
  const folder = (await broker.getJob({ jobId })).spec?.gathering?.folder;
  if (folder === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `job ${jobId} was submitted without --archive-outputs: its outputs are separate files at home`,
    );
  const files = await findFiles(join(folder, gatheredIndexName(jobId)), chosen);
  const into = extract === undefined ? undefined : resolve(context.directory, extract);
  const places = into === undefined ? [] : await extractAll(files, folder, into);
  printResult(context.output, {
    json: () => files.map((file, index) => gatheredJson(file, places[index])),
    table: () =>
      into === undefined
        ? outputTable(files)
        : [`${files.length} ${files.length === 1 ? 'file is' : 'files are'} below ${into}.`],
    quiet: () => (into === undefined ? files.map(({ path }) => path) : places),
  });
  return 0;
}

/** Those of the chosen tasks, of all where none is chosen, by task. */
async function findFiles(indexPath: string, chosen: ReadonlySet<number>): Promise<GatheredFile[]> {
  const found = new Map<number, readonly GatheredFile[]>();
  await readGatheredIndex(indexPath, (files) => {
    const taskIndex = files[0]?.taskIndex ?? -1;
    if (chosen.size === 0 || chosen.has(taskIndex)) found.set(taskIndex, files);
  });
  return [...found].sort(([one], [other]) => one - other).flatMap(([, files]) => files);
}

/** Answers where each is. @throws {MutiraoError} MUT_PATH_ESCAPES, MUT_CONTENT_MISMATCH, MUT_FILE_NOT_FOUND */
async function extractAll(files: readonly GatheredFile[], folder: string, into: string): Promise<string[]> {
  await mkdir(into, { recursive: true });
  const volumes = new Map<string, FileHandle>();
  const places: string[] = [];
  try {
    for (const file of files) {
      const place = resolveInside(into, file.path);
      const volume = volumes.get(file.volume) ?? (await openVolume(resolveInside(folder, file.volume)));
      volumes.set(file.volume, volume);
      const bytes = await readBytes(volume, file);
      await mkdir(fsPath(dirname(place)), { recursive: true });
      await writeWhole(place, bytes, file.mode);
      places.push(place);
    }
  } finally {
    for (const volume of volumes.values()) await volume.close();
  }
  return places;
}

/** Writes a file under another name first, so that one which was cut short never looks whole. */
async function writeWhole(place: string, bytes: Uint8Array, mode: number): Promise<void> {
  const draft = `${place}.${process.pid}.tmp`;
  try {
    await writeFile(draft, bytes);
    await chmod(draft, mode);
    await rename(draft, place);
  } catch (error) {
    await rm(draft, { force: true });
    throw fileError(error, place);
  }
}

async function openVolume(path: string): Promise<FileHandle> {
  return open(path, 'r').catch((error: unknown) => {
    throw fileError(error, path);
  });
}

async function readBytes(
  volume: FileHandle,
  { path, volume: name, offset, size, sha256 }: GatheredFile,
): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let done = 0;
  for (let read = -1; done < size && read !== 0; done += read)
    read = (await volume.read(bytes, done, size - done, offset + done)).bytesRead;
  const found = createHash('sha256').update(bytes).digest('hex');
  if (done < size || found !== sha256)
    throw new MutiraoError('MUT_CONTENT_MISMATCH', `${path} in ${name} has hash ${found}; expected ${sha256}`);
  return bytes;
}

function outputTable(files: readonly GatheredFile[]): string[] {
  if (files.length === 0) return ['Nothing is gathered yet.'];
  return renderTable(
    [
      { title: 'TASK', right: true },
      { title: 'SIZE', right: true },
      { title: 'VOLUME' },
      { title: 'OFFSET', right: true },
      { title: 'PATH' },
    ],
    files.map(({ taskIndex, size, volume, offset, path }) => [
      String(taskIndex),
      showBytes(size),
      volume,
      String(offset),
      JSON.stringify(path).slice(1, -1),
    ]),
  );
}

function gatheredJson(
  { taskIndex, replicaId, path, volume, offset, size, mode, sha256 }: GatheredFile,
  place: string | undefined,
): JsonOf<(typeof shapes)['gathered_output']> {
  return {
    task_index: taskIndex,
    replica_id: replicaId,
    path,
    volume,
    offset_bytes: offset,
    size_bytes: size,
    mode: mode.toString(8).padStart(3, '0'),
    sha256,
    extracted_path: place ?? null,
  };
}
