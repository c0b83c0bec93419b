import type { Task, TaskPage } from '../../../src/schema/index.ts';
import { taskInks, type TaskState } from './palette.ts';
import { sayDuration } from './words.ts';

/** Which tasks of a job are listed; all of it is in the address. */
export interface TaskSpec {
  /** Undefined for all. */
  readonly status: TaskState | undefined;
  /** Part of the value, or `#` and an index. */
  readonly search: string;
}

/** Reads the query of an address; invalid parts count as left out. */
export function readTaskSpec(query: string): TaskSpec {
  const words = new URLSearchParams(query);
  const status = words.get('status') ?? '';
  return {
    status: Object.hasOwn(taskInks, status) ? (status as TaskState) : undefined,
    search: (words.get('search') ?? '').slice(0, 256),
  };
}

/** The query of an address, with its question mark; empty where all tasks are listed. */
export function getTaskQuery({ status, search }: TaskSpec): string {
  const words = new URLSearchParams();
  if (status !== undefined) words.set('status', status);
  if (search !== '') words.set('search', search);
  return words.size === 0 ? '' : `?${words.toString()}`;
}

/** Tasks that were read, from an index on. */
export interface TaskPageRead {
  readonly from: number;
  readonly tasks: readonly Task[];
  /** Where the next page begins; null where this is the last. */
  readonly next: number | null;
}

/**
 * Pages with one that was read, new or once more. Tasks come into a list and leave it while a job runs: a page never
 * repeats what the one behind it has, and later pages are dropped where tasks between them would be missing.
 */
export function takePage(
  pages: readonly TaskPageRead[],
  from: number,
  { tasks, next_task_index: next }: TaskPage,
): readonly TaskPageRead[] {
  const before = pages.filter((page) => page.from < from);
  const behind = pages.filter((page) => page.from > from);
  const following = behind[0]?.from;
  if (following === undefined || next === null || next < following) return [...before, { from, tasks, next }];
  const own = tasks.filter(({ task_index: index }) => index < following);
  return [...before, { from, tasks: own, next: following }, ...behind];
}

/** The fields of a task's row, in addition to its number, value and status. */
export interface TaskLine {
  /** Runs that began. */
  readonly runs: number;
  /** The number of replicas that were withdrawn before they began. */
  readonly withdrawn: number;
  /** Where the run that counts was: the accepted one, else the one under way, else the last. Empty before any. */
  readonly machineId: string;
  /** How long that run took or has taken; empty before it began. */
  readonly took: string;
  /** Why the last run failed; empty where none did or another was accepted. */
  readonly trouble: string;
}

/** The row of a task. */
export function describeTask({ replicas, status }: Pick<Task, 'replicas' | 'status'>, now: number): TaskLine {
  const shown = replicas.filter((replica) => !replica.is_withdrawn);
  const counts = shown.findLast(({ accepted }) => accepted) ?? shown.findLast(isUnderWay) ?? shown.at(-1);
  return {
    runs: shown.filter(({ started_unix_ms: started }) => started !== null).length,
    withdrawn: replicas.length - shown.length,
    machineId: counts?.machine_id ?? '',
    took: counts === undefined ? '' : sayTook(counts, now),
    trouble: status === 'finished' ? '' : findTrouble(shown),
  };
}

function sayTook({ started_unix_ms: started, ended_unix_ms: ended }: Task['replicas'][number], now: number): string {
  if (started !== null) return sayDuration(Math.max(0, (ended ?? now) - started));
  return ended === null ? 'staging' : '';
}

function isUnderWay({ ended_unix_ms: ended }: Task['replicas'][number]): boolean {
  return ended === null;
}

function findTrouble(replicas: Task['replicas']): string {
  const failed = replicas.findLast(({ outcome }) => ['failed', 'limited', 'broken'].includes(outcome));
  if (failed === undefined) return '';
  return failed.detail?.text ?? (failed.exit_status > 0 ? `exit status ${failed.exit_status}` : failed.reason);
}

/** A task by its name: its id in a workflow or its value, and its index, which the command line takes. */
export function nameTask(taskIndex: number, value: string): string {
  return value === '' || value.length > 40 ? String(taskIndex) : `${taskIndex} · ${value}`;
}
