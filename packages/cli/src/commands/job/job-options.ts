import { basename, isAbsolute, relative, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { keepInside } from '@mutirao/core/bag';
import type { InputSpec, JobSpec, OutputSpec, Root, TaskGroup, Values, Verification } from '@mutirao/core/messages';
import { jobDefaults, makeTaskGroup, parseArray, parseDuration, parseLines, parseSize } from '@mutirao/formats';

import { readInteger } from '../../usage/read-integer.ts';
import {
  overrideAlternatives,
  overrideResources,
  readMemoryGrowth,
  refuseLittleMemory,
  resourceOptionsGiven,
  type ResourceOptions,
} from './resource-options.ts';
import {
  fillLabel,
  nameIn,
  refuseNames,
  parameterOptionsGiven,
  readSweep,
  type ParameterOptions,
  type Sweep,
} from './parameter-options.ts';
import { dependencyOptionsGiven, type DependencyOptions } from './dependency-options.ts';
import { readMoment, readService, type ServiceOptions, serviceOptionsGiven } from './service-options.ts';
import { readScheduling } from './scheduling-options.ts';

/** What `job submit` takes for the job as a whole; each also overrides what a job file says. */
export interface JobOptions extends ResourceOptions, ServiceOptions, DependencyOptions {
  readonly label?: string;
  readonly env?: readonly string[];
  readonly limitTime?: string;
  readonly limitMemory?: string;
  readonly limitOutput?: string;
  readonly replicas?: string;
  readonly retries?: string;
  readonly failuresMax?: string;
  readonly processors?: string;
  /** The same as `processors`. */
  readonly cpus?: string;
  readonly gang?: boolean;
  readonly deadline?: string;
  readonly verify?: string;
  readonly scheduler?: string;
  readonly replicationBudget?: string;
  readonly siteSelection?: string;
  readonly archiveOutputs?: string;
  readonly sharedPlaces?: boolean;
  readonly chdir?: string;
  readonly inPlace?: boolean;
}

/** The options that say where tasks start. */
export type WorkFolderOptions = Pick<JobOptions, 'chdir' | 'inPlace'>;

/** What `job submit` takes for a command after `--`; a job file says these itself. */
export interface TaskOptions extends ParameterOptions {
  readonly array?: string;
  readonly eachLine?: string;
  readonly values?: string;
  readonly requirements?: string;
  readonly check?: string;
  readonly put?: readonly string[];
  readonly store?: readonly string[];
  readonly get?: readonly string[];
  readonly op: boolean;
}

/** Names of the options that make no sense with a job file, as the user writes them, with whether they were given. */
export function taskOptionsGiven(options: TaskOptions): string[] {
  const given: readonly (readonly [string, unknown])[] = [
    ['--array', options.array],
    ['--each-line', options.eachLine],
    ['--values', options.values],
    ['--requirements', options.requirements],
    ['--check', options.check],
    ['--put', options.put?.[0]],
    ['--store', options.store?.[0]],
    ['--get', options.get?.[0]],
    ['--no-op', options.op ? undefined : true],
  ];
  return [...given.filter(([, value]) => value !== undefined).map(([name]) => name), ...parameterOptionsGiven(options)];
}

/** As `taskOptionsGiven`, of the options for a job as a whole. */
export function jobOptionsGiven(options: JobOptions): string[] {
  const given: readonly (readonly [string, unknown])[] = [
    ['--label', options.label],
    ['--env', options.env?.[0]],
    ['--limit-time', options.limitTime],
    ['--limit-memory', options.limitMemory],
    ['--limit-output', options.limitOutput],
    ['--replicas', options.replicas],
    ['--retries', options.retries],
    ['--failures-max', options.failuresMax],
    ['--processors', options.processors],
    ['--cpus', options.cpus],
    ...resourceOptionsGiven(options),
    ...serviceOptionsGiven(options),
    ...dependencyOptionsGiven(options),
    ['--gang', options.gang],
    ['--deadline', options.deadline],
    ['--scheduler', options.scheduler],
    ['--replication-budget', options.replicationBudget],
    ['--site-selection', options.siteSelection],
    ['--verify', options.verify],
    ['--archive-outputs', options.archiveOutputs],
    ['--shared-places', options.sharedPlaces],
    ['--chdir', options.chdir],
    ['--in-place', options.inPlace],
  ];
  return given.filter(([, value]) => value !== undefined).map(([name]) => name);
}

/**
 * Makes a bag of tasks of a command and its values.
 *
 * @param readList reads the file of `--each-line`.
 * @throws {FormatError | MutiraoError} for what is wrong with an option.
 */
export function makeJob(
  command: readonly string[],
  options: TaskOptions & WorkFolderOptions & Pick<JobOptions, 'label' | 'env'>,
  directory: string,
  readList: (file: string) => string,
): JobSpec {
  const sweep = readSweep(options, readList);
  const values = readValues(options, sweep, readList);
  for (const text of [options.requirements ?? '', ...(options.env ?? [])]) refuseNames(text, sweep);
  const places = { directory, workFolder: readWorkFolder(options, directory) };
  const named = (texts: readonly string[] | undefined, option: string): string[] =>
    (texts ?? []).map((text) => nameIn(text, `${option} ${JSON.stringify(text)}`, sweep));
  const words = command.map((word) => nameIn(word, 'the command', sweep));
  // One word is a line for the shell, as ssh takes it; several are a command and its arguments, each kept whole.
  const [only, ...others] = words;
  const group = makeTaskGroup({
    command: only !== undefined && others.length === 0 ? only : words,
    values,
    inputs: [
      ...named(options.put, '--put').map((text) => readInput(text, 'playpen', places)),
      ...named(options.store, '--store').map((text) => readInput(text, 'storage', places)),
    ],
    outputs: named(options.get, '--get').map((text) => readOutput(text, places)),
    check: nameIn(options.check ?? '', '--check', sweep),
    requirements: options.requirements ?? '',
    noOp: !options.op,
  });
  const label = sweep === undefined ? {} : { label: fillLabel(options.label ?? '', sweep) };
  return { ...jobDefaults, ...label, groups: [group], homeDirectory: directory };
}

function readValues(
  options: TaskOptions,
  sweep: Sweep | undefined,
  readList: (file: string) => string,
): Values | undefined {
  const given = taskOptionsGiven(options).filter((name) =>
    ['--array', '--each-line', '--values', '--param', '--param-file'].includes(name),
  );
  const isSweep = given.every((name) => name.startsWith('--param'));
  if (given.length > 1 && !isSweep)
    throw new MutiraoError('MUT_BAD_REQUEST', `${given.join(' and ')} are given; expected one of them`);
  if (sweep !== undefined) return sweep.values;
  if (options.array !== undefined) return parseArray(options.array);
  if (options.eachLine !== undefined) return parseLines(readList(options.eachLine), options.eachLine);
  if (options.values === undefined) return undefined;
  return { kind: 'list', values: options.values.split(',') };
}

/** Where the paths of `--put` and `--get` begin. */
interface Places {
  readonly directory: string;
  /** Where tasks start; undefined for a folder of their own. */
  readonly workFolder: string | undefined;
}

/**
 * `SRC[:DST]`: a path at home, and where it goes on the machine; its own name when left out, and with `--chdir` its own
 * place.
 */
function readInput(text: string, root: Root, { directory, workFolder }: Places): InputSpec {
  const [source, destination] = splitPaths(text);
  const absolute = resolve(directory, source);
  const usual = workFolder === undefined || root === 'storage' ? basename(source) : relative(workFolder, absolute);
  return {
    source: { kind: 'path', path: absolute },
    root,
    path: insideOrRefused(destination ?? usual, text),
    condition: '',
  };
}

/**
 * `SRC[:DST]`: a path on the machine (after `$STORAGE/` in the storage), and where it goes at home; its own name when
 * left out, and with `--chdir` its own place.
 */
function readOutput(text: string, { directory, workFolder }: Places): OutputSpec {
  const [source, destination] = splitPaths(text);
  const inStorage = /^\$STORAGE(\/|$)/.test(source);
  const inFolder = workFolder !== undefined && !inStorage;
  const stripped = source.replace(/^\$(STORAGE|PLAYPEN)(\/|$)/, '');
  const path = inFolder && isAbsolute(stripped) ? relative(workFolder, stripped) : stripped;
  const usual = inFolder ? resolve(workFolder, path) : resolve(directory, basename(source));
  const localPath =
    destination === undefined
      ? usual
      : resolve(directory, destination, destination.endsWith('/') ? basename(source) : '');
  return { root: inStorage ? 'storage' : 'playpen', path: insideOrRefused(path, text), localPath, condition: '' };
}

/**
 * The folder that tasks start in; undefined where each has a folder of its own. @throws {MutiraoError} MUT_BAD_REQUEST.
 */
function readWorkFolder({ chdir, inPlace }: WorkFolderOptions, directory: string): string | undefined {
  if (chdir !== undefined && inPlace === true)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--chdir ${chdir} and --in-place are given; expected one of them: --in-place is the folder of submission`,
    );
  if (chdir === '') throw new MutiraoError('MUT_BAD_REQUEST', '--chdir is empty; expected a folder, as in "--chdir ."');
  return chdir === undefined && inPlace !== true ? undefined : resolve(directory, chdir ?? '');
}

function splitPaths(text: string): [source: string, destination: string | undefined] {
  const colon = text.lastIndexOf(':');
  const source = colon < 0 ? text : text.slice(0, colon);
  const destination = colon < 0 ? undefined : text.slice(colon + 1);
  if (source === '' || destination === '')
    throw new MutiraoError('MUT_BAD_REQUEST', `expected SRC or SRC:DST, found "${text}"`);
  return [source, destination];
}

function insideOrRefused(path: string, text: string): string {
  const inside = keepInside(path);
  if (inside === undefined)
    throw new MutiraoError(
      'MUT_PATH_LEAVES_ROOT',
      `"${text}" names ${path} on the machine; expected a path that stays inside playpen or storage`,
    );
  return inside;
}

/**
 * Lays what the options say over a job; relative paths begin at `directory`, and times count from `now`. @throws
 * {FormatError | MutiraoError} for what is wrong with an option.
 */
export function overrideJob(
  job: JobSpec,
  options: JobOptions & ParameterOptions,
  { directory, now }: { readonly directory: string; readonly now: number },
): JobSpec {
  const { env = [], limitTime, limitMemory, limitOutput, replicas, retries, deadline, verify } = options;
  refuseLittleMemory('--limit-memory', limitMemory);
  const once = { ...readGang(job, options), ...placeInFolder(options, directory) };
  const { groups, ...widths } = readWidths(job, options);
  const asking = overrideResources({ ...job, groups: overrideAlternatives(groups, options) }, options);
  const limits = {
    runTimeMax: limitTime === undefined ? job.limits.runTimeMax : parseDuration(limitTime),
    memoryMax: limitMemory === undefined ? job.limits.memoryMax : parseSize(limitMemory),
    outputMax: limitOutput === undefined ? job.limits.outputMax : parseSize(limitOutput),
  };
  return {
    ...asking,
    ...readMemoryGrowth(options, { ...asking, limits }),
    ...once,
    label: chooseLabel(job, options),
    environment: { ...job.environment, ...readVariables(env) },
    limits,
    replicasMax:
      replicas === undefined
        ? (once.replicasMax ?? job.replicasMax)
        : readInteger('--replicas', replicas, { min: 1, max: 16 }),
    failuresMax: retries === undefined ? job.failuresMax : readInteger('--retries', retries, { min: 0, max: 99 }) + 1,
    ...readFailuresMax(options, { ...job, groups }),
    ...widths,
    deadline: deadline === undefined ? job.deadline : readMoment(deadline, now),
    ...readVerification(verify),
    ...readScheduling(options),
    ...readService(options, now),
    ...readPlaces(options, directory),
  };
}

/** How many tasks may fail before the job is stopped: a count, or a share of its tasks, rounded up. */
function readFailuresMax(
  { failuresMax }: Pick<JobOptions, 'failuresMax'>,
  { groups }: Pick<JobSpec, 'groups'>,
): Pick<JobSpec, 'failedTasksMax'> {
  if (failuresMax === undefined) return {};
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(failuresMax)?.[1];
  if (percent === undefined)
    return { failedTasksMax: readInteger('--failures-max', failuresMax, { min: 1, max: 1_000_000 }) };
  if (Number(percent) === 0 || Number(percent) > 100)
    throw new MutiraoError('MUT_BAD_REQUEST', `--failures-max is "${failuresMax}"; expected a count, or 1% to 100%`);
  const taskCount = groups.reduce((sum, { values }) => sum + countValues(values), 0);
  return { failedTasksMax: Math.max(1, Math.ceil((taskCount * Number(percent)) / 100)) };
}

function countValues(values: JobSpec['groups'][number]['values']): number {
  return values.kind === 'range' ? values.count : values.values.length;
}

/** Names in the label of a sweep are filled in already. */
function chooseLabel(job: JobSpec, options: JobOptions & ParameterOptions): string {
  return options.label === undefined || parameterOptionsGiven(options).length > 0 ? job.label : options.label;
}

/** Gangs of a job are all as wide as the widest of its tasks. */
function readProcessors(job: JobSpec, options: Pick<JobOptions, 'processors' | 'cpus' | 'gang'>): number {
  const { processors, cpus, gang } = options;
  if (processors !== undefined && cpus !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      '--processors and --cpus are given; expected one of them: they are the same',
    );
  if (processors !== undefined) return readInteger('--processors', processors, { min: 1, max: 65_536 });
  if (cpus !== undefined) return readInteger('--cpus', cpus, { min: 1, max: 65_536 });
  return gang === true
    ? job.groups.reduce((most, group) => Math.max(most, group.processors ?? 1), job.processors)
    : job.processors;
}

/** A gang runs once at a time. */
function readGang(job: JobSpec, options: JobOptions): Partial<Pick<JobSpec, 'gang' | 'replicasMax'>> {
  const { gang } = options;
  if (gang !== true) return {};
  if (readProcessors(job, options) === 1)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      '--gang is given for tasks of one processor; expected --processors with more',
    );
  return { gang, replicasMax: 1 };
}

/** Tasks that start in a folder of home run once at a time: two runs would write the same files. */
function placeInFolder(
  options: WorkFolderOptions,
  directory: string,
): Partial<Pick<JobSpec, 'workFolder' | 'replicasMax'>> {
  const workFolder = readWorkFolder(options, directory);
  return workFolder === undefined ? {} : { workFolder, replicasMax: 1 };
}

/** What is said of all tasks goes before what a file says of some; gangs are all of one width. */
function readWidths(job: JobSpec, options: JobOptions): Pick<JobSpec, 'processors' | 'groups'> {
  return {
    processors: readProcessors(job, options),
    groups:
      (options.processors ?? options.cpus) === undefined && options.gang !== true
        ? job.groups
        : job.groups.map(ofOneWidth),
  };
}

/** As wide as its job. */
function ofOneWidth({ processors: _least, processorsMax: _most, ...group }: TaskGroup): TaskGroup {
  return group;
}

function readVotes(text: string): Verification | undefined {
  const [, kind, value = ''] = /^(vote|credibility):(\d+|0?\.\d+)$/.exec(text) ?? [];
  const number = Number(value);
  if (kind === 'vote')
    return Number.isInteger(number) && number >= 1 && number <= 15 ? { kind, count: number } : undefined;
  return kind === 'credibility' && number > 0 && number < 1 ? { kind, threshold: number } : undefined;
}

const verifyWanted = 'expected none, check, vote:K with K in 1..15, or credibility:Q with Q above 0 and below 1';

function readVerification(text: string | undefined): Pick<JobSpec, 'verification'> {
  if (text === undefined) return {};
  if (text === 'none' || text === 'check') return { verification: { kind: text } };
  const verification = readVotes(text);
  if (verification !== undefined) return { verification };
  throw new MutiraoError('MUT_BAD_REQUEST', `--verify is "${text}"; ${verifyWanted}`);
}

function readPlaces(
  { archiveOutputs: gather, sharedPlaces }: JobOptions,
  directory: string,
): Pick<JobSpec, 'gatherFolder' | 'sharedPlaces'> {
  return { ...readGathering(gather, directory), ...(sharedPlaces === true ? { sharedPlaces } : {}) };
}

function readGathering(folder: string | undefined, directory: string): Pick<JobSpec, 'gatherFolder'> {
  if (folder === undefined) return {};
  if (folder === '') throw new MutiraoError('MUT_BAD_REQUEST', '--archive-outputs is empty; expected a folder');
  return { gatherFolder: resolve(directory, folder) };
}

function readVariables(texts: readonly string[]): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of texts.map(readVariable)) {
    if (Object.hasOwn(variables, name))
      throw new MutiraoError(
        'MUT_BAD_REQUEST',
        `--env ${name} is given twice, as "${variables[name] ?? ''}" and "${value}"; expected it once`,
      );
    variables[name] = value;
  }
  return variables;
}

function readVariable(text: string): [name: string, value: string] {
  const match = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(text);
  if (match?.[1] === undefined || match[2] === undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', `--env is "${text}"; expected NAME=VALUE`);
  return [match[1], match[2]];
}
