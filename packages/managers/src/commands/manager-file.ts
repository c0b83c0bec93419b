import { readFileSync } from 'node:fs';
import { isErrorCode, MutiraoError, type ErrorCode } from '@mutirao/api/errors';
import { describeError, type Duration } from '@mutirao/core/shared';
import { FieldReader } from './field-reader.ts';
import { refuseUnknownPlaceholders } from './fill-template.ts';
import { parseSpan } from './parse-span.ts';
import { readNodes, slotPlaceholders, type SlotTerms } from './slot-values.ts';

/** How to ask a manager for an allocation. */
export interface SubmitTemplate {
  readonly command: readonly string[];
  /** Whether the job's script goes to the command's standard input; otherwise `{script}` names its file. */
  readonly input: 'script' | 'none';
  /** Its first group is the manager's id in what the command wrote. */
  readonly id: RegExp;
  /** Shell words that run `{process}` once for each processor; empty to run all of them where the script runs. */
  readonly launch: string;
  /** Shell words for the index of a process that `launch` started, from 0. */
  readonly processIndex: string;
  /** What a refusal says, and the code that it means; the first that matches. */
  readonly refusals: readonly { readonly pattern: RegExp; readonly code: ErrorCode }[];
}

/** How to take a request out, one (`{id}`) or several (`{ids}`) at a time. */
export interface CancelTemplate {
  readonly command: readonly string[];
  /** What it says of a request that is over or unknown. */
  readonly gone: RegExp | undefined;
}

/** What is read of a listed request; id, key, state, width and walltime always. */
export const queueFields = [
  'id',
  'key',
  'state',
  'width',
  'walltime',
  'user',
  'submitted',
  'starts',
  'ended',
  'reason',
] as const;
/** One of them. */
export type QueueField = (typeof queueFields)[number];
const neededFields: readonly QueueField[] = ['id', 'key', 'state', 'width', 'walltime'];

/** The fields of an entry: by named groups of a line's pattern, or by where they are in JSON. */
export type QueueFormat =
  | { readonly kind: 'lines'; readonly pattern: RegExp; readonly skip: RegExp | undefined }
  | {
      readonly kind: 'json';
      readonly fields: ReadonlyMap<QueueField, string>;
      /** Where the array or object of entries is; empty for the whole. */
      readonly items: string;
      /** An answer without it is an empty queue, and no nonsense. */
      readonly mayLackItems: boolean;
    };

/** How to list the queue. */
export interface QueueTemplate {
  readonly command: readonly string[];
  readonly format: QueueFormat;
  readonly states: ReadonlyMap<string, ListedState>;
}

/** What a manager's words stand for; `held` is queued, but for something else than processors. */
export type ListedState = (typeof listedStates)[number];
const listedStates = ['queued', 'held', 'running', 'ended'] as const;

/** A limit as it is, or the first group of each match of a pattern, added up. */
export type LimitTemplate =
  | { readonly kind: 'given'; readonly value: number }
  | { readonly kind: 'read'; readonly pattern: RegExp };
/** Names of limits. */
export const limitNames = ['processors', 'widthMax', 'requestsMax', 'walltimeMax', 'walltimeGranularity'] as const;
/** One of them. */
export type LimitName = (typeof limitNames)[number];

/** What the manager allows. */
export interface LimitsTemplate extends SlotTerms {
  /** Empty when all are given. */
  readonly command: readonly string[];
  readonly values: ReadonlyMap<LimitName, LimitTemplate>;
}

/** A resource manager by the templates of its commands. */
export interface ManagerTemplates {
  readonly submit: SubmitTemplate;
  readonly cancel: CancelTemplate;
  readonly queue: QueueTemplate;
  readonly limits: LimitsTemplate;
  /** What a command says that could not reach the manager. */
  readonly unreachable: RegExp | undefined;
}

const orderPlaceholders = [
  'key',
  'user',
  'width',
  'walltime_s',
  'walltime_min',
  'walltime_hms',
  'log',
  'script',
  'flags',
  ...slotPlaceholders,
];

/**
 * Reads a file of templates. @throws {MutiraoError} MUT_BAD_CONFIG with file, field, what was found and what was
 * expected.
 */
export function readManagerFile(path: string): ManagerTemplates {
  const file = new FieldReader(parseFile(path), {
    file: path,
    field: '',
    known: ['about', 'submit', 'cancel', 'queue', 'limits', 'unreachable'],
  });
  return {
    submit: readSubmit(file.child('submit', ['command', 'input', 'id', 'launch', 'processIndex', 'refusals'])),
    cancel: readCancel(file.child('cancel', ['command', 'gone'])),
    queue: readQueue(
      file.child('queue', ['command', 'format', 'pattern', 'skip', 'items', 'mayLackItems', 'fields', 'states']),
    ),
    limits: readLimits(file.child('limits', ['command', 'nodes', ...limitNames])),
    unreachable: file.has('unreachable') ? file.pattern('unreachable', 'mi') : undefined,
  };
}

function parseFile(path: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)));
  } catch (error) {
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `${path} cannot be read; expected a JSON file of command templates: ` + `${describeError(error)}`,
      { cause: error },
    );
  }
}

function readCommand(reader: FieldReader, placeholders: readonly string[]): readonly string[] {
  const command = reader.texts('command');
  refuseUnknownPlaceholders(command, placeholders, (expected) => reader.refuse('command', expected));
  return command;
}

function readSubmit(reader: FieldReader): SubmitTemplate {
  const command = readCommand(reader, orderPlaceholders);
  const input = reader.has('input') ? reader.word('input', ['script', 'none']) : 'script';
  if (input === 'none' && !command.some((word) => word.includes('{script}')))
    reader.refuse('command', 'a word with {script}, since "input" is "none"');
  const id = reader.pattern('id');
  if (groupCount(id) === 0) reader.refuse('id', 'a group, in parentheses, that is the id');
  return {
    command,
    input,
    id,
    ...readLaunch(reader),
    refusals: reader.has('refusals') ? readRefusals(reader.child('refusals')) : [],
  };
}

function readLaunch(reader: FieldReader): Pick<SubmitTemplate, 'launch' | 'processIndex'> {
  if (!reader.has('launch')) return { launch: '', processIndex: '' };
  const launch = reader.text('launch');
  refuseUnknownPlaceholders([launch], ['process', 'width', ...slotPlaceholders], (expected) =>
    reader.refuse('launch', expected),
  );
  if (!launch.includes('{process}')) reader.refuse('launch', '{process} somewhere in it');
  if (!reader.has('processIndex'))
    reader.refuse(
      'processIndex',
      'shell words for the index of a process, for example "$PMI_RANK", since there is a "launch"',
    );
  return { launch, processIndex: reader.text('processIndex') };
}

/** Codes are the names of the fields, patterns what they hold. */
function readRefusals(reader: FieldReader): SubmitTemplate['refusals'] {
  return reader.names.map((name) => ({
    pattern: reader.pattern(name, 'mi'),
    code: isErrorCode(name) ? name : reader.refuse(name, 'the name of the field to be a code such as MUT_WIDTH_MAX'),
  }));
}

function readCancel(reader: FieldReader): CancelTemplate {
  const command = readCommand(reader, ['id', 'ids']);
  if (!command.some((word) => word === '{ids}' || word.includes('{id}')))
    reader.refuse('command', 'a word with {id}, or {ids} as a word');
  return { command, gone: reader.has('gone') ? reader.pattern('gone', 'mi') : undefined };
}

function readQueue(reader: FieldReader): QueueTemplate {
  const states = new Map<string, ListedState>();
  const stateReader = reader.child('states', listedStates);
  for (const status of listedStates) {
    if (status === 'queued' || status === 'running' || stateReader.has(status))
      for (const word of stateReader.texts(status)) states.set(word, status);
  }
  const command = readCommand(reader, ['user']);
  return {
    command,
    format: reader.word('format', ['lines', 'json']) === 'lines' ? readLines(reader) : readJson(reader),
    states,
  };
}

function readLines(reader: FieldReader): QueueFormat {
  const pattern = reader.pattern('pattern', '');
  const groups = new Set([...pattern.source.matchAll(/\(\?<(\w+)>/g)].map(([, name]) => name ?? ''));
  const missing = neededFields.filter((name) => !groups.has(name));
  if (missing.length > 0) reader.refuse('pattern', `groups named ${missing.join(', ')} too, as (?<${missing[0]}>...)`);
  const unknown = [...groups].filter((name) => !queueFields.some((field) => field === name));
  if (unknown.length > 0)
    reader.refuse('pattern', `no group named ${unknown.join(', ')}; there are ${queueFields.join(', ')}`);
  return { kind: 'lines', pattern, skip: reader.has('skip') ? reader.pattern('skip', '') : undefined };
}

function readJson(reader: FieldReader): QueueFormat {
  const fields = reader.child('fields', queueFields);
  for (const name of neededFields) fields.text(name);
  const places = queueFields.filter((name) => fields.has(name)).map((name) => [name, fields.text(name)] as const);
  return {
    kind: 'json',
    items: reader.has('items') ? reader.text('items') : '',
    mayLackItems: reader.raw('mayLackItems') === true,
    fields: new Map(places),
  };
}

function readLimits(reader: FieldReader): LimitsTemplate {
  const command = reader.has('command') ? readCommand(reader, ['user']) : [];
  const values = new Map<LimitName, LimitTemplate>();
  for (const name of limitNames) {
    if (reader.has(name)) values.set(name, readLimit(reader, name, command.length > 0));
    else if (name === 'processors' || name === 'walltimeMax')
      reader.refuse(name, 'a number, a duration or {"pattern": ...}');
  }
  return { command, values, ...readNodes(reader) };
}

function readLimit(reader: FieldReader, name: LimitName, hasCommand: boolean): LimitTemplate {
  const expected = name.startsWith('walltime') ? 'a duration such as "90m" or "24:00:00"' : 'a whole number';
  const value = reader.raw(name);
  if (typeof value === 'object' && value !== null && !hasCommand)
    reader.refuse(name, `${expected}, since "limits" has no "command" to read it from`);
  if (typeof value === 'object' && value !== null)
    return { kind: 'read', pattern: reader.child(name, ['pattern']).pattern('pattern', 'gm') };
  return { kind: 'given', value: parseLimit(name, value) ?? reader.refuse(name, expected) };
}

/** A limit's value from a number or text; undefined if malformed. Counts are whole numbers, walltimes milliseconds. */
export function parseLimit(name: LimitName, value: unknown): number | Duration | undefined {
  if (name.startsWith('walltime'))
    return typeof value === 'string' || typeof value === 'number' ? parseSpan(String(value)) : undefined;
  return (typeof value === 'string' || typeof value === 'number') && /^\d{1,9}$/.test(String(value))
    ? Number(value)
    : undefined;
}

function groupCount(pattern: RegExp): number {
  return (new RegExp(`${pattern.source}|`).exec('')?.length ?? 1) - 1;
}
