import { keepInside } from '@mutirao/core/bag';
import {
  type OnReservationEnd,
  type InputSource,
  type InputSpec,
  type JobSpec,
  memoryGrowthMax,
  memoryGrowthMin,
  alternativesMax,
  priorityMax,
  priorityMin,
  runningMaxMost,
  type OutputSpec,
  type TaskEdge,
  type TaskGroup,
  type Values,
  type Verification,
} from '@mutirao/core/messages';

import { MutiraoError } from '../errors/index.ts';
import { OnReservationEnd as OnReservationEndWire } from '../generated/mutirao/broker/v1/broker.ts';
import type {
  Gathering,
  InputSource as InputSourceWire,
  InputSpec as InputSpecWire,
  JobReservation as JobReservationWire,
  JobSpec as JobSpecWire,
  OutputSpec as OutputSpecWire,
  AppendTasksRequest,
  SubmitJobRequest,
  TaskEdge as TaskEdgeWire,
  TaskGroup as TaskGroupWire,
  Verification as VerificationWire,
} from '../generated/mutirao/broker/v1/broker.ts';
import type { IntegerRange } from '../generated/mutirao/common/v1/common.ts';
import { readClaim } from './claim.ts';
import {
  badRequest,
  decodeContent,
  decodeLimits,
  decodeRoot,
  encodeContent,
  encodeLimits,
  encodeRoot,
} from './common.ts';
import { decodeGates, encodeDependencies } from './dependencies.ts';
import { decodeResources, encodeResources } from './resources.ts';
import { decodeRunner } from './runner.ts';
import { decodeScheduling, encodeScheduling } from './scheduling.ts';

/** A submission with its defaults filled in; paths are as the client wrote them. */
export interface SubmitJob {
  /** The client's own key, so that a repeated submission is the same job; empty when it gave none. */
  readonly clientJobId: string;
  readonly spec: JobSpec;
  /** The job whose results this one takes over; 0 is the latest with the same label, undefined none. */
  readonly resumesJobId: number | undefined;
}

/** Tasks for an open job. */
export interface AppendTasks {
  readonly jobId: number;
  readonly appendKey: string;
  readonly groups: readonly TaskGroup[];
}

/** Most tasks of one job. */
export const taskCountMax = 10_000_000;

/** Most groups of one job, and most listed values of one group. */
export const listedCountMax = 1_000_000;

/** Bytes of UTF-8, as are all limits of texts. */
const textLengthMax = 1_048_576;
/** Of one value, which with what is around it has to fit the 128 KiB of an argument or a variable. */
const valueBytesMax = 120 * 1024;
/** Of a variable with its name. */
const variableBytesMax = 128 * 1024 - 1;
/** Of all variables together. */
const environmentBytesMax = 1_048_576;

/**
 * Reads a submission and fills in its defaults. @throws {MutiraoError} MUT_BAD_REQUEST with the value found and the
 * value wanted.
 */
export function decodeSubmitJob(wire: SubmitJobRequest): SubmitJob {
  if (wire.job === undefined) throw badRequest('job is absent');
  return {
    clientJobId: text('client_job_id', wire.clientJobId, 256),
    spec: decodeJobSpec(wire.job),
    resumesJobId: wire.resumesJobId,
  };
}

/** Reads tasks that are appended. @throws {MutiraoError} MUT_BAD_REQUEST with the value found and the value wanted. */
export function decodeAppendTasks(wire: AppendTasksRequest): AppendTasks {
  return {
    jobId: wire.jobId,
    appendKey: text('append_key', wire.appendKey, 256),
    groups: decodeTaskGroups(wire.groups, { list: 'groups', whole: 'the call' }).groups,
  };
}

function decodeTaskGroups(
  wire: readonly TaskGroupWire[],
  { list, whole }: { readonly list: string; readonly whole: string },
): { readonly groups: readonly TaskGroup[]; readonly taskCount: number } {
  if (wire.length === 0) throw badRequest(`${whole} has no tasks: ${list} is empty`);
  if (wire.length > listedCountMax)
    throw badRequest(`${list} has ${wire.length} entries; expected at most ${listedCountMax}`);
  const groups = wire.map((group, index) => decodeTaskGroup(group, `${list}[${index}]`));
  const taskCount = groups.reduce((sum, group) => sum + countOf(group.values), 0);
  if (taskCount > taskCountMax) throw badRequest(`${whole} has ${taskCount} tasks; expected at most ${taskCountMax}`);
  return { groups, taskCount };
}

/** Reads a bag of tasks. @throws {MutiraoError} MUT_BAD_REQUEST with the value found and the value wanted. */
export function decodeJobSpec(wire: JobSpecWire): JobSpec {
  const { groups, taskCount } =
    wire.open === true && wire.groups.length === 0
      ? { groups: [], taskCount: 0 }
      : decodeTaskGroups(wire.groups, { list: 'job.groups', whole: 'the job' });
  return {
    label: text('job.label', wire.label, 1024),
    groups,
    environment: decodeEnvironment(wire.environment),
    limits: decodeLimits(wire.limits),
    processors: integer('job.processors', wire.processors ?? 1, 1, 65_536),
    ...decodeResources(wire.resources, 'job.resources'),
    ...(wire.gang === true ? { gang: true } : {}),
    replicasMax: integer('job.replicas_max', wire.replicasMax ?? usualReplicas(wire), 1, 16),
    ...decodeRetries(wire),
    ...decodeService(wire),
    ...decodeGates(wire),
    homeDirectory: text('job.home_directory', wire.homeDirectory, 4096),
    deadline: wire.deadlineUnixMs,
    ...decodeVerification(wire.verification),
    ...decodeScheduling(wire),
    ...decodeGathering(wire.gathering),
    ...(wire.sharedPlaces === true ? { sharedPlaces: true } : {}),
    ...decodeWorkFolder(wire.workFolder),
    ...decodeReservation(wire.reservation),
    ...decodeEdges(wire.edges, taskCount),
    ...(wire.open === true ? { open: true } : {}),
  };
}

function decodeRetries({
  failuresMax = 3,
  memoryGrowth,
  memoryAuto,
  failedTasksMax,
}: JobSpecWire): Pick<JobSpec, 'failuresMax' | 'memoryGrowth' | 'memoryAuto' | 'failedTasksMax'> {
  return {
    failuresMax: integer('job.failures_max', failuresMax, 1, 100),
    ...(memoryGrowth === undefined ? {} : { memoryGrowth: readGrowth(memoryGrowth) }),
    ...(memoryAuto === true ? { memoryAuto } : {}),
    ...(failedTasksMax === undefined
      ? {}
      : { failedTasksMax: integer('job.failed_tasks_max', failedTasksMax, 1, taskCountMax) }),
  };
}

function decodeService({
  runningMax,
  priority,
  held,
}: JobSpecWire): Pick<JobSpec, 'runningMax' | 'priority' | 'isHeld'> {
  return {
    ...(runningMax === undefined ? {} : { runningMax: integer('job.running_max', runningMax, 1, runningMaxMost) }),
    ...(priority === undefined ? {} : { priority: integer('job.priority', priority, priorityMin, priorityMax) }),
    ...(held === true ? { isHeld: true } : {}),
  };
}

function readGrowth(growth: number): number {
  if (growth >= memoryGrowthMin && growth <= memoryGrowthMax) return growth;
  throw badRequest(`job.memory_growth is ${growth}; expected ${memoryGrowthMin} to ${memoryGrowthMax}`);
}

/** Writes a bag of tasks for the wire. */
export function encodeJobSpec(spec: JobSpec): JobSpecWire {
  return {
    label: spec.label,
    groups: spec.groups.map(encodeTaskGroup),
    environment: { ...spec.environment },
    limits: encodeLimits(spec.limits),
    processors: spec.processors,
    resources: encodeResources(spec.resources),
    gang: spec.gang,
    replicasMax: spec.replicasMax,
    failuresMax: spec.failuresMax,
    failedTasksMax: spec.failedTasksMax,
    memoryGrowth: spec.memoryGrowth,
    memoryAuto: spec.memoryAuto,
    runningMax: spec.runningMax,
    priority: spec.priority,
    held: spec.isHeld,
    after: encodeDependencies(spec.after),
    beginUnixMs: spec.beginAt,
    expireUnixMs: spec.expireAt,
    homeDirectory: spec.homeDirectory,
    deadlineUnixMs: spec.deadline,
    verification: spec.verification && { by: encodeVerification(spec.verification) },
    ...encodeScheduling(spec),
    sharedPlaces: spec.sharedPlaces,
    workFolder: spec.workFolder,
    open: spec.open,
    gathering: spec.gatherFolder === undefined ? undefined : { folder: spec.gatherFolder },
    edges: (spec.edges ?? []).map(({ from, to, data = 0 }) => ({ from, to, dataBytes: data })),
    reservation:
      spec.reservation === undefined
        ? undefined
        : {
            claim: spec.reservation.claim,
            after: wireOfAfter[spec.reservation.after],
            ...(spec.reservation.isOwn === true ? { own: true } : {}),
          },
  };
}

/** A field that is absent stays so: jobs of earlier releases have none. */
function decodeVerification(wire: VerificationWire | undefined): Pick<JobSpec, 'verification'> {
  switch (wire?.by?.$case) {
    case 'none':
      return { verification: { kind: 'none' } };
    case 'check':
      return { verification: { kind: 'check' } };
    case 'vote':
      return { verification: { kind: 'vote', count: integer('job.verification.vote', wire.by.value, 1, 15) } };
    case 'credibility':
      return { verification: { kind: 'credibility', threshold: wire.by.value } };
    case undefined:
      if (wire !== undefined)
        throw badRequest(
          'job.verification is by nothing that this release knows; expected none, check, vote or credibility',
        );
      return {};
  }
}

/** A bag has none, and says nothing of it. */
function decodeEdges(wire: readonly TaskEdgeWire[], taskCount: number): Pick<JobSpec, 'edges'> {
  if (wire.length === 0) return {};
  if (wire.length > listedCountMax)
    throw badRequest(`job.edges has ${wire.length} entries; expected at most ${listedCountMax}`);
  const edges = wire.map(
    ({ from, to, dataBytes }): TaskEdge => ({ from, to, ...(dataBytes === 0 ? {} : { data: dataBytes }) }),
  );
  const position = edges.findIndex(({ from, to }) => from >= taskCount || to >= taskCount);
  const { from, to } = edges[position] ?? { from: 0, to: 0 };
  if (position >= 0)
    throw new MutiraoError(
      'MUT_WORKFLOW_DANGLING_EDGE',
      `job.edges[${position}] leads from task ${from} to task ${to}; the job has ${taskCount} tasks, from 0 on`,
    );
  return { edges };
}

function decodeGathering(wire: Gathering | undefined): Pick<JobSpec, 'gatherFolder'> {
  if (wire === undefined) return {};
  if (wire.folder === '') throw badRequest('job.gathering.folder is empty; expected a folder');
  return { gatherFolder: text('job.gathering.folder', wire.folder, 4096) };
}

/**
 * A gang runs once at a time, and so do tasks that start in a folder of home, where two runs would write the same
 * files.
 */
function usualReplicas({ gang, workFolder }: JobSpecWire): number {
  return gang === true || workFolder !== undefined ? 1 : 2;
}

function decodeWorkFolder(folder: string | undefined): Pick<JobSpec, 'workFolder'> {
  if (folder === undefined) return {};
  if (folder === '') throw badRequest('job.work_folder is empty; expected a folder');
  return { workFolder: text('job.work_folder', folder, 4096) };
}

const wireOfAfter: Readonly<Record<OnReservationEnd, OnReservationEndWire>> = {
  continue: OnReservationEndWire.CONTINUE,
  wait: OnReservationEndWire.WAIT,
};

function decodeReservation(wire: JobReservationWire | undefined): Pick<JobSpec, 'reservation'> {
  if (wire === undefined) return {};
  const { claim, after: reported, own } = wire;
  const after =
    reported === OnReservationEndWire.UNSPECIFIED
      ? 'continue'
      : (['continue', 'wait'] as const).find((one) => wireOfAfter[one] === reported);
  if (after === undefined)
    throw badRequest(`job.reservation.after is ${String(reported)}; expected a value of OnReservationEnd`);
  if (own === true && after === 'wait')
    throw badRequest(
      'job.reservation.own is true and after is WAIT; expected GO_ON, since its tasks also run outside the reservation',
    );
  return { reservation: { ...readClaim(claim), after, ...(own === true ? { isOwn: true } : {}) } };
}

function encodeVerification(verification: Verification): VerificationWire['by'] {
  switch (verification.kind) {
    case 'none':
      return { $case: 'none', value: {} };
    case 'check':
      return { $case: 'check', value: {} };
    case 'vote':
      return { $case: 'vote', value: verification.count };
    case 'credibility':
      return { $case: 'credibility', value: verification.threshold };
  }
}

function decodeTaskGroup(wire: TaskGroupWire, name: string): TaskGroup {
  if (wire.command === '' && !wire.noOp) throw badRequest(`${name}.command is empty; expected a line for the shell`);
  return {
    values: decodeValues(wire, name),
    command: text(`${name}.command`, wire.command, textLengthMax),
    noOp: wire.noOp,
    inputs: wire.inputs.map((input, index) => decodeInputSpec(input, `${name}.inputs[${index}]`)),
    outputs: wire.outputs.map((output, index) => decodeOutputSpec(output, `${name}.outputs[${index}]`)),
    check: text(`${name}.check`, wire.check, textLengthMax),
    requirements: text(`${name}.requirements`, wire.requirements, textLengthMax),
    ...(wire.expectedTimeMs === undefined ? {} : { expectedTime: wire.expectedTimeMs }),
    ...(wire.processors === undefined ? {} : { processors: integer(`${name}.processors`, wire.processors, 1, 65_536) }),
    ...(wire.processorsMax === undefined
      ? {}
      : { processorsMax: integer(`${name}.processors_max`, wire.processorsMax, 1, 65_536) }),
    ...decodeResources(wire.resources, `${name}.resources`),
    ...decodeRunner(wire.runner, `${name}.runner`),
    ...decodeAlternatives(wire.alternatives, name),
  };
}

function decodeAlternatives(wire: TaskGroupWire['alternatives'], name: string): Pick<TaskGroup, 'alternatives'> {
  if (wire.length === 0) return {};
  if (wire.length > alternativesMax)
    throw badRequest(`${name}.alternatives has ${wire.length} entries; expected at most ${alternativesMax}`);
  return {
    alternatives: wire.map(({ processors, resources, expectedTimeMs }, index) => ({
      processors: integer(`${name}.alternatives[${index}].processors`, processors, 1, 65_536),
      ...decodeResources(resources, `${name}.alternatives[${index}].resources`),
      ...(expectedTimeMs === undefined ? {} : { expectedTime: expectedTimeMs }),
    })),
  };
}

function decodeValues({ values }: TaskGroupWire, name: string): Values {
  switch (values?.$case) {
    case 'range':
      return decodeRange(values.value, `${name}.range`);
    case 'list': {
      const list = values.value.values;
      if (list.length < 1 || list.length > listedCountMax)
        throw badRequest(`${name}.list has ${list.length} values; expected 1 to ${listedCountMax}`);
      for (const [index, value] of list.entries()) text(`${name}.list[${index}]`, value, valueBytesMax);
      return { kind: 'list', values: list };
    }
    case undefined:
      throw badRequest(`${name} has no values; expected a range or a list`);
  }
}

function decodeRange(wire: IntegerRange, name: string): Values {
  const count = integer(`${name}.count`, wire.count, 1, taskCountMax);
  const step = wire.step ?? 1;
  if (step === 0) throw badRequest(`${name}.step is 0; expected another integer`);
  if (!Number.isSafeInteger(wire.first + step * (count - 1)))
    throw badRequest(`${name} ends at ${wire.first + step * (count - 1)}; expected a safe integer`);
  return { kind: 'range', first: wire.first, count, step };
}

function decodeInputSpec(wire: InputSpecWire, name: string): InputSpec {
  return {
    source: decodeInputSource(wire.source, `${name}.source`),
    root: decodeRoot(wire.root, `${name}.root`),
    path: remotePath(`${name}.path`, wire.path),
    condition: text(`${name}.condition`, wire.condition, textLengthMax),
  };
}

function decodeInputSource(wire: InputSourceWire | undefined, name: string): InputSource {
  const source = wire?.source;
  switch (source?.$case) {
    case 'localPath':
      if (source.value === '') throw badRequest(`${name}.local_path is empty`);
      return { kind: 'path', path: text(`${name}.local_path`, source.value, 4096) };
    case 'content':
      return { kind: 'content', content: decodeContent(source.value, `${name}.content`) };
    case 'output':
      return {
        kind: 'output',
        taskIndex: source.value.taskIndex,
        path: remotePath(`${name}.output.path`, source.value.path),
      };
    case undefined:
      throw badRequest(`${name} is absent; expected a local path, a content or an output of another task`);
  }
}

function decodeOutputSpec(wire: OutputSpecWire, name: string): OutputSpec {
  return {
    root: decodeRoot(wire.root, `${name}.root`),
    path: remotePath(`${name}.path`, wire.path),
    localPath: text(`${name}.local_path`, wire.localPath, 4096),
    condition: text(`${name}.condition`, wire.condition, textLengthMax),
  };
}

function encodeTaskGroup(group: TaskGroup): TaskGroupWire {
  const { values } = group;
  return {
    values:
      values.kind === 'range'
        ? { $case: 'range', value: { first: values.first, count: values.count, step: values.step } }
        : { $case: 'list', value: { values: [...values.values] } },
    command: group.command,
    noOp: group.noOp,
    inputs: group.inputs.map((input) => ({
      source: { source: encodeInputSource(input.source) },
      root: encodeRoot(input.root),
      path: input.path,
      condition: input.condition,
    })),
    outputs: group.outputs.map((output) => ({ ...output, root: encodeRoot(output.root) })),
    check: group.check,
    requirements: group.requirements,
    expectedTimeMs: group.expectedTime,
    processors: group.processors,
    processorsMax: group.processorsMax,
    alternatives: (group.alternatives ?? []).map(({ processors, resources, expectedTime }) => ({
      processors,
      resources: encodeResources(resources),
      expectedTimeMs: expectedTime,
    })),
    resources: encodeResources(group.resources),
    runner: group.runner,
  };
}

function encodeInputSource(source: InputSource): InputSourceWire['source'] {
  switch (source.kind) {
    case 'path':
      return { $case: 'localPath', value: source.path };
    case 'content':
      return { $case: 'content', value: encodeContent(source.content) };
    case 'output':
      return { $case: 'output', value: { taskIndex: source.taskIndex, path: source.path } };
  }
}

function decodeEnvironment(wire: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(wire)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw badRequest(`job.environment has the name ${JSON.stringify(name)}; expected letters, digits and "_"`);
    text(`job.environment.${name}`, value, variableBytesMax - name.length - 1);
  }
  const bytes = Object.entries(wire).reduce(
    (sum, [name, value]) => sum + name.length + Buffer.byteLength(value) + 2,
    0,
  );
  if (bytes > environmentBytesMax)
    throw badRequest(`job.environment has ${bytes} bytes; expected at most ${environmentBytesMax}`);
  return { ...wire };
}

/**
 * A path on a GridMachine, which may not lead up and out of its root; what its variables stand for is looked at when
 * they are known.
 */
function remotePath(name: string, path: string): string {
  if (keepInside(text(name, path, 4096)) === undefined) {
    throw new MutiraoError(
      'MUT_PATH_ESCAPES',
      `${name} is ${JSON.stringify(path)}; expected a path that stays below its root`,
    );
  }
  return path;
}

function countOf(values: Values): number {
  return values.kind === 'range' ? values.count : values.values.length;
}

function integer(name: string, value: number, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max)
    throw badRequest(`${name} is ${value}; expected an integer in ${min}..${max}`);
  return value;
}

function text(name: string, value: string, lengthMax: number): string {
  const bytes = value.length * 3 > lengthMax ? Buffer.byteLength(value) : 0;
  if (bytes > lengthMax) throw badRequest(`${name} has ${bytes} bytes; expected at most ${lengthMax}`);
  if (value.includes('\0')) throw badRequest(`${name} holds a NUL character; expected none`);
  return value;
}
