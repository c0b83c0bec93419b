import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';

import type { OutputContent } from '@mutirao/core/messages';
import type { Duration, JobId, ReplicaId, TaskIndex } from '@mutirao/core/shared';

import { Templates } from '../staging/variables.ts';
import type { Arrivals } from './arrivals.ts';
import { checkAside } from './check-aside.ts';
import type { Checks } from './checks.ts';
import type { ResultOrder } from './result-order.ts';

/** Where what a replica brought is found. */
export interface DigestSources {
  readonly arrivals: Arrivals;
  /** Folder for checks; copies are cheap if it is on the file system of the arrivals. */
  readonly folder: string;
  /** What a replica wrote to standard output, as it is on record. */
  standardOutputOf(jobId: JobId, taskIndex: TaskIndex, replicaId: ReplicaId): Uint8Array;
}

/** Says of a result what it is, so that it can be compared with those of other machines. */
export class ResultDigester {
  readonly #sources: DigestSources;
  readonly #checking: Checks;
  readonly #checkDeadline: Duration;
  readonly #templates = new Templates();

  constructor(sources: DigestSources, bounds: { readonly checks: Checks; readonly checkDeadline: Duration }) {
    this.#sources = sources;
    this.#checking = bounds.checks;
    this.#checkDeadline = bounds.checkDeadline;
  }

  /**
   * Resolves to what the check prints, where there is one and it prints something; else to the outputs' paths and
   * contents; else, where the task has no outputs, to what it wrote to standard output; a SHA-256 in each case. Modes
   * and times of files do not count.
   *
   * The check runs in a folder of its own which holds this result's outputs where they would be below the job's home
   * directory. Nothing at home is touched. Safe to do again after a crash.
   * @throws {MutiraoError} MUT_CHECK_FAILED, MUT_CONTENT_NOT_FOUND for an output that did not arrive,
   * MUT_CONTENT_MISMATCH for one whose bytes were not those that were announced.
   */
  async digest(order: ResultOrder): Promise<string> {
    for (const output of order.outputs) await this.#requireArrived(order, output);
    if (order.check !== '') {
      const { arrivals, folder } = this.#sources;
      const said = await this.#checking.run(order, (signal) =>
        checkAside(order, {
          placeOf: (output) => Promise.resolve(arrivals.getPath(order, output)),
          folder,
          deadline: this.#checkDeadline,
          signal,
          templates: this.#templates,
        }),
      );
      if (said.length > 0) return getHash('check', said);
    }
    if (order.outputSpecs.length > 0)
      return getHash('outputs', JSON.stringify(order.outputs.map((output) => describe(order, output)).sort()));
    return getHash('standard output', this.#sources.standardOutputOf(order.jobId, order.taskIndex, order.replicaId));
  }

  async #requireArrived(order: ResultOrder, output: OutputContent): Promise<void> {
    const { arrivals } = this.#sources;
    const path = arrivals.getPath(order, output);
    if (
      await stat(path).then(
        () => true,
        () => false,
      )
    )
      return;
    throw arrivals.explainMissing(order, output, `output ${describe(order, output)} of r${order.replicaId}`);
  }
}

function describe({ outputSpecs }: ResultOrder, { outputIndex, path, content }: OutputContent): string {
  return JSON.stringify([outputSpecs[outputIndex]?.path ?? '', path, content.sha256]);
}

function getHash(kind: string, bytes: Uint8Array | string): string {
  return createHash('sha256').update(`${kind}\0`).update(bytes).digest('hex');
}
