import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';

import { MutiraoError } from '@mutirao/api/errors';
import type { OutputContent } from '@mutirao/core/messages';
import type { Duration, JobId, ReplicaId, TaskIndex } from '@mutirao/core/shared';

import { Semaphore } from '../concurrency/semaphore.ts';
import { Templates } from '../staging/variables.ts';
import type { Arrivals } from './arrivals.ts';
import { checkAside } from './check-aside.ts';
import type { ResultOrder } from './result-order.ts';

/** Where what a replica brought is found. */
export interface DigestSources {
  readonly arrivals: Arrivals;
  /** Where folders for checks are made; on the file system of the arrivals where copies are to be cheap. */
  readonly folder: string;
  /** What a replica wrote to standard output, as it is on record. */
  standardOutputOf(jobId: JobId, taskIndex: TaskIndex, replicaId: ReplicaId): Uint8Array;
}

/** Says of a result what it is, so that it can be compared with those of other machines. */
export class ResultDigester {
  readonly #sources: DigestSources;
  readonly #checking: Semaphore;
  readonly #checkDeadline: Duration;
  readonly #ending: { readonly ending?: AbortSignal };
  readonly #templates = new Templates();

  constructor(sources: DigestSources, bounds: { readonly checksMax: number; readonly checkDeadline: Duration; readonly ending?: AbortSignal }) {
    this.#sources = sources;
    this.#checking = new Semaphore(bounds.checksMax);
    this.#checkDeadline = bounds.checkDeadline;
    this.#ending = bounds.ending === undefined ? {} : { ending: bounds.ending };
  }

  /**
   * Resolves to what the check prints, where there is one and it prints something; else to the outputs' paths and contents; else,
   * where the task has no outputs, to what it wrote to standard output; a SHA-256 in each case. Modes and times of files do not count.
   *
   * The check runs in a folder of its own which holds this result's outputs where they would be below the job's home directory. Nothing
   * at home is touched. Safe to do again after a crash.
   * @throws {MutiraoError} MUT_CHECK_FAILED, MUT_CONTENT_NOT_FOUND for an output that did not arrive, MUT_CONTENT_MISMATCH for one
   * whose bytes were not those that were announced.
   */
  async digest(order: ResultOrder): Promise<string> {
    for (const output of order.outputs) await this.#demandArrived(order, output);
    if (order.check !== '') {
      const { arrivals, folder } = this.#sources;
      const said = await this.#checking.run(() => checkAside(order, { placeOf: (output) => Promise.resolve(arrivals.pathOf(order, output)), folder, deadline: this.#checkDeadline, templates: this.#templates, ...this.#ending }));
      if (said.length > 0) return hashOf('check', said);
    }
    if (order.outputSpecs.length > 0) return hashOf('outputs', JSON.stringify(order.outputs.map((output) => describe(order, output)).sort()));
    return hashOf('standard output', this.#sources.standardOutputOf(order.jobId, order.taskIndex, order.replicaId));
  }

  async #demandArrived(order: ResultOrder, output: OutputContent): Promise<void> {
    const { arrivals } = this.#sources;
    const path = arrivals.pathOf(order, output);
    if (await stat(path).then(() => true, () => false)) return;
    const name = `output ${describe(order, output)} of r${order.replicaId}`;
    if (arrivals.isMismatched(path)) throw new MutiraoError('MUT_CONTENT_MISMATCH', `${name} came with other bytes than ${order.machineId} announced`);
    throw new MutiraoError('MUT_CONTENT_NOT_FOUND', `${name} is not here`);
  }
}

function describe({ outputSpecs }: ResultOrder, { outputIndex, path, content }: OutputContent): string {
  return JSON.stringify([outputSpecs[outputIndex]?.path ?? '', path, content.sha256]);
}

function hashOf(kind: string, bytes: Uint8Array | string): string {
  return createHash('sha256').update(`${kind}\0`).update(bytes).digest('hex');
}
