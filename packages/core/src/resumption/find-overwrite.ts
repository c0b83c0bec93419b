import { parseTemplate, renderPath } from '../bag/index.ts';
import type { JobSpec } from '../messages/index.ts';
import type { TaskIndex } from '../shared/index.ts';
import type { TaskToRun } from './choose-taken.ts';
import { listTasks, type ListedTask } from './list-tasks.ts';

/** A place at home that a task would write over, where another task of the earlier job has its result. */
export interface Overwrite {
  readonly place: string;
  readonly taskIndex: TaskIndex;
  readonly formerIndex: TaskIndex;
}

/** The results to check. */
interface Results {
  readonly runs: readonly TaskToRun[];
  hasFinished(former: TaskIndex): boolean;
}

const indexVariable = /\$(?:TASK\b|\{TASK\})/g;

/**
 * Finds a task that runs and would write over the result of another task, because its index changed: when only some of
 * the values are submitted again, `{#}` begins at 0 over good results. Only places that contain the index are checked.
 * Cost: O(tasks and outputs).
 */
export function findOverwrite(next: JobSpec, former: JobSpec, { runs, hasFinished }: Results): Overwrite | undefined {
  const formerTasks = listTasks(former);
  const written = new Map(
    formerTasks
      .filter(({ index }) => hasFinished(index))
      .flatMap((task) => listPlaces(task).map((place) => [place, task] as const)),
  );
  if (written.size === 0) return undefined;
  const known = new Set(formerTasks.map(workOf));
  const tasks = listTasks(next);
  // One of the same value whose command was mended writes its own result again, unless it is a former task that has
  // moved.
  const isOther = (task: ListedTask, before: ListedTask): boolean =>
    workOf(before) !== workOf(task) && (before.value !== task.value || known.has(workOf(task)));
  for (const { taskIndex } of runs) {
    const task = tasks[taskIndex];
    if (task === undefined) continue;
    for (const place of listPlaces(task)) {
      const before = written.get(place);
      if (before !== undefined && isOther(task, before)) return { place, taskIndex, formerIndex: before.index };
    }
  }
  return undefined;
}

function workOf({ group: { command }, value }: ListedTask): string {
  return JSON.stringify([command, value]);
}

/** Where outputs come at home whose place holds the index; what depends on the job or the machine is left out. */
function listPlaces({ group: { outputs }, value, index }: ListedTask): string[] {
  const places = outputs
    .filter(({ localPath }) => /\{#\}|\$\{?TASK\b/.test(localPath))
    .map(({ localPath }) =>
      renderPath(parseTemplate(localPath), value, index).replaceAll(indexVariable, String(index)),
    );
  return places.filter((place) => !place.includes('$'));
}
