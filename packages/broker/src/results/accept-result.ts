import { stat } from 'node:fs/promises';

import { renderCommand, parseTemplate } from '@mutirao/core/bag';
import type { Content, OutputContent, OutputSpec } from '@mutirao/core/messages';
import { invariant, type Duration, type ReplicaId, type TaskIndex, type UserId } from '@mutirao/core/shared';

import { Templates, type FillIn, type Place } from '../staging/variables.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import type { Arrivals } from './arrivals.ts';
import { putInPlace, targetOf } from './put-in-place.ts';
import { runCheck } from './run-check.ts';

/** A replica's result, and what bringing it home needs to know of its task. */
export interface ResultOrder extends Place {
  readonly replicaId: ReplicaId;
  /** Whose job it is. */
  readonly userId: UserId;
  readonly taskIndex: TaskIndex;
  readonly value: string;
  readonly homeDirectory: string;
  /** Each `outputIndex` is a position in `outputSpecs`. */
  readonly outputs: readonly OutputContent[];
  readonly outputSpecs: readonly OutputSpec[];
  readonly check: string;
}

/** Where outputs come from and where those without a place at home stay. */
export interface ResultStores {
  readonly arrivals: Arrivals;
  /** The place of an output that is kept as a blob of its user's. */
  blobPathOf(userId: UserId, sha256: string): string;
  hashFile(path: string): Promise<Content>;
}

/** Bounds on the work of bringing results home. */
export interface ResultBounds {
  readonly placingsMax: number;
  readonly checksMax: number;
  readonly checkDeadline: Duration;
}

/** Brings results home: outputs to their places, then the task's check. */
export class ResultAcceptor {
  readonly #stores: ResultStores;
  readonly #placing: Semaphore;
  readonly #checking: Semaphore;
  readonly #checkDeadline: Duration;
  readonly #templates = new Templates();

  constructor(stores: ResultStores, bounds: ResultBounds) {
    this.#stores = stores;
    this.#placing = new Semaphore(bounds.placingsMax);
    this.#checking = new Semaphore(bounds.checksMax);
    this.#checkDeadline = bounds.checkDeadline;
  }

  /**
   * Resolves when all outputs are in their places and the check passed.
   *
   * Safe to do again after a crash as long as the arrived files are there.
   * @throws {MutiraoError} MUT_CONTENT_NOT_FOUND, MUT_OUTPUT_FORBIDDEN, MUT_PATH_ESCAPES or MUT_CHECK_FAILED.
   */
  async accept(order: ResultOrder): Promise<void> {
    const fillIn = this.#templates.fillIn(order, order);
    if (order.outputs.length > 0) await this.#placing.run(() => this.#placeAll(order, fillIn));
    if (order.check !== '') await this.#checking.run(() => this.#check(order));
  }

  async #placeAll(order: ResultOrder, fillIn: FillIn): Promise<void> {
    const sources = order.outputs.map((output) => this.#stores.arrivals.pathOf(order, output));
    for (const [index, output] of order.outputs.entries()) {
      const source = sources[index] as string;
      const spec = order.outputSpecs[output.outputIndex];
      invariant(spec, `output ${output.outputIndex} of a task that has ${order.outputSpecs.length}`);
      const isShared = sources.includes(source, index + 1);
      const target = await this.#targetOf(order, spec, output, fillIn);
      if (await this.#isInPlace(source, target, output)) continue;
      await putInPlace({ source, target, mode: output.mode, isShared });
    }
  }

  /** Before a crash a part of the outputs may have come to their places; these are there, and not among the arrivals. */
  async #isInPlace(source: string, target: string, { content }: OutputContent): Promise<boolean> {
    if (await isThere(source) || !(await isThere(target))) return false;
    const found = await this.#stores.hashFile(target);
    return found.sha256 === content.sha256;
  }

  async #targetOf({ userId }: ResultOrder, spec: OutputSpec, output: OutputContent, fillIn: FillIn): Promise<string> {
    if (spec.localPath === '') return this.#stores.blobPathOf(userId, output.content.sha256);
    return await targetOf(fillIn(spec.localPath), fillIn(spec.path), output.path);
  }

  async #check(order: ResultOrder): Promise<void> {
    const proc = this.#templates.fillIn(order, order)('$PROC');
    await runCheck({
      command: renderCommand(parseTemplate(order.check), order.value, order.taskIndex),
      homeDirectory: order.homeDirectory,
      environment: { JOB: String(order.jobId), TASK: String(order.taskIndex), PROC: proc, VALUE: order.value, REPLICA: String(order.replicaId), JOB_HOME: order.homeDirectory },
      deadline: this.#checkDeadline,
    });
  }
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then((status) => status.isFile(), () => false);
}
