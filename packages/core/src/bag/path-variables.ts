import type { Fault } from '../reasons/index.ts';
import { isPrintable, type JobId, type MachineId, type TaskIndex } from '../shared/index.ts';
import { fillPart, type Template } from './template.ts';

/** Names, without the dollar sign, and values; of two names that fit, the first counts. */
export type PathVariables = readonly (readonly [name: string, value: string])[];

/** Where a task runs, for the variables of its paths. */
export interface PathPlace {
  readonly jobId: JobId;
  readonly taskIndex: TaskIndex;
  readonly machineId: MachineId;
  /** The machine's, as it states them. */
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * The variables of JDF's paths, in the order in which they are tried: `$JOB`, `$TASK`, `$PROC`, then each attribute of
 * the
 * machine, longer names first.
 *
 * `$PROC` is `username@servername` where the machine states both, else the machine's id. Departs from OurGrid, which
 * takes
 * the attributes in no particular order, so that `$os` could spoil `$osversion`.
 */
export function getPathVariables(place: PathPlace): PathVariables {
  const { username, servername } = place.attributes;
  const processor = username === undefined || servername === undefined ? place.machineId : `${username}@${servername}`;
  const attributes = Object.entries(place.attributes).sort(([left], [right]) => right.length - left.length);
  return [['JOB', String(place.jobId)], ['TASK', String(place.taskIndex)], ['PROC', processor], ...attributes];
}

/**
 * Replaces each `$NAME` in a path, as plain text: with JOB 3 and TASK 7 `$TASKID` is `7ID`, `\$JOB` is `\3`, and
 * `${JOB}` stays as it is. Unknown names stay; values are not expanded again.
 */
export function expandPathVariables(text: string, variables: PathVariables): string {
  return expandFrom('', text, variables, () => undefined);
}

/**
 * Appends a text to `before`, with its variables replaced. @param `receive` called with each variable's position in
 * `variables`, and where its value begins.
 */
function expandFrom(
  before: string,
  text: string,
  variables: PathVariables,
  receive: (position: number, at: number) => void,
): string {
  let expanded = before;
  let done = 0;
  for (let at = text.indexOf('$'); at !== -1; at = text.indexOf('$', at + 1)) {
    const position = variables.findIndex(([name]) => name !== '' && text.startsWith(name, at + 1));
    const variable = variables[position];
    if (variable === undefined) continue;
    expanded += text.slice(done, at);
    receive(position, expanded.length);
    expanded += variable[1];
    done = at + 1 + variable[0].length;
  }
  return expanded + text.slice(done);
}

/** A path with its variables filled in. */
export interface FilledPath {
  readonly path: string;
  /**
   * Where the first name begins that contains a machine's words; undefined if none does. From there on the path must be
   * used without following links: a machine chooses among the names in a folder, and must not choose a link that leads
   * out of it.
   */
  readonly machineFrom: number | undefined;
}

/** A variable whose value cannot be part of a path at home. */
export interface UnsafeVariable {
  readonly fault: Fault;
}

/** What a path is filled in with. */
export interface PathWords {
  /** The task's value, which its user wrote. */
  readonly value: string;
  readonly index: TaskIndex;
  readonly place: PathPlace;
}

const nameLengthMax = 255;
/** Characters of a value that a fault repeats. */
const valueShownMax = 200;

/** Why a word of a machine cannot be part of a file's name; undefined if it can. */
export function findNameFault(word: string): Fault | undefined {
  if (!isPrintable(word)) return { code: 'name-with-control-character' };
  if (word.includes('/')) return { code: 'name-with-slash' };
  if (word === '.' || word === '..') return { code: 'name-of-other-folder' };
  return word.length > nameLengthMax ? { code: 'name-too-long', charactersMax: nameLengthMax } : undefined;
}

/**
 * Fills in a path at home for a task on a machine. The user's parts (the template and the task's value) may lead
 * anywhere; each variable of a machine becomes a part of one name, which is neither empty nor hidden.
 *
 * The id of a machine is the exception: it is two such names with a "/" between them.
 */
export function fillPath(template: Template, { value, index, place }: PathWords): FilledPath | UnsafeVariable {
  const variables = getPathVariables(place);
  const words: MachineWord[] = [];
  const noteWord = (position: number, at: number): void => {
    const [name, text] = variables[position] ?? ['', ''];
    if (position >= ownVariables) words.push({ name, value: text, at });
  };
  let path = '';
  for (const part of template) {
    if (part.kind === 'text') path = expandFrom(path, part.text, variables, noteWord);
    else path += fillPart(part, value, index);
  }
  for (const word of words) {
    const fault = findWordFault(path, word, place.machineId);
    if (fault !== undefined)
      return {
        fault: {
          code: 'path-variable-unsafe',
          variable: word.name,
          value: word.value.slice(0, valueShownMax),
          machineId: place.machineId,
          cause: fault,
        },
      };
  }
  return { path, machineFrom: words[0] === undefined ? undefined : path.lastIndexOf('/', words[0].at - 1) + 1 };
}

/** A value that a machine states, and its position in a path. */
interface MachineWord {
  readonly name: string;
  readonly value: string;
  readonly at: number;
}

/** The number of a job and of a task are ours. */
const ownVariables = 2;

function findWordFault(path: string, { value, at }: MachineWord, machineId: MachineId): Fault | undefined {
  const names = value === machineId ? value.split('/') : [value];
  const fault = names.map(findNameFault).find((one) => one !== undefined);
  if (fault !== undefined) return fault;
  const from = path.lastIndexOf('/', at - 1) + 1;
  const end = path.indexOf('/', at + value.length);
  const made = path
    .slice(from, end === -1 ? undefined : end)
    .split('/')
    .find((name) => name === '' || name === '.' || name === '..');
  if (made !== undefined) return made === '' ? { code: 'path-name-empty' } : { code: 'path-name-relative', name: made };
  // What the user wrote before it may say that a hidden file is meant.
  return at === from && path[from] === '.' ? { code: 'path-name-hidden' } : undefined;
}
