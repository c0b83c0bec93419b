import { readdirSync, statSync, type Dirent } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { JobSpec, OutputSpec, TaskGroup } from '@mutirao/core/messages';
import type { TaskIndex } from '@mutirao/core/shared';
import { followLinks } from '@mutirao/runtime/files';

import { Turns } from '../concurrency/turns.ts';
import { countValues, isKnownEarly, Templates, valueAt } from '../staging/variables.ts';

/** Outputs of one job that are compared: a few hundred bytes of memory each. */
const placesMax = 200_000;
const turns = new Turns();

/** Whose output has a place. */
export interface Holder {
  readonly taskIndex: TaskIndex;
  readonly output: OutputSpec;
}

/**
 * Where the outputs of a job end up, as far as that is known before it runs: by path, and the folders that these are
 * in.
 */
export class Places {
  readonly #holders = new Map<string, Holder>();
  /** Folders above a place, with one of the outputs below. */
  readonly #above = new Map<string, Holder>();
  /** What is at home now, by path: links are followed, and a folder takes files under their own names. */
  readonly #real = new Map<string, string>();
  readonly #folders = new Map<string, FoldersIn>();
  readonly #foldCase = new Map<string, boolean>();

  /** Adds a place; the output that is in its way, where there is one. */
  add(target: string, remote: string, holder: Holder): Holder | undefined {
    const place = this.#placeOf(target, remote);
    const found = this.#holderAt(place);
    if (found !== undefined) return found;
    this.#holders.set(place, holder);
    for (let folder = dirname(place); folder !== dirname(folder) && !this.#above.has(folder); folder = dirname(folder))
      this.#above.set(folder, holder);
    return undefined;
  }

  /** How many there are. */
  get count(): number {
    return this.#holders.size;
  }

  /** The output that is in the way of a place; undefined where none is. */
  find(target: string, remote: string): Holder | undefined {
    return this.#holderAt(this.#placeOf(target, remote));
  }

  #holderAt(place: string): Holder | undefined {
    return this.#holders.get(place) ?? this.#above.get(place) ?? this.#holderAbove(place);
  }

  #holderAbove(place: string): Holder | undefined {
    for (let folder = dirname(place); folder !== dirname(folder); folder = dirname(folder)) {
      const holder = this.#holders.get(folder);
      if (holder !== undefined) return holder;
    }
    return undefined;
  }

  #placeOf(target: string, remote: string): string {
    const wanted = resolve(target);
    const isInto =
      target.endsWith('/') ||
      remembered(this.#folders, dirname(wanted), (folder) => new FoldersIn(folder)).has(basename(wanted));
    const place = isInto ? join(wanted, basename(remote)) : wanted;
    const real = join(remembered(this.#real, dirname(place), followLinks), basename(place));
    return remembered(this.#foldCase, dirname(real), foldsCase) ? real.toLowerCase() : real;
  }
}

/**
 * Sees that no two outputs of a job end up in one place at home, where all results but the last would vanish, nor one
 * below another.
 *
 * The final paths are compared: after values and numbers are filled in, with links at home followed, and without regard
 * to case where home's file system has none. What
 * depends on the machine is not known yet and is left to the run. It compares the first 200,000 outputs of a job.
 * @returns the places; undefined where the job may share them, or has none of its own.
 * @throws {MutiraoError} MUT_OUTPUT_CONFLICT, naming both tasks and what to write instead.
 */
export async function checkPlaces(spec: JobSpec): Promise<Places | undefined> {
  // Gathered outputs are members of archives, which hold each of them.
  if (spec.sharedPlaces === true || spec.gatherFolder !== undefined) return undefined;
  const places = new Places();
  await eachPlace(spec, isKnownButForJob, ({ holder, target, remote }) => {
    const other = places.add(target, remote, holder);
    // Of two outputs under conditions a machine may meet one alone.
    if (
      other !== undefined &&
      (other.taskIndex !== holder.taskIndex || (other.output.condition === '' && holder.output.condition === ''))
    )
      throw conflict(other, holder, target);
    return places.count < placesMax;
  });
  return places;
}

/**
 * The places of those tasks of a job that was accepted before; undefined where it may share them, or has none of its
 * own.
 */
export async function placesOfTasks(
  spec: JobSpec,
  isOf: (taskIndex: TaskIndex) => boolean,
): Promise<Places | undefined> {
  if (spec.sharedPlaces === true || spec.gatherFolder !== undefined) return undefined;
  const places = new Places();
  await eachPlace(spec, isKnownButForJob, ({ holder, target, remote }) => {
    if (isOf(holder.taskIndex)) places.add(target, remote, holder);
    return places.count < placesMax;
  });
  return places;
}

/** An output of a task, and where it goes. */
export interface PlaceOfTask {
  readonly holder: Holder;
  readonly target: string;
  /** Where it is on the machine, which names it in a folder at home. */
  readonly remote: string;
}

/** Visits the places of a job's outputs, task by task, until `visit` is false. Lets others have their turn. */
export async function eachPlace(
  spec: JobSpec,
  isWanted: (output: OutputSpec) => boolean,
  visit: (place: PlaceOfTask) => boolean,
): Promise<void> {
  const templates = new Templates();
  let first = 0;
  for (const group of spec.groups) {
    const outputs = group.outputs.filter((output) => output.localPath !== '' && isWanted(output));
    if (outputs.length > 0 && !(await getEachPlace({ group, outputs, first }, templates, visit))) return;
    first += countValues(group.values);
  }
}

interface GroupOutputs {
  readonly group: TaskGroup;
  readonly outputs: readonly OutputSpec[];
  readonly first: TaskIndex;
}

async function getEachPlace(
  { group: { values }, outputs, first }: GroupOutputs,
  templates: Templates,
  visit: (place: PlaceOfTask) => boolean,
): Promise<boolean> {
  const count = countValues(values);
  for (let position = 0; position < count; position += 1) {
    if (turns.isOver()) await turns.next();
    const taskIndex = first + position;
    const fillIn = templates.fillInEarly({ taskIndex, value: valueAt(values, position) });
    for (const output of outputs) {
      if (!visit({ holder: { taskIndex, output }, target: fillIn(output.localPath), remote: fillIn(output.path) }))
        return false;
    }
  }
  return true;
}

function isKnownButForJob({ localPath, path }: OutputSpec): boolean {
  return isKnownEarly(withoutJob(localPath)) && isKnownEarly(withoutJob(path));
}

/** The job's number is the same for all of its tasks. */
function withoutJob(path: string): string {
  return path.replaceAll('$JOB', '');
}

function conflict(one: Holder, other: Holder, target: string): MutiraoError {
  const [first, second] = [
    `${one.output.path} of task ${one.taskIndex}`,
    `${other.output.path} of task ${other.taskIndex}`,
  ];
  const isSame = one.taskIndex === other.taskIndex;
  const fix = isSame
    ? 'give each output of a task a place of its own'
    : `put {} (the value) or {#} (the task's number) into the place, as in "--get ` +
      `'${other.output.path}:${basename(target)}-{#}'"`;
  return new MutiraoError(
    'MUT_OUTPUT_CONFLICT',
    `${first} and ${second} go to one place at home, ${target}, where one would replace the other; ${fix}, or ` +
      'allow it with --shared-places',
  );
}

function remembered<Value>(known: Map<string, Value>, key: string, find: (key: string) => Value): Value {
  const found = known.get(key);
  if (found !== undefined) return found;
  const value = find(key);
  known.set(key, value);
  return value;
}

/** More names than this in one folder are not looked at one by one: the folder is read, as far as it is there. */
const lookedAtMax = 64;

/** Which names in a folder are folders, or links to some. */
class FoldersIn {
  readonly #path: string;
  readonly #known = new Map<string, boolean>();
  #entries: ReadonlyMap<string, Dirent> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  has(name: string): boolean {
    const path = join(this.#path, name);
    // The root of the file system has no name.
    if (name === '') return true;
    if (this.#known.size < lookedAtMax) return remembered(this.#known, name, () => isFolder(path));
    this.#entries ??= new Map(listEntries(this.#path).map((entry) => [entry.name, entry]));
    const entry = this.#entries.get(name);
    return entry?.isDirectory() === true || (entry !== undefined && !entry.isFile() && isFolder(path));
  }
}

function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Whether the file system of a folder, or of the nearest one above that is there, takes `A` for `a`. */
function foldsCase(folder: string): boolean {
  const status = statSync(folder, { throwIfNoEntry: false });
  if (status === undefined && folder !== dirname(folder)) return foldsCase(dirname(folder));
  const name = basename(folder);
  const swapped = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
  if (swapped === name) return folder === dirname(folder) ? false : foldsCase(dirname(folder));
  const other = statSync(join(dirname(folder), swapped), { throwIfNoEntry: false });
  return other !== undefined && other.ino === status?.ino && other.dev === status.dev;
}
