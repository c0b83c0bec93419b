import { existsSync } from 'node:fs';

import { MutiraoError } from '@mutirao/api/errors';
import type { Content, InputSource, JobSpec, OutputContent, OutputSpec } from '@mutirao/core/messages';
import type { Reason } from '@mutirao/core/reasons';
import { describeError, type JobId, type TaskIndex, type UserId } from '@mutirao/core/shared';
import { fsPath } from '@mutirao/runtime/files';

import type { Records } from '../journal/records.ts';
import { pathOfPlace, getTarget } from '../results/put-in-place.ts';
import type { HomeFiles } from './home-files.ts';
import { groupOfTask, getOrigin, valueOfTask } from './task-of-job.ts';
import { Templates, type FillIn } from './variables.ts';

/** A job of which a task reads what another one wrote. */
export interface ReadingJob {
  readonly jobId: JobId;
  readonly userId: UserId;
  readonly spec: JobSpec;
}

/** A file that a task wrote, as the next one gets it. */
export interface WrittenFile {
  /** Below the output where that is a folder; empty for a file. */
  readonly below: string;
  readonly content: Content;
  readonly mode: number;
}

/** What remains of a task's outputs. */
export interface OutputsThere {
  /** What is wrong with an output at home; undefined if each holds what was written. */
  readonly fault: Reason | undefined;
  /** The paths of outputs without a place at home that are not kept any more. */
  readonly gone: ReadonlySet<string>;
}

/** What is needed to find outputs that are at home. */
export interface TaskOutputsPort {
  readonly records: Pick<Records, 'endingsOf'>;
  readonly homeFiles: Pick<HomeFiles, 'resolve'>;
  /** Whether a user has a content among her blobs. */
  hasBlob(userId: UserId, sha256: string): boolean;
}

type TaskOutput = Extract<InputSource, { kind: 'output' }>;

/**
 * Finds what finished tasks wrote, for those that wait for them: the files of the result that was taken, by their
 * hashes. They are at home by then, as blobs, or at the places that the user named.
 */
export class TaskOutputs {
  readonly #port: TaskOutputsPort;
  readonly #templates = new Templates();

  constructor(port: TaskOutputsPort) {
    this.#port = port;
  }

  /**
   * The files of one output. Cost: one read of the journal.
   *
   * @throws {MutiraoError} MUT_CONTENT_NOT_FOUND where they are gone, MUT_INPUT_CHANGED where the user's place holds
   * something else now.
   */
  async getFiles(job: ReadingJob, { taskIndex, path }: TaskOutput): Promise<WrittenFile[]> {
    const { outputs: specs } = groupOfTask(job.spec, taskIndex);
    const spec = specs.find((one) => one.path === path);
    // What readers name has no condition, so that positions are those of the group.
    const written = this.#acceptedOutputs(job, taskIndex).filter(({ outputIndex }) => specs[outputIndex] === spec);
    if (spec === undefined || written.length === 0)
      throw new MutiraoError(
        'MUT_CONTENT_NOT_FOUND',
        `task ${taskIndex} of job ${job.jobId} has written no ${path}, by its records`,
      );
    const fillIn = this.#fillInFor(job, taskIndex);
    return await Promise.all(
      written.map(async (output) => {
        await this.#requireHere(job, output, { spec, fillIn });
        return { below: output.path, content: output.content, mode: output.mode };
      }),
    );
  }

  /**
   * Sees whether what a finished task wrote is still there, each output as it was. Cost: one read of the journal, and
   * of files that changed since.
   */
  async lookAt(job: ReadingJob, taskIndex: TaskIndex): Promise<OutputsThere> {
    const { outputs: specs } = groupOfTask(job.spec, taskIndex);
    const gone = new Set<string>();
    if (specs.some(({ condition }) => condition !== '')) return { fault: { code: 'rerun-outputs-conditional' }, gone };
    const written = specs.length === 0 ? [] : this.#acceptedOutputs(job, taskIndex);
    for (const [position, spec] of specs.entries()) {
      if (job.spec.workFolder !== undefined && spec.root === 'playpen') {
        const place = this.#fillInFor(job, taskIndex)(spec.localPath);
        if (!existsSync(fsPath(place.path))) return { fault: { code: 'rerun-output-missing', path: place.path }, gone };
        continue;
      }
      const fault = await this.#findLoss(job, {
        taskIndex,
        spec,
        written: written.filter(({ outputIndex }) => outputIndex === position),
      });
      if (fault !== undefined && spec.localPath !== '') return { fault, gone };
      if (fault !== undefined) gone.add(spec.path);
    }
    return { fault: undefined, gone };
  }

  async #findLoss(
    job: ReadingJob,
    {
      taskIndex,
      spec,
      written,
    }: { readonly taskIndex: TaskIndex; readonly spec: OutputSpec; readonly written: readonly OutputContent[] },
  ): Promise<Reason | undefined> {
    const path = spec.localPath === '' ? spec.path : spec.localPath;
    if (written.length === 0) return { code: 'rerun-output-unrecorded', path };
    const fillIn = this.#fillInFor(job, taskIndex);
    try {
      for (const output of written) await this.#requireHere(job, output, { spec, fillIn });
      return undefined;
    } catch (error) {
      const isChanged = error instanceof MutiraoError && error.code === 'MUT_INPUT_CHANGED';
      return { code: isChanged ? 'rerun-output-changed' : 'rerun-output-missing', path };
    }
  }

  #fillInFor({ jobId, spec }: ReadingJob, taskIndex: TaskIndex): FillIn {
    return this.#templates.fillIn(
      { taskIndex, value: valueOfTask(spec, taskIndex) },
      { jobId, machineId: '', attributes: {} },
    );
  }

  /** A task that ran again after its result was doubted has two; the later one counts. */
  #acceptedOutputs({ jobId, spec }: ReadingJob, taskIndex: number): readonly OutputContent[] {
    const origin = getOrigin(spec, { jobId, taskIndex });
    const records =
      this.#port.records.endingsOf(origin.jobId, origin.taskIndex, origin.taskIndex).get(origin.taskIndex) ?? [];
    return records.findLast(({ disposition }) => disposition === 'accepted')?.outputs ?? [];
  }

  async #requireHere(
    { userId }: ReadingJob,
    output: OutputContent,
    { spec, fillIn }: { readonly spec: OutputSpec; readonly fillIn: FillIn },
  ): Promise<void> {
    const { sha256 } = output.content;
    if (spec.localPath === '') {
      if (this.#port.hasBlob(userId, sha256)) return;
      throw new MutiraoError(
        'MUT_CONTENT_NOT_FOUND',
        `content ${sha256}, which was written as ${spec.path}, is not here any more`,
      );
    }
    const target = await findTarget(spec, output, fillIn);
    const [file] = await this.#port.homeFiles.resolve({ path: target, machineFrom: undefined });
    if (file?.content.sha256 !== sha256)
      throw new MutiraoError(
        'MUT_INPUT_CHANGED',
        `${target} is not what was written there for the tasks that wait for it`,
      );
  }
}

/**
 * @throws {MutiraoError} MUT_CONTENT_NOT_FOUND where the place depends on the machine that wrote it, which is not known
 * any more.
 */
async function findTarget(spec: OutputSpec, { path }: OutputContent, fillIn: FillIn): Promise<string> {
  try {
    return pathOfPlace(await getTarget({ place: fillIn(spec.localPath), remote: fillIn(spec.path), below: path }));
  } catch (error) {
    throw new MutiraoError(
      'MUT_CONTENT_NOT_FOUND',
      `cannot find out where ${spec.localPath} is: ${describeError(error)}`,
      { cause: error },
    );
  }
}
