import { part, type FormatPart } from '../format-parts.ts';

/** Versions of WfFormat that are read. */
export const wfFormatVersions: readonly string[] = ['1.0', '1.1', '1.2', '1.3', '1.4', '1.5', '1.6'];

const information = 'description';
const measured = 'what was measured';
const unknown = 'not a field of WfFormat';
const early = '1.0 to 1.4';
const late = '1.5, 1.6';

/** Fields of a task that describe a run, in all versions. */
const runFields = (holder: string, versions: string): readonly FormatPart[] => [
  part(
    `${holder}.command ${holder}.command.program ${holder}.command.arguments`,
    versions,
    'read',
    'command, see below',
  ),
  part(
    `${holder}.priority ${holder}.avgCPU ${holder}.readBytes ${holder}.writtenBytes ${holder}.machine ` +
      `${holder}.machines ${holder}.executedAt`,
    versions,
    'unused',
    measured,
  ),
  part(
    `${holder}.energy ${holder}.avgPower ${holder}.energyInKWh ${holder}.avgPowerInW ${holder}.avgPowerInKWh ` +
      `${holder}.bytesRead ${holder}.bytesWritten ${holder}.launchDir`,
    versions,
    'unused',
    measured,
  ),
];

/** Fields of a task up to version 1.4, where the holder is `workflow.jobs[]` or `workflow.tasks[]`. */
const earlyTask = (holder: string, versions: string): readonly FormatPart[] => [
  part(
    `${holder}.name ${holder}.id`,
    versions,
    'read',
    'id of the task: its name, with the id behind it where names are the same',
  ),
  part(`${holder}.category`, versions, 'read', 'kind of the task'),
  part(`${holder}.type`, versions, 'unused', information),
  part(`${holder}.parents ${holder}.children`, versions, 'read', 'edges, by a name or an id that one task has'),
  part(
    `${holder}.files ${holder}.files[].name ${holder}.files[].path`,
    versions,
    'read',
    'a file; a path goes before its name',
  ),
  part(`${holder}.files[].link`, versions, 'read', '`input` or `output`'),
  part(
    `${holder}.files[].size ${holder}.files[].sizeInBytes`,
    versions,
    'read',
    'size in bytes, as the published instances have it',
  ),
  part(`${holder}.runtime ${holder}.runtimeInSeconds`, versions, 'read', 'run time in seconds'),
  part(`${holder}.cores`, versions, 'read', 'processors, rounded up'),
  part(`${holder}.memory`, versions, 'read', 'memory of the task, in kB'),
  part(`${holder}.memoryInBytes`, versions, 'read', 'memory of the task; goes before `memory`'),
  part(`${holder}.arguments`, versions, 'read', 'arguments of the program that the name begins with, up to `_ID`'),
  ...runFields(holder, versions),
];

const machineFields = (holder: string, versions: string): readonly FormatPart[] => [
  part(
    `${holder} ${holder}[].nodeName ${holder}[].system ${holder}[].architecture ${holder}[].release ` +
      `${holder}[].memory ${holder}[].memoryInBytes ${holder}[].cpu`,
    versions,
    'unused',
    'machines of that run',
  ),
  part(`${holder}[].machine_code`, versions, 'unused', information),
  part(
    `${holder}[].cpu.count ${holder}[].cpu.speed ${holder}[].cpu.coreCount ${holder}[].cpu.speedInMHz ` +
      `${holder}[].cpu.vendor`,
    versions,
    'unused',
    'machines of that run',
  ),
  part(`${holder}[].* ${holder}[].cpu.*`, versions, 'noted', unknown),
];

/**
 * All that a WfFormat file may hold, and what is made of it: the reader goes by this list, and so does the table in
 * docs/reference/workflow-formats.md. `*` stands for any other field.
 */
export const wfParts: readonly FormatPart[] = [
  part('name', '1.0 to 1.6', 'read', 'label of the job'),
  part('schemaVersion', '1.0 to 1.6', 'read', 'checked; the fields that are there decide how the file is read'),
  part('workflow', '1.0 to 1.6', 'read', 'the workflow'),
  part(
    'description createdAt $schema author author.name author.email author.institution author.country',
    '1.0 to 1.6',
    'unused',
    information,
  ),
  part('runtimeSystem.name wms.name', '1.0 to 1.6', 'read', 'how to read arguments, see below'),
  part(
    'runtimeSystem runtimeSystem.version runtimeSystem.url wms wms.version wms.url',
    '1.0 to 1.6',
    'unused',
    information,
  ),
  part('author.* runtimeSystem.* wms.*', '1.0 to 1.6', 'noted', unknown),
  part('workflow.repo workflow.runName', late, 'unused', information),

  part('workflow.makespan workflow.makespanInSeconds workflow.executedAt', early, 'unused', measured),
  ...machineFields('workflow.machines', early),
  part('workflow.jobs', '1.0 to 1.2', 'read', 'tasks'),
  ...earlyTask('workflow.jobs[]', '1.0 to 1.2'),
  part('workflow.tasks', '1.3, 1.4', 'read', 'tasks'),
  ...earlyTask('workflow.tasks[]', '1.3, 1.4'),

  part('workflow.specification workflow.specification.tasks', late, 'read', 'tasks'),
  part('workflow.specification.tasks[].id', late, 'read', 'id of the task'),
  part('workflow.specification.tasks[].name', late, 'read', 'kind of the task'),
  part('workflow.specification.tasks[].category workflow.specification.tasks[].type', late, 'unused', information),
  part('workflow.specification.tasks[].parents workflow.specification.tasks[].children', late, 'read', 'edges'),
  part(
    'workflow.specification.tasks[].inputFiles workflow.specification.tasks[].outputFiles',
    late,
    'read',
    'files of the task; one in both is changed in place',
  ),
  part(
    'workflow.specification.files workflow.specification.files[].id workflow.specification.files[].sizeInBytes',
    late,
    'read',
    'sizes of files',
  ),
  part('workflow.specification.metrics', '1.6', 'unused', information),
  part('workflow.specification.metrics.*', '1.6', 'unused', information),
  part('workflow.execution workflow.execution.tasks', late, 'read', 'facts of a run about the tasks'),
  part('workflow.execution.makespanInSeconds workflow.execution.executedAt', late, 'unused', measured),
  part('workflow.execution.metrics', '1.6', 'unused', measured),
  part('workflow.execution.metrics.*', '1.6', 'unused', measured),
  ...machineFields('workflow.execution.machines', late),
  part('workflow.execution.tasks[].id', late, 'read', 'the task that it is about'),
  part('workflow.execution.tasks[].runtimeInSeconds', late, 'read', 'run time in seconds'),
  part('workflow.execution.tasks[].coreCount', late, 'read', 'processors, rounded up'),
  part('workflow.execution.tasks[].memoryInBytes', late, 'read', 'memory of the task'),
  part('workflow.execution.tasks[].category', late, 'unused', information),
  ...runFields('workflow.execution.tasks[]', late),
];
