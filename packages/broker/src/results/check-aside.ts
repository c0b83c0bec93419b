import { mkdir, mkdtemp } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';

import { parseCommand, renderCommand } from '@mutirao/core/bag';
import type { OutputContent } from '@mutirao/core/messages';
import { invariant, type Duration } from '@mutirao/core/shared';
import { removeTreeLater } from '@mutirao/runtime/files';

import type { FillIn, Templates } from '../staging/variables.ts';
import { putInPlace, targetOf } from './put-in-place.ts';
import type { ResultOrder } from './result-order.ts';
import { runCheck } from './run-check.ts';

/** What a check aside needs. */
export interface CheckingAside {
  /** Where the bytes of an output are. */
  placeOf(output: OutputContent): Promise<string>;
  /** Where folders for checks are made; on the file system of the arrivals where copies are to be cheap. */
  readonly folder: string;
  readonly deadline: Duration;
  /** Ends the check. */
  readonly signal: AbortSignal;
  readonly templates: Templates;
}

/**
 * Runs a task's check in a folder of its own, which holds this result's outputs where they would be below the job's home directory;
 * resolves to what it prints. Nothing at home is touched.
 *
 * @throws {MutiraoError} MUT_CHECK_FAILED; MUT_CONTENT_NOT_FOUND when the bytes of an output are gone; MUT_OUTPUT_FORBIDDEN where two outputs are in each other's way.
 */
export async function checkAside(order: ResultOrder, { placeOf, folder: parent, deadline, signal, templates }: CheckingAside): Promise<Uint8Array> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(parent, 'check-'));
  try {
    const fillIn = templates.fillIn(order, order);
    for (const output of order.outputs) await copy(order, output, { source: await placeOf(output), folder, fillIn });
    return await runCheck({
      command: renderCommand(parseCommand(order.check), order.value, order.taskIndex), homeDirectory: folder, deadline, signal,
      environment: {
        JOB: String(order.jobId), TASK: String(order.taskIndex), PROC: fillIn('$PROC'), VALUE: order.value, REPLICA: String(order.replicaId),
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
  const spec = order.outputSpecs[output.outputIndex];
  invariant(spec, `output ${output.outputIndex} of a task that has ${order.outputSpecs.length}`);
  const path = fillIn(spec.path);
  const target = spec.localPath === '' ? join(order.homeDirectory, path, output.path) : await targetOf(fillIn(spec.localPath), path, output.path);
  const place = join(folder, below(order.homeDirectory, target) ?? join(path, output.path));
  await putInPlace({ source, target: place, mode: output.mode | 0o600, isShared: true });
}

/** The way from a folder down to a path; undefined where it leads out. */
export function below(folder: string, path: string): string | undefined {
  const way = relative(folder, path);
  return way === '' || way === '..' || way.startsWith('../') || isAbsolute(way) ? undefined : way;
}
