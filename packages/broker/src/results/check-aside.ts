import { mkdir, mkdtemp } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { keepInside, parseCommand, renderCommand } from '@mutirao/core/bag';
import type { OutputContent, OutputSpec } from '@mutirao/core/messages';
import type { Duration } from '@mutirao/core/shared';
import { removeTreeLater } from '@mutirao/runtime/files';

import { getProcessor, type FillIn, type Templates } from '../staging/variables.ts';
import { namesBelow, pathOfPlace, placeBelow, putInPlace, getTarget } from './put-in-place.ts';
import { findSpec, type ResultOrder } from './result-order.ts';
import { runCheck } from './run-check.ts';

/** What a check aside needs. */
export interface CheckingAside {
  /** Where the bytes of an output are. */
  placeOf(output: OutputContent): Promise<string>;
  /** Folder for checks; copies are cheap if it is on the file system of the arrivals. */
  readonly folder: string;
  readonly deadline: Duration;
  /** Ends the check. */
  readonly signal: AbortSignal;
  readonly templates: Templates;
}

/**
 * Runs a task's check in a folder of its own, which holds this result's outputs where they would be below the job's
 * home directory;
 * resolves to what it prints. Nothing at home is touched.
 *
 * @throws {MutiraoError} MUT_CHECK_FAILED; MUT_CONTENT_NOT_FOUND when the bytes of an output are gone;
 * MUT_OUTPUT_FORBIDDEN where two outputs are in each other's way;
 * MUT_PATH_ESCAPES or MUT_UNSAFE_ATTRIBUTE for an output that would leave that folder.
 */
export async function checkAside(
  order: ResultOrder,
  { placeOf, folder: parent, deadline, signal, templates }: CheckingAside,
): Promise<Uint8Array> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(parent, 'check-'));
  try {
    const fillIn = templates.fillIn(order, order);
    for (const output of order.outputs) await copy(order, output, { source: await placeOf(output), folder, fillIn });
    return await runCheck({
      command: renderCommand(parseCommand(order.check), order.value, order.taskIndex),
      homeDirectory: folder,
      deadline,
      signal,
      environment: {
        JOB: String(order.jobId),
        TASK: String(order.taskIndex),
        PROC: getProcessor(fillIn, order),
        VALUE: order.value,
        REPLICA: String(order.replicaId),
        JOB_HOME: order.homeDirectory,
      },
    });
  } finally {
    await removeTreeLater(folder); // What stays is removed when the next broker starts.
  }
}

interface Copying {
  readonly source: string;
  readonly folder: string;
  readonly fillIn: FillIn;
}

async function copy(order: ResultOrder, output: OutputContent, { source, folder, fillIn }: Copying): Promise<void> {
  const spec = findSpec(order, output);
  await putInPlace({
    source,
    place: placeBelow(folder, await namesAside(order, output, { spec, fillIn })),
    mode: output.mode | 0o600,
    isShared: true,
  });
}

/**
 * The names on the way to an output's copy: those on the way to its place from the home directory, where that is below
 * it, else those that it has on the machine.
 */
async function namesAside(
  { homeDirectory }: ResultOrder,
  { path: inside }: OutputContent,
  { spec, fillIn }: { readonly spec: OutputSpec; readonly fillIn: FillIn },
): Promise<string[]> {
  const remote = fillIn(spec.path);
  if (spec.localPath !== '') {
    const way = below(
      homeDirectory,
      pathOfPlace(await getTarget({ place: fillIn(spec.localPath), remote, below: inside })),
    );
    if (way !== undefined) return namesBelow(way, homeDirectory);
  }
  const kept = keepInside(remote.path);
  if (kept === undefined)
    throw new MutiraoError('MUT_PATH_ESCAPES', `${JSON.stringify(remote.path)} leads out of its root`);
  return [...(kept === '.' ? [] : kept.split('/')), ...(inside === '' ? [] : namesBelow(inside, kept))];
}

/** The way from a folder down to a path; undefined where it leads out. */
export function below(folder: string, path: string): string | undefined {
  const way = relative(folder, path);
  return way === '' || way === '..' || way.startsWith('../') || isAbsolute(way) ? undefined : way;
}
