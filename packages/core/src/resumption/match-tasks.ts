import type { InputSpec, JobSpec, TaskGroup } from '../messages/index.ts';
import type { Reason } from '../reasons/index.ts';
import type { TaskIndex } from '../shared/index.ts';
import { listTasks } from './list-tasks.ts';
import { fingerprintFor } from './revised-inputs.ts';

/** How a task of a job relates to a task of an earlier job. */
export type TaskMatch =
  /** It does the same: command, inputs by content, outputs. The source of the outputs that it reads is not compared. */
  | { readonly kind: 'same'; readonly former: TaskIndex }
  /**
   * `reason`: what differs. `isUnknown`: nothing there wrote the same outputs, or has its place.
   */
  | { readonly kind: 'other'; readonly reason: Reason; readonly isUnknown: boolean };

/** A task's action, each part as a text that is equal if the part is. */
interface Action {
  readonly command: string;
  readonly value: string;
  readonly check: string;
  /** The index of the task and the number of the job, where it uses them. */
  readonly place: string;
  readonly inputs: string;
  readonly outputs: string;
  readonly environment: string;
  readonly verification: string;
  readonly inputFiles: ReadonlyMap<string, string>;
}

/**
 * Finds for each task of a job the one of an earlier job that did the same; of several that are alike, that of its own
 * index, or the first. No two tasks get
 * the same one.
 *
 * An input by path counts as the same where its fingerprint is; one that has none, since its path depends on the task,
 * never does. Cost: O(tasks and files).
 */
export function matchTasks(next: JobSpec, former: JobSpec): TaskMatch[] {
  const formerActions = listTasks(former).map(({ group, value, index }) =>
    getAction(former, { group, value, index, side: 'former' }),
  );
  const byAction = groupBy(formerActions, getKey);
  const byOutputs = groupBy(formerActions, ({ outputs }) => outputs);
  const nextActions = listTasks(next).map(({ group, value, index }) =>
    getAction(next, { group, value, index, side: 'next' }),
  );
  const used = new Set<TaskIndex>();
  const chosen = nextActions.map((action, index) => {
    const alike = byAction.get(getKey(action)) ?? [];
    return alike.includes(index) && !used.has(index) ? takeOne(used, index) : undefined;
  });
  const waiting = new Map([...byAction].map(([key, indexes]) => [key, indexes.values()]));
  return nextActions.map((action, index) => {
    const same = chosen[index] ?? takeNext(used, waiting.get(getKey(action)));
    if (same !== undefined) return { kind: 'same', former: same };
    const known = findNearest(action, index, { formerActions, sameOutputs: byOutputs.get(action.outputs) ?? [] });
    return {
      kind: 'other',
      reason: known === undefined ? { code: 'rerun-no-match' } : findDifference(action, known),
      isUnknown: known === undefined,
    };
  });
}

const none = '[]';

/**
 * The earlier task with which one is compared: that of its own index where it wrote the same, else one that wrote the
 * same with the same value, else any such.
 */
function findNearest(
  action: Action,
  index: TaskIndex,
  {
    formerActions,
    sameOutputs,
  }: { readonly formerActions: readonly Action[]; readonly sameOutputs: readonly TaskIndex[] },
): Action | undefined {
  const own = formerActions[index];
  if (own?.outputs === action.outputs) return own;
  if (action.outputs === none) return undefined;
  const alike = sameOutputs.flatMap((former) => formerActions[former] ?? []);
  return alike.find(({ value }) => value === action.value) ?? alike[0];
}

function takeOne(used: Set<TaskIndex>, index: TaskIndex): TaskIndex {
  used.add(index);
  return index;
}

function takeNext(used: Set<TaskIndex>, alike: Iterator<TaskIndex> | undefined): TaskIndex | undefined {
  for (let next = alike?.next(); next?.done === false; next = alike?.next())
    if (!used.has(next.value)) return takeOne(used, next.value);
  return undefined;
}

function groupBy(actions: readonly Action[], keyOfAction: (action: Action) => string): Map<string, TaskIndex[]> {
  const groups = new Map<string, TaskIndex[]>();
  for (const [index, action] of actions.entries()) {
    const key = keyOfAction(action);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [index]);
    else group.push(index);
  }
  return groups;
}

function getKey({ command, value, check, place, inputs, outputs, environment, verification }: Action): string {
  return [command, JSON.stringify(value), check, place, inputs, outputs, environment, verification].join('\n');
}

interface Described {
  readonly group: TaskGroup;
  readonly value: string;
  readonly index: TaskIndex;
  readonly side: 'next' | 'former';
}

function getAction({ environment, homeDirectory, verification }: JobSpec, task: Described): Action {
  const {
    group: { command, noOp, check, inputs, outputs },
  } = task;
  const placed = outputs.map(({ root, path, localPath, condition }) => [root, path, localPath, condition]);
  const texts = [command, ...inputs.map(({ path }) => path), ...placed.flat()].join('\n');
  const files = inputs.map((input): readonly [string, string] => [input.path, getContent(input, task)]);
  return {
    command: JSON.stringify([command, noOp]),
    value: task.value,
    check: JSON.stringify([check, check === '' ? '' : homeDirectory]),
    place: JSON.stringify(placeOf(texts, task)),
    inputs: JSON.stringify(
      inputs.map(({ root, path, condition }, position) => [root, path, condition, files[position]?.[1]]),
    ),
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

function getContent(input: InputSpec, { side, index }: Described): string {
  const { source } = input;
  switch (source.kind) {
    case 'content':
      return source.content.sha256;
    case 'output':
      return `output ${source.path}`;
    case 'path':
      return `${source.path} ${fingerprintFor(input, index) ?? `unknown ${side}`}`;
  }
}

function findInputReason([path, content]: readonly [string, string]): Reason {
  return { code: content.endsWith(' unknown next') ? 'rerun-input-unknown' : 'rerun-input-changed', path };
}

function findDifference(action: Action, former: Action): Reason {
  if (action.command !== former.command) return { code: 'rerun-command-changed' };
  if (action.value !== former.value)
    return { code: 'rerun-value-changed', value: action.value, earlierValue: former.value };
  if (action.check !== former.check) return { code: 'rerun-check-changed' };
  if (action.environment !== former.environment) return { code: 'rerun-environment-changed' };
  if (action.verification !== former.verification) return { code: 'rerun-verification-changed' };
  const changed = [...action.inputFiles].find(
    ([path, content]) => former.inputFiles.has(path) && former.inputFiles.get(path) !== content,
  );
  if (changed !== undefined) return findInputReason(changed);
  if (action.inputs !== former.inputs) return { code: 'rerun-inputs-differ' };
  if (action.outputs !== former.outputs) return { code: 'rerun-outputs-differ' };
  return { code: action.place === former.place ? 'rerun-more-tasks' : 'rerun-number-changed' };
}
