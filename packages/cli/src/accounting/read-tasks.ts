import { TaskStatus, type JobSpec, type TaskGroup, type TaskRecord } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import type { BrokerClient } from '@mutirao/runtime/clients';

const pageSize = 1000;

/** Reads all tasks of a job, page after page, so that a large job is never in memory as a whole. */
export async function* readTasks(broker: BrokerClient, jobId: number): AsyncGenerator<readonly TaskRecord[]> {
  let fromTaskIndex: number | undefined = 0;
  while (fromTaskIndex !== undefined) {
    const page: { tasks: TaskRecord[]; nextTaskIndex?: number | undefined } = await broker.listTasks({
      jobId,
      taskIndexes: [],
      status: TaskStatus.UNSPECIFIED,
      pageSize,
      fromTaskIndex,
    });
    yield page.tasks;
    fromTaskIndex = page.nextTaskIndex;
  }
}

/** What a job says of its tasks. */
export class GroupsOfJob {
  readonly #spec: JobSpec;
  readonly #ends: readonly number[];

  constructor(spec: JobSpec) {
    this.#spec = spec;
    let end = 0;
    this.#ends = spec.groups.map(({ values }) => (end += countOf(values)));
  }

  /** Cost: O(log groups). */
  find(taskIndex: number): TaskGroup | undefined {
    let low = 0;
    let high = this.#ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ends[middle] ?? Infinity) <= taskIndex) low = middle + 1;
      else high = middle;
    }
    return this.#spec.groups[low];
  }

  /** Processors that a task holds, at least. */
  processorsOf(taskIndex: number): number {
    return this.find(taskIndex)?.processors ?? this.#spec.processors ?? 1;
  }
}

function countOf(values: TaskGroup['values']): number {
  if (values === undefined) return 0;
  return values.$case === 'range' ? values.value.count : values.value.values.length;
}

/** Reads what a job says. @throws {MutiraoError} MUT_INTERNAL */
export async function readGroups(broker: BrokerClient, jobId: number): Promise<GroupsOfJob> {
  const { spec } = await broker.getJob({ jobId });
  if (spec === undefined) throw new MutiraoError('MUT_INTERNAL', `the broker answered without the job ${jobId}`);
  return new GroupsOfJob(spec);
}
