import path from 'node:path';
import { parseCommand, renderCommand as fillIn, type CommandTemplate } from '@mutirao/core/bag';
import type { HeldReplica } from '@mutirao/core/machines/agent';
import type { ReplicaStart, TaskTemplate } from '@mutirao/core/messages';
import { emptyCapacity, type Assignment, type ResourceCapacity } from '@mutirao/core/resources';
import { isVariableName, ProgramFinder, renderAssignments, renderCommand } from '@mutirao/runtime/processes';
import { isOfManager } from './manager-variables.ts';
import { amountVariables, deviceVariables } from './resource-variables.ts';

/**
 * Variables of every task of this agent: our own without Mutirao's and without those of the manager's job that we run
 * in, the machine's attributes, and PROC.
 */
export function baseEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  attributes: Readonly<Record<string, string>>,
  machineId: string,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && isForTasks(name, own)) environment[name] = value;
  }
  for (const [name, value] of Object.entries(attributes))
    if (isVariableName(name) && !reserved.has(name)) environment[name] = value;
  const { username, servername } = attributes;
  environment['PROC'] = username === undefined || servername === undefined ? machineId : `${username}@${servername}`;
  return environment;
}

function isForTasks(name: string, own: Readonly<Record<string, string | undefined>>): boolean {
  return isVariableName(name) && !name.startsWith('MUTIRAO_') && !isOfManager(name, own);
}

/** Names that an attribute of a machine does not set. */
const reserved = new Set([
  'PATH',
  'HOME',
  'IFS',
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'ENV',
  'BASH_ENV',
  'JOB',
  'TASK',
  'PROC',
  'PLAYPEN',
  'STORAGE',
  'INPUTFILES',
  'OUTPUTFILES',
]);

/** A task's line and variables as shell syntax. */
export interface RenderedTask {
  readonly line: string;
  readonly command: string;
  readonly environment: string;
  readonly exports: string;
}

interface ParsedTemplate {
  readonly command: CommandTemplate;
  readonly environment: string;
  /** Variables that no job sets for itself. */
  readonly amounts: string;
}

/** A replica as far as its task's variables depend on it. */
export type RenderedReplica = Pick<HeldReplica, 'template' | 'start' | 'assignment'>;

/** Turns replicas into what a launcher takes. */
export class TaskRenderer {
  private readonly finder: ProgramFinder;
  private readonly searchPath: string;
  private readonly capacity: ResourceCapacity;
  /** Batches share a template, so it is read once per batch. */
  private readonly parsed = new WeakMap<TaskTemplate, ParsedTemplate>();
  private readonly exports = new Map<string, string>();

  /**
   * @param searchPath the PATH of tasks, to which storage, playpen, their folder and ours are appended. @param capacity
   * of the machine.
   */
  constructor(searchPath: string, capacity: ResourceCapacity = emptyCapacity) {
    this.capacity = capacity;
    this.searchPath = searchPath === '' ? '/usr/local/bin:/usr/bin:/bin' : searchPath;
    this.finder = new ProgramFinder(this.searchPath);
  }

  render(
    { template, start, assignment }: RenderedReplica,
    folders: { readonly playpen: string; readonly storage: string },
  ): RenderedTask {
    const parsed = this.parse(template);
    const line = fillIn(parsed.command, start.value, start.taskIndex);
    return {
      // A PATH of the job's own is the shell's to search.
      line,
      command: renderCommand(line, (name) =>
        template.environment['PATH'] === undefined ? this.finder.find(name) : undefined,
      ),
      environment:
        `${parsed.environment}${namesOfFiles(start)}${this.namesOfDevices(assignment)}${parsed.amounts} ` +
        `JOB=${template.jobId} TASK=${start.taskIndex}`,
      exports: this.exportsOf(folders.playpen, folders.storage),
    };
  }

  /** A task's own variables, without those of every task of this agent. */
  variables(
    { template, start, assignment }: RenderedReplica,
    { playpen, storage }: { readonly playpen: string; readonly storage: string },
  ): Record<string, string> {
    return {
      ...template.environment,
      ...getFiles(start),
      ...deviceVariables(this.capacity, assignment),
      ...amountVariables(template),
      JOB: String(template.jobId),
      TASK: String(start.taskIndex),
      PLAYPEN: playpen,
      STORAGE: storage,
      PATH: this.searchPathOf(playpen, storage),
    };
  }

  /** Those of them that differ between the calls of one runner. */
  callVariables(
    { start }: RenderedReplica,
    { playpen, storage }: { readonly playpen: string; readonly storage: string },
  ): Record<string, string> {
    return {
      INPUTFILES: '',
      OUTPUTFILES: '',
      ...getFiles(start),
      TASK: String(start.taskIndex),
      PLAYPEN: playpen,
      PATH: this.searchPathOf(playpen, storage),
    };
  }

  private searchPathOf(playpen: string, storage: string): string {
    return [this.searchPath, storage, playpen, '.', path.dirname(process.execPath)].join(':');
  }

  private parse(template: TaskTemplate): ParsedTemplate {
    let parsed = this.parsed.get(template);
    if (parsed === undefined) {
      const assignments = renderAssignments(template.environment);
      parsed = {
        command: parseCommand(template.command),
        environment: assignments === '' ? '' : `${assignments} `,
        amounts: renderAssignments(amountVariables(template)),
      };
      this.parsed.set(template, parsed);
    }
    return parsed;
  }

  private namesOfDevices(assignment: Assignment | undefined): string {
    if (assignment === undefined || assignment.devices.length === 0) return '';
    return `${renderAssignments(deviceVariables(this.capacity, assignment))} `;
  }

  private exportsOf(playpen: string, storage: string): string {
    const key = `${playpen}:${storage}`;
    let exports = this.exports.get(key);
    if (exports === undefined) {
      exports = renderAssignments({ PLAYPEN: playpen, STORAGE: storage, PATH: this.searchPathOf(playpen, storage) });
      if (this.exports.size > 10_000) this.exports.clear();
      this.exports.set(key, exports);
    }
    return exports;
  }
}

/**
 * INPUTFILES and OUTPUTFILES: the paths on this machine, separated by colons; a list that is too long for a variable is
 * left out.
 */
function getFiles({ inputs, outputs }: ReplicaStart): Record<string, string> {
  if (inputs.length === 0 && outputs.length === 0) return {};
  const join = (files: readonly { readonly path: string }[]): string => files.map((file) => file.path).join(':');
  const lists = Object.entries({ INPUTFILES: join(inputs), OUTPUTFILES: join(outputs) });
  return Object.fromEntries(
    lists.filter(([name, list]) => Buffer.byteLength(list) + name.length + 1 <= variableBytesMax),
  );
}

/** The system takes no longer text for one variable, and with a longer one no program would start. */
const variableBytesMax = 128 * 1024 - 1;

function namesOfFiles(start: ReplicaStart): string {
  const assignments = renderAssignments(getFiles(start));
  return assignments === '' ? '' : `${assignments} `;
}
