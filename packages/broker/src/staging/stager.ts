import { MutiraoError } from '@mutirao/api/errors';
import { keepInside, type FilledPath } from '@mutirao/core/bag';
import {
  withMemory,
  getRequest,
  outputsRead,
  type OutputsRead,
  type DispatchedStart,
} from '@mutirao/core/machines/broker';
import type {
  Content,
  GangMembership,
  InputFile,
  InputSpec,
  JobSpec,
  OutputFile,
  ReplicaStart,
  StartReplicas,
  TaskGroup,
} from '@mutirao/core/messages';
import { evaluate, parseRequirements } from '@mutirao/core/requirements';
import {
  type Bytes,
  invariant,
  type JobId,
  type MachineId,
  type ProcessorCount,
  type ProviderId,
  type ReplicaId,
  type TaskIndex,
  type UserId,
} from '@mutirao/core/shared';
import { describeWorkFolder } from '@mutirao/runtime/files';

import { requireUnchanged } from './fingerprint.ts';
import type { HomeFile } from './home-file.ts';
import { getInputFile, type HomeFiles } from './home-files.ts';
import type { TaskOutputs } from './task-outputs.ts';
import { Templates, valueAt, type FillIn } from './variables.ts';

/** Replicas of one task group for one machine, and what staging needs to know of both. */
export interface StageOrder {
  readonly jobId: JobId;
  readonly userId: UserId;
  readonly spec: JobSpec;
  readonly groupIndex: number;
  /** Index of the group's first task. */
  readonly groupFirst: TaskIndex;
  /** Empty for a lease, whose machines are not known yet. */
  readonly machineId: MachineId;
  /** Whose lease it is; left out for what a machine is sent. */
  readonly providerId?: ProviderId;
  readonly attributes: Readonly<Record<string, string>>;
  /** For machines that may share our file system; left out where we share none. */
  readonly homeChallenge?: string;
  readonly dropProof?: string;
  /** What each replica holds; left out, as many as its task takes at least. */
  readonly processors?: ProcessorCount;
  /** By which alternative of its group; left out for its first request. */
  readonly alternative?: number;
  /** What each holds of memory; left out, what its group says. */
  readonly memory?: Bytes;
  readonly starts: readonly DispatchedStart[];
  /** If its one replica is a member of a gang: its rank and processors. */
  readonly gang?: { readonly place: GangMembership; readonly processors: ProcessorCount };
}

/** A replica that cannot be sent, and why. */
export interface Unstartable {
  readonly replicaId: ReplicaId;
  readonly reason: string;
  readonly detail: string;
}

/** A batch as its machine gets it, and apart from it the replicas that cannot be sent. */
export interface StagedBatch {
  readonly batch: StartReplicas;
  readonly unstartable: readonly Unstartable[];
  /** What the paths at home stood for that inputs came from. */
  readonly sources: readonly { readonly path: string; readonly contents: readonly Content[] }[];
}

/** Sources of one batch that were looked at already. */
type SeenSources = Map<string, Promise<HomeFile[]>>;

/**
 * Turns a placed batch into what its machine gets: values, and inputs and outputs with their variables and conditions
 * resolved.
 */
export class Stager {
  readonly #homeFiles: HomeFiles;
  readonly #home: string;
  readonly #taskOutputs: Pick<TaskOutputs, 'getFiles'>;
  readonly #templates = new Templates();
  readonly #read = new WeakMap<JobSpec, OutputsRead>();

  /** @param home the home folder, for jobs that work in a folder of home. */
  constructor(homeFiles: HomeFiles, taskOutputs: Pick<TaskOutputs, 'getFiles'>, home = '/') {
    this.#homeFiles = homeFiles;
    this.#home = home;
    this.#taskOutputs = taskOutputs;
  }

  /**
   * Stages a batch: at once where its tasks read no file, otherwise when all its inputs have been looked at. Never
   * rejects.
   */
  stage(order: StageOrder): StagedBatch | Promise<StagedBatch> {
    const group = groupOf(order);
    if (order.spec.workFolder !== undefined) return this.#stageInFolder(order, group, order.spec.workFolder);
    if (group.inputs.length > 0) return this.#stageInputs(order, group);
    const unstartable: Unstartable[] = [];
    const replicas: ReplicaStart[] = [];
    for (const start of order.starts) {
      const value = valueAt(group.values, start.taskIndex - order.groupFirst);
      try {
        replicas.push({
          ...start,
          value,
          inputs: [],
          outputs: this.#listOutputs(group, value, start.taskIndex, order),
          ...placeOf(order),
        });
      } catch (error) {
        unstartable.push(refusal(start.replicaId, error));
      }
    }
    return { batch: { template: getTemplate(order, group), replicas }, unstartable, sources: [] };
  }

  /** Files of the folder are where the task looks for them, so that nothing of it is sent. */
  async #stageInFolder(order: StageOrder, group: TaskGroup, path: string): Promise<StagedBatch> {
    const inputs = group.inputs.filter(({ root }) => root !== 'playpen');
    try {
      const workFolder = await describeWorkFolder(path, this.#home);
      const staged = await this.#stageInputs(order, { ...group, inputs });
      return { ...staged, batch: { ...staged.batch, template: { ...staged.batch.template, workFolder } } };
    } catch (error) {
      return {
        batch: { template: getTemplate(order, group), replicas: [] },
        unstartable: order.starts.map(({ replicaId }) => refusal(replicaId, error)),
        sources: [],
      };
    }
  }

  async #stageInputs(order: StageOrder, group: TaskGroup): Promise<StagedBatch> {
    const unstartable: Unstartable[] = [];
    const replicas: ReplicaStart[] = [];
    const seen: SeenSources = new Map();
    const specs = group.inputs.filter((input) => holds(input.condition, order.attributes));
    for (const start of order.starts) {
      const value = valueAt(group.values, start.taskIndex - order.groupFirst);
      try {
        const fillIn = this.#templates.fillIn({ taskIndex: start.taskIndex, value }, order);
        const inputs = await this.#listInputs(order, specs, { fillIn, seen });
        replicas.push({
          ...start,
          value,
          inputs,
          outputs: this.#listOutputs(group, value, start.taskIndex, order),
          ...placeOf(order),
        });
      } catch (error) {
        unstartable.push(refusal(start.replicaId, error));
      }
    }
    return { batch: { template: getTemplate(order, group), replicas }, unstartable, sources: await listSources(seen) };
  }

  async #listInputs(
    order: StageOrder,
    specs: readonly InputSpec[],
    { fillIn, seen }: { readonly fillIn: FillIn; readonly seen: SeenSources },
  ): Promise<InputFile[]> {
    const inputs: InputFile[] = [];
    for (const spec of specs) {
      const { source, root, path } = spec;
      const wanted = fillIn(path).path;
      switch (source.kind) {
        case 'content':
          inputs.push({ root, path: wanted, content: source.content, mode: 0o644 });
          break;
        case 'output':
          inputs.push(...(await this.#outputsRead(order, source, { root, wanted })));
          break;
        case 'path': {
          const files = await this.#resolveOnce(fillIn(source.path), seen);
          requireUnchanged({ jobId: order.jobId, path: source.path, fingerprint: spec.fingerprint }, files);
          inputs.push(...files.map((file) => getInputFile(file, root, wanted)));
        }
      }
    }
    return inputs.map((input) => ({ ...input, path: inside(input.path) }));
  }

  async #outputsRead(
    order: StageOrder,
    source: Extract<InputSpec['source'], { kind: 'output' }>,
    { root, wanted }: { readonly root: InputFile['root']; readonly wanted: string },
  ): Promise<InputFile[]> {
    const files = await this.#taskOutputs.getFiles(order, source);
    return files.map(({ below, content, mode }) => ({
      root,
      path: below === '' ? wanted : `${wanted}/${below}`,
      content,
      mode,
    }));
  }

  /** Many tasks of a batch read the same file: it is looked at once for all of them. */
  #resolveOnce(filled: FilledPath, seen: SeenSources): Promise<HomeFile[]> {
    let files = seen.get(filled.path);
    if (files === undefined) {
      files = this.#homeFiles.resolve(filled);
      seen.set(filled.path, files);
    }
    return files;
  }

  /** Inputs go to all members of a gang, and outputs come from the first. */
  #listOutputs(group: TaskGroup, value: string, taskIndex: TaskIndex, place: StageOrder): OutputFile[] {
    if (group.outputs.length === 0 || (place.gang?.place.rank ?? 0) > 0) return [];
    const fillIn = this.#templates.fillIn({ taskIndex, value }, place);
    return outputPositions(group, place.attributes).map((position) => {
      const spec = group.outputs[position];
      invariant(spec, `output ${position} of a group that has ${group.outputs.length}`);
      // Where it could not come home it is better not begun.
      if (spec.localPath !== '') fillIn(spec.localPath);
      return {
        root: spec.root,
        path: inside(fillIn(spec.path).path),
        ...(this.#readOf(place).get(taskIndex)?.has(spec.path) === true ? { keep: true as const } : {}),
      };
    });
  }

  #readOf({ spec }: Pick<StageOrder, 'spec'>): OutputsRead {
    let read = this.#read.get(spec);
    if (read === undefined) this.#read.set(spec, (read = outputsRead(spec)));
    return read;
  }
}

/** Positions in the group's outputs of those that its replicas on such a machine are asked for. */
export function outputPositions(group: TaskGroup, attributes: Readonly<Record<string, string>>): number[] {
  const positions: number[] = [];
  for (const [position, { condition }] of group.outputs.entries()) {
    if (holds(condition, attributes)) positions.push(position);
  }
  return positions;
}

/** Whether a condition, which was read once at submission, holds on a machine. */
export function holds(condition: string, attributes: Readonly<Record<string, string>>): boolean {
  if (condition === '') return true;
  const parsed = parseRequirements(condition);
  return parsed.kind === 'requirements' && evaluate(parsed, attributes) === 'match';
}

/** What was found at home; what was not there is left out. */
async function listSources(seen: SeenSources): Promise<StagedBatch['sources']> {
  const settled = await Promise.allSettled(
    [...seen].map(async ([path, files]) => ({ path, contents: (await files).map(({ content }) => content) })),
  );
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

function groupOf({ spec, groupIndex, jobId }: StageOrder): TaskGroup {
  const group = spec.groups[groupIndex];
  invariant(group, `job ${jobId} has no group ${groupIndex}`);
  return group;
}

function getTemplate(order: StageOrder, group: TaskGroup): StartReplicas['template'] {
  const { environment, limits } = order.spec;
  const request = getRequest(order.spec, group, order.alternative);
  const resources = withMemory(request.resources, order.memory);
  const processors = order.gang?.processors ?? order.processors ?? request.processors;
  return {
    jobId: order.jobId,
    userId: order.userId,
    command: group.command,
    noOp: group.noOp,
    environment,
    limits,
    processors,
    ...(resources === undefined ? {} : { resources }),
    ...(group.runner === undefined ? {} : { runner: group.runner }),
    ...findHints(order),
  };
}

function findHints({
  homeChallenge,
  dropProof,
}: StageOrder): Pick<StartReplicas['template'], 'homeChallenge' | 'dropProof'> {
  return {
    ...(homeChallenge === undefined ? {} : { homeChallenge }),
    ...(dropProof === undefined ? {} : { dropProof }),
  };
}

function placeOf({ gang }: StageOrder): Pick<ReplicaStart, 'gang'> {
  return gang === undefined ? {} : { gang: gang.place };
}

function inside(path: string): string {
  const kept = keepInside(path);
  if (kept === undefined)
    throw new MutiraoError('MUT_PATH_ESCAPES', `${JSON.stringify(path)} leads out of its root on the machine`);
  return kept;
}

/** What went wrong with one replica's files is that replica's affair; a bug is not. */
function refusal(replicaId: ReplicaId, error: unknown): Unstartable {
  if (error instanceof MutiraoError) return { replicaId, reason: error.code, detail: error.message };
  if (error instanceof Error && 'syscall' in error)
    return { replicaId, reason: 'MUT_INPUT_MISSING', detail: error.message };
  throw error;
}
