import { stat } from 'node:fs/promises';

import { MutiraoError } from '@mutirao/api/errors';
import { parseCommand, renderCommand } from '@mutirao/core/bag';
import type { Content, OutputContent, OutputSpec } from '@mutirao/core/messages';
import { fsPath } from '@mutirao/runtime/files';
import type { Duration, UserId } from '@mutirao/core/shared';

import { Semaphore } from '../concurrency/semaphore.ts';
import type { Gatherer } from '../gathering/gatherer.ts';
import type { FileToGather } from '../gathering/job-volumes.ts';
import { getProcessor, Templates, type FillIn } from '../staging/variables.ts';
import type { Arrivals } from './arrivals.ts';
import { below as belowFolder, checkAside } from './check-aside.ts';
import type { Checks } from './checks.ts';
import {
  pathOfPlace,
  placeBelow,
  placeOfPath,
  putInPlace,
  getTarget,
  type Place,
  type Placing,
  type Wanted,
} from './put-in-place.ts';
import { findSpec, type ResultOrder } from './result-order.ts';
import { runCheck } from './run-check.ts';

/** Where outputs come from and where those without a place at home stay. */
export interface ResultStores {
  readonly arrivals: Arrivals;
  /** The place of an output that is kept as a blob of its user's. */
  getBlobPath(userId: UserId, sha256: string): string;
  hashFile(path: string): Promise<Content>;
  /** Folders and files that no output goes into or replaces; left out where there are none. See `Placing`. */
  readonly forbidden?: readonly string[];
  /** Called for outputs that are blobs now and were not before. */
  onNewBlob?(order: ResultOrder, spec: OutputSpec, sha256: string): void;
}

/** What brings outputs together in few files, and where checks run for them. */
export interface GatheredResults {
  readonly gatherer: Pick<Gatherer, 'gather' | 'holds'>;
  /** See `CheckingAside`. */
  readonly checksFolder: string;
}

/** Bounds on the work of bringing results home. */
export interface ResultBounds {
  readonly placingsMax: number;
  readonly checks: Checks;
  readonly checkDeadline: Duration;
}

/** Brings results home: outputs to their places, then the task's check. */
export class ResultAcceptor {
  readonly #stores: ResultStores;
  readonly #placing: Semaphore;
  readonly #checking: Checks;
  readonly #checkDeadline: Duration;
  readonly #templates = new Templates();
  readonly #gathered: GatheredResults;

  constructor(stores: ResultStores, gathered: GatheredResults, bounds: ResultBounds) {
    this.#stores = stores;
    this.#gathered = gathered;
    this.#placing = new Semaphore(bounds.placingsMax);
    this.#checking = bounds.checks;
    this.#checkDeadline = bounds.checkDeadline;
  }

  /**
   * Resolves when all outputs are in their places and the check passed.
   *
   * Outputs to archive are checked first, outside the archive, since nothing is removed from an archive. Safe to do
   * again after a crash as long as the arrived files exist.
   *
   * @throws {MutiraoError} MUT_CONTENT_NOT_FOUND for bytes that did not arrive, MUT_CONTENT_MISMATCH for others than
   * the machine announced, MUT_OUTPUT_FORBIDDEN, MUT_PATH_ESCAPES, MUT_UNSAFE_ATTRIBUTE or MUT_CHECK_FAILED.
   */
  async accept(order: ResultOrder): Promise<void> {
    try {
      await this.#accept(order);
    } catch (error) {
      throw isNotFound(error) ? await this.#explainMissing(order, error) : error;
    }
  }

  /** Names the output that did not arrive, and says whether its machine sent other bytes. */
  async #explainMissing(order: ResultOrder, error: MutiraoError): Promise<MutiraoError> {
    const { arrivals } = this.#stores;
    for (const output of order.outputs) {
      if (await isThere(arrivals.getPath(order, output))) continue;
      const found = arrivals.explainMissing(
        order,
        output,
        `output ${describeOutput(order, output)} of r${order.replicaId}`,
      );
      if (!isNotFound(found)) return found;
    }
    return error;
  }

  async #accept(order: ResultOrder): Promise<void> {
    const fillIn = this.#templates.fillIn(order, order);
    if (order.gatherFolder !== undefined) {
      await this.#gather(order, order.gatherFolder, fillIn);
      return;
    }
    if (order.outputs.length > 0) await this.#placing.run(() => this.#placeAll(order, fillIn));
    if (order.check !== '') await this.#checking.run(order, (signal) => this.#check(order, signal));
  }

  /**
   * Puts the outputs of a failed task next to their places, marked: `NAME.failed`. Those without a place are kept as
   * blobs. Nothing is checked.
   *
   * @throws {MutiraoError} MUT_OUTPUT_FORBIDDEN, MUT_PATH_ESCAPES or MUT_CONTENT_NOT_FOUND; others of its outputs may
   * be in place.
   */
  async keepFailed(order: ResultOrder): Promise<void> {
    const fillIn = this.#templates.fillIn(order, order);
    for (const output of order.outputs) {
      const spec = order.outputSpecs[output.outputIndex];
      if (spec === undefined) continue;
      const source = this.#stores.arrivals.getPath(order, output);
      if (spec.localPath === '') {
        const blob = placeOfPath(this.#stores.getBlobPath(order.userId, output.content.sha256));
        await this.#placing.run(() => putInPlace({ source, place: blob, mode: output.mode, isShared: true }));
        continue;
      }
      const place = await getFailedPlace({
        place: fillIn(spec.localPath),
        remote: fillIn(spec.path),
        below: output.path,
      });
      await this.#placing.run(() => this.#put({ source, place, mode: output.mode, isShared: true }));
    }
  }

  async #gather(order: ResultOrder, folder: string, fillIn: FillIn): Promise<void> {
    const { gatherer } = this.#gathered;
    const job = { jobId: order.jobId, folder };
    const blobs: OutputContent[] = [];
    const files: FileToGather[] = [];
    for (const output of order.outputs) {
      if (isBlob(order, output)) blobs.push(output);
      else files.push(await this.#fileToGather(order, output, fillIn));
    }
    const result = { taskIndex: order.taskIndex, replicaId: order.replicaId, files };
    // What is gathered has passed its check, and is not among the arrivals any more.
    if (order.check !== '' && (files.length === 0 || !(await gatherer.holds(job, result))))
      await this.#checkAside(order);
    if (files.length > 0) await gatherer.gather(job, result);
    for (const { source } of files) this.#stores.arrivals.forget(source);
    if (blobs.length > 0) await this.#placing.run(() => this.#placeAll({ ...order, outputs: blobs }, fillIn));
  }

  async #checkAside(order: ResultOrder): Promise<void> {
    const { checksFolder: folder } = this.#gathered;
    const { arrivals, getBlobPath } = this.#stores;
    const placeOf = async (output: OutputContent): Promise<string> => {
      const source = arrivals.getPath(order, output);
      // A blob may have come to its place before a crash.
      return isBlob(order, output) && !(await isThere(source))
        ? getBlobPath(order.userId, output.content.sha256)
        : source;
    };
    await this.#checking.run(order, (signal) =>
      checkAside(order, { placeOf, folder, deadline: this.#checkDeadline, signal, templates: this.#templates }),
    );
  }

  async #fileToGather(order: ResultOrder, output: OutputContent, fillIn: FillIn): Promise<FileToGather> {
    const spec = findSpec(order, output);
    const target = pathOfPlace(await this.#placeOf(order, spec, output, fillIn));
    const path = belowFolder(order.homeDirectory, target);
    if (path === undefined)
      throw new MutiraoError(
        'MUT_PATH_ESCAPES',
        `${target} is not below ${order.homeDirectory}; expected a path below it for an output that is gathered`,
      );
    const { arrivals } = this.#stores;
    const source = arrivals.getPath(order, output);
    return {
      source,
      bytes: arrivals.getBytes(source),
      path,
      size: output.content.size,
      mode: output.mode,
      sha256: output.content.sha256,
    };
  }

  async #placeAll(order: ResultOrder, fillIn: FillIn): Promise<void> {
    const sources = order.outputs.map((output) => this.#stores.arrivals.getPath(order, output));
    const newBlobs = new Map<string, OutputSpec>();
    for (const [index, output] of order.outputs.entries()) {
      const source = sources[index] as string;
      const spec = findSpec(order, output);
      const isShared = sources.includes(source, index + 1);
      const place = await this.#placeOf(order, spec, output, fillIn);
      const target = pathOfPlace(place);
      if (await this.#isInPlace(source, target, output)) continue;
      const isBlob = spec.localPath === '';
      if (isBlob && !(await isThere(target))) newBlobs.set(output.content.sha256, spec);
      const placing = { source, place, mode: output.mode, isShared };
      await (isBlob ? putInPlace(placing) : this.#put(placing));
    }
    for (const [sha256, spec] of newBlobs) this.#stores.onNewBlob?.(order, spec, sha256);
    for (const source of sources) this.#stores.arrivals.forget(source);
  }

  /**
   * Before a crash a part of the outputs may have come to their places; these are there, and not among the arrivals.
   */
  async #isInPlace(source: string, target: string, { content }: OutputContent): Promise<boolean> {
    if ((await isThere(source)) || !(await isThere(target))) return false;
    // A file that cannot be read is not known to be the output, whose bytes are gone then.
    const found = await this.#stores.hashFile(target).catch(() => undefined);
    return found?.sha256 === content.sha256;
  }

  async #placeOf({ userId }: ResultOrder, spec: OutputSpec, output: OutputContent, fillIn: FillIn): Promise<Place> {
    if (spec.localPath === '') return placeOfPath(this.#stores.getBlobPath(userId, output.content.sha256));
    return await getTarget({ place: fillIn(spec.localPath), remote: fillIn(spec.path), below: output.path });
  }

  /** Puts an output where its user wants it. */
  async #put(placing: Placing): Promise<void> {
    await putInPlace({ ...placing, forbidden: this.#stores.forbidden ?? [] });
  }

  async #check(order: ResultOrder, signal: AbortSignal): Promise<void> {
    const proc = getProcessor(this.#templates.fillIn(order, order), order);
    await runCheck({
      command: renderCommand(parseCommand(order.check), order.value, order.taskIndex),
      homeDirectory: order.homeDirectory,
      environment: {
        JOB: String(order.jobId),
        TASK: String(order.taskIndex),
        PROC: proc,
        VALUE: order.value,
        REPLICA: String(order.replicaId),
        JOB_HOME: order.homeDirectory,
      },
      deadline: this.#checkDeadline,
      signal,
    });
  }
}

/** The mark is on the output itself, of a folder on the folder. */
async function getFailedPlace(wanted: Wanted): Promise<Place> {
  if (wanted.below !== '')
    return await getTarget({
      ...wanted,
      place: { ...wanted.place, path: `${wanted.place.path.replace(/\/+$/, '')}.failed` },
    });
  const { folder, names } = await getTarget(wanted);
  return placeBelow(folder, names.with(-1, `${names.at(-1)}.failed`));
}

function isNotFound(error: unknown): error is MutiraoError {
  return error instanceof MutiraoError && error.code === 'MUT_CONTENT_NOT_FOUND';
}

/** An output as people know it: its path on the machine, and of a folder that of the file within. */
function describeOutput({ outputSpecs }: ResultOrder, { outputIndex, path }: OutputContent): string {
  return [outputSpecs[outputIndex]?.path ?? '', path].filter((part) => part !== '').join('/');
}

function isBlob(order: ResultOrder, { outputIndex }: OutputContent): boolean {
  return order.outputSpecs[outputIndex]?.localPath === '';
}

async function isThere(path: string): Promise<boolean> {
  return await stat(fsPath(path)).then(
    (status) => status.isFile(),
    () => false,
  );
}
