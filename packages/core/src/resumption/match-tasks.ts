import type { InputSpec, JobSpec, TaskGroup } from '../messages/index.ts';
import type { TaskIndex } from '../shared/index.ts';
import { listTasks } from './list-tasks.ts';

/** What a task of a job is to one of an earlier job. */
export type TaskMatch =
  /** It does the same: command, inputs by content, outputs. Whose outputs it reads is not looked at. */
  | { readonly kind: 'same'; readonly former: TaskIndex }
  /** `reason` is a part of a sentence: "its command is another one". `isUnknown`: nothing there wrote the same outputs, or has its place. */
  | { readonly kind: 'other'; readonly reason: string; readonly isUnknown: boolean };

/** What a task does, each part as a text that is equal where that part is. */
interface Deed {
  readonly command: string;
  readonly inputs: string;
  readonly outputs: string;
  readonly environment: string;
  readonly verification: string;
  readonly inputFiles: ReadonlyMap<string, string>;
}

/**
 * Finds for each task of a job the one of an earlier job that did the same; of several that are alike, that of its own index, or the first. No two tasks get
 * the same one.
 *
 * An input by path counts as the same where its fingerprint is; one that has none, since its path depends on the task, never does. Cost: O(tasks and files).
 */
export function matchTasks(next: JobSpec, former: JobSpec): TaskMatch[] {
  const formerDeeds = listTasks(former).map(({ group, value, index }) => deedOf(former, { group, value, index, side: 'former' }));
  const byDeed = groupBy(formerDeeds, keyOf);
  const byOutputs = groupBy(formerDeeds, ({ outputs }) => outputs);
  const nextDeeds = listTasks(next).map(({ group, value, index }) => deedOf(next, { group, value, index, side: 'next' }));
  const used = new Set<TaskIndex>();
  const chosen = nextDeeds.map((deed, index) => {
    const alike = byDeed.get(keyOf(deed)) ?? [];
    return alike.includes(index) && !used.has(index) ? takeOne(used, index) : undefined;
  });
  const waiting = new Map([...byDeed].map(([key, indexes]) => [key, indexes.values()]));
  return nextDeeds.map((deed, index) => {
    const same = chosen[index] ?? takeNext(used, waiting.get(keyOf(deed)));
    if (same !== undefined) return { kind: 'same', former: same };
    const nearest = deed.outputs === none && formerDeeds[index]?.outputs === none ? index : byOutputs.get(deed.outputs)?.[0];
    const known = nearest === undefined ? undefined : formerDeeds[nearest];
    return { kind: 'other', reason: known === undefined ? 'nothing like it was there' : describeDifference(deed, known), isUnknown: known === undefined };
  });
}

const none = '[]';

function takeOne(used: Set<TaskIndex>, index: TaskIndex): TaskIndex {
  used.add(index);
  return index;
}

function takeNext(used: Set<TaskIndex>, alike: Iterator<TaskIndex> | undefined): TaskIndex | undefined {
  for (let next = alike?.next(); next?.done === false; next = alike?.next()) if (!used.has(next.value)) return takeOne(used, next.value);
  return undefined;
}

function groupBy(deeds: readonly Deed[], keyOfDeed: (deed: Deed) => string): Map<string, TaskIndex[]> {
  const groups = new Map<string, TaskIndex[]>();
  for (const [index, deed] of deeds.entries()) {
    const key = keyOfDeed(deed);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [index]);
    else group.push(index);
  }
  return groups;
}

function keyOf({ command, inputs, outputs, environment, verification }: Deed): string {
  return [command, inputs, outputs, environment, verification].join('\n');
}

interface Described {
  readonly group: TaskGroup;
  readonly value: string;
  readonly index: TaskIndex;
  readonly side: 'next' | 'former';
}

function deedOf({ environment, homeDirectory, verification }: JobSpec, task: Described): Deed {
  const { group: { command, noOp, check, inputs, outputs } } = task;
  const placed = outputs.map(({ root, path, localPath, condition }) => [root, path, localPath, condition]);
  const texts = [command, ...inputs.map(({ path }) => path), ...placed.flat()].join('\n');
  const files = inputs.map((input): readonly [string, string] => [input.path, contentOf(input, task)]);
  return {
    command: JSON.stringify([command, noOp, task.value, check, check === '' ? '' : homeDirectory, ...placeOf(texts, task)]),
    inputs: JSON.stringify(inputs.map(({ root, path, condition }, position) => [root, path, condition, files[position]?.[1]])),
    outputs: JSON.stringify(placed),
    environment: JSON.stringify(Object.entries(environment).sort(([one], [other]) => (one < other ? -1 : 1))),
    verification: JSON.stringify(verification ?? null),
    inputFiles: new Map(files),
  };
}

/** What says the number of its task or of its job does another thing where that is another one. */
function placeOf(texts: string, { index, side }: Described): (string | number)[] {
  return [...(/\{#\}|\$\{?TASK\b/.test(texts) ? [index] : []), ...(/\$\{?JOB\b/.test(texts) ? [side] : [])];
}

function contentOf({ source, fingerprint }: InputSpec, { side }: Described): string {
  switch (source.kind) {
    case 'content': return source.content.sha256;
    case 'output': return `output ${source.path}`;
    case 'path': return `${source.path} ${fingerprint ?? `unknown ${side}`}`;
  }
}

function describeDifference(deed: Deed, former: Deed): string {
  if (deed.command !== former.command) return 'its command is another one';
  if (deed.environment !== former.environment) return 'its environment is another one';
  if (deed.verification !== former.verification) return 'its result is verified in another way';
  const changed = [...deed.inputFiles].find(([path, content]) => former.inputFiles.has(path) && former.inputFiles.get(path) !== content);
  if (changed !== undefined) return `its input ${changed[0]} is not what it was`;
  if (deed.inputs !== former.inputs) return 'it has other inputs';
  return deed.outputs === former.outputs ? 'there are more tasks like it now' : 'it has other outputs';
}
