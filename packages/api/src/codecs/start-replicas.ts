import type { InputFile, ReplicaStart, StartReplicas, TaskTemplate, WorkFolder } from '@mutirao/core/messages';

import type {
  InputFile as InputFileWire,
  TaskTemplate as TaskTemplateWire,
  WorkFolder as WorkFolderWire,
} from '../generated/mutirao/common/v1/common.ts';
import type {
  ReplicaStart as ReplicaStartWire,
  StartReplicas as StartReplicasWire,
} from '../generated/mutirao/machine/v1/machine.ts';
import {
  badRequest,
  boundList,
  boundName,
  boundText,
  decodeContent,
  decodeLimits,
  decodeProofText,
  decodeRoot,
  encodeContent,
  encodeLimits,
  encodeRoot,
  refuseNul,
} from './common.ts';
import { decodeGangMembership, encodeGangMembership } from './gang.ts';
import { decodePath, encodePath } from './byte-names.ts';
import { decodeResources, encodeResources } from './resources.ts';
import { decodeRunner } from './runner.ts';

/** Reads a batch of replicas. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function decodeStartReplicas(wire: StartReplicasWire): StartReplicas {
  boundList(wire.replicas, 'heldReplicas', 'start.replicas');
  return { template: decodeTaskTemplate(wire.template), replicas: wire.replicas.map(decodeReplicaStart) };
}

/** Writes a batch of replicas for the wire. */
export function encodeStartReplicas(batch: StartReplicas): StartReplicasWire {
  return { template: encodeTaskTemplate(batch.template), replicas: batch.replicas.map(encodeReplicaStart) };
}

function decodeTaskTemplate(wire: TaskTemplateWire | undefined): TaskTemplate {
  if (wire === undefined) throw badRequest('start.template is absent');
  if (wire.processors < 1) throw badRequest(`template.processors is ${wire.processors}; expected 1 or more`);
  const { jobId, userId, command, noOp, environment, processors, homeChallenge, dropProof, workFolder } = wire;
  checkTaskTemplate(wire);
  const template = {
    jobId,
    userId,
    command,
    noOp,
    environment,
    limits: decodeLimits(wire.limits),
    processors,
    ...decodeResources(wire.resources, 'template.resources'),
    ...(workFolder === undefined ? {} : { workFolder: decodeWorkFolder(workFolder) }),
    ...decodeRunner(wire.runner, 'template.runner'),
  };
  if (homeChallenge === '') return template;
  const challenge = decodeProofText(homeChallenge, 'template.home_challenge');
  return {
    ...template,
    homeChallenge: challenge,
    ...(dropProof === '' ? {} : { dropProof: decodeProofText(dropProof, 'template.drop_proof') }),
  };
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
function checkTaskTemplate({ userId, command, environment }: TaskTemplateWire): void {
  // What a user's tasks leave on a machine is in a folder of that name.
  if (boundName(userId, 'name', 'template.user_id') === '')
    throw badRequest('template.user_id is empty; expected whose tasks they are');
  refuseNul(command, 'template.command');
  for (const [name, value] of Object.entries(environment)) refuseNul(name + value, 'template.environment');
}

function encodeTaskTemplate(template: TaskTemplate): TaskTemplateWire {
  const { homeChallenge = '', dropProof = '', workFolder } = template;
  return {
    ...template,
    environment: { ...template.environment },
    limits: encodeLimits(template.limits),
    dropToken: '',
    homeChallenge,
    dropProof,
    workFolder: workFolder === undefined ? undefined : encodeWorkFolder(workFolder),
    resources: encodeResources(template.resources),
  };
}

function decodeWorkFolder({ besideHome, path, inode, device, fileSystem, bootId }: WorkFolderWire): WorkFolder {
  if (!path.startsWith('/'))
    throw badRequest(`template.work_folder.path is ${JSON.stringify(path)}; expected an absolute path`);
  for (const text of [path, inode, device, fileSystem, bootId])
    boundText(refuseNul(text, 'template.work_folder'), 'path', 'template.work_folder');
  return { path, inode, device, fileSystem, bootId, isBesideHome: besideHome };
}

function encodeWorkFolder({ isBesideHome, ...folder }: WorkFolder): WorkFolderWire {
  return { ...folder, besideHome: isBesideHome };
}

function decodeReplicaStart(wire: ReplicaStartWire): ReplicaStart {
  const { replicaId, taskIndex, value } = wire;
  if (replicaId < 1) throw badRequest(`replica_id is ${replicaId}; expected 1 or more`);
  refuseNul(value, 'value');
  boundList(wire.inputs, 'wantedContents', 'inputs');
  boundList(wire.outputs, 'wantedContents', 'outputs');
  const outputs = wire.outputs.map((output) => ({
    root: decodeRoot(output.root, 'output.root'),
    path: refuseNul(output.path, 'output.path'),
    ...(output.keep ? { keep: true as const } : {}),
  }));
  return {
    replicaId,
    taskIndex,
    value,
    inputs: wire.inputs.map(decodeInputFile),
    outputs,
    ...(wire.gang === undefined ? {} : { gang: decodeGangMembership(wire.gang) }),
    ...(wire.onSuccessOnly === true ? { onSuccessOnly: true } : {}),
  };
}

function encodeReplicaStart(start: ReplicaStart): ReplicaStartWire {
  const { replicaId, taskIndex, value } = start;
  const outputs = start.outputs.map((output) => ({
    root: encodeRoot(output.root),
    path: output.path,
    keep: output.keep ?? false,
  }));
  return {
    replicaId,
    taskIndex,
    value,
    inputs: start.inputs.map(encodeInputFile),
    outputs,
    gang: start.gang === undefined ? undefined : encodeGangMembership(start.gang),
    onSuccessOnly: start.onSuccessOnly,
  };
}

function decodeInputFile(wire: InputFileWire): InputFile {
  if (wire.mode > 0o777) throw badRequest(`input.mode is 0o${wire.mode.toString(8)}; expected 0o777 at most`);
  return {
    root: decodeRoot(wire.root, 'input.root'),
    path: refuseNul(decodePath(wire), 'input.path'),
    content: decodeContent(wire.content, 'input.content'),
    mode: wire.mode,
  };
}

function encodeInputFile(input: InputFile): InputFileWire {
  return {
    root: encodeRoot(input.root),
    ...encodePath(input.path),
    content: encodeContent(input.content),
    mode: input.mode,
  };
}
