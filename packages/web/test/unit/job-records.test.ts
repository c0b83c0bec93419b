// What ran of a job, read from the broker while it runs and once it has ended.
import test from 'ava';
import { TaskStatus, type ListTasksRequest, type TaskRecord } from '@mutirao/api/broker';
import { aTask } from '@mutirao/testkit';
import { JobRecords } from '../../src/server/analysis/job-records.ts';

/** A broker that knows the status of each task. */
class KnownTasks {
  now = 0;
  calls = 0;
  statuses: TaskStatus[];
  readonly clock = { now: (): number => this.now };

  constructor(...statuses: TaskStatus[]) {
    this.statuses = statuses;
  }

  readonly grid = { broker: () => ({ listTasks: this.listTasks }) };
  readonly listTasks = async ({
    fromTaskIndex,
    taskIndexes,
  }: ListTasksRequest): Promise<{ tasks: TaskRecord[]; nextTaskIndex: undefined }> => {
    this.calls += 1;
    const tasks = this.statuses.map((status, taskIndex) => aTask({ taskIndex, status }));
    return {
      tasks: tasks.filter(({ taskIndex }) =>
        taskIndexes.length > 0 ? taskIndexes.includes(taskIndex) : taskIndex >= fromTaskIndex,
      ),
      nextTaskIndex: undefined,
    };
  };
}

const progress = {
  jobId: 1,
  taskCount: 2,
  readyCount: 0,
  waitingCount: 0,
  failedCount: 0,
  cancelledCount: 0,
  endedUnixMs: 0,
};

for (const way of ['refresh', 'readAll'] as const) {
  test(`a job whose tasks began and ended between two looks is read once it has ended: ${way}`, async (t) => {
    const broker = new KnownTasks(TaskStatus.READY, TaskStatus.READY);
    const records = new JobRecords(broker, progress);
    await records[way]({ ...progress, readyCount: 2 });
    broker.statuses = [TaskStatus.FINISHED, TaskStatus.FINISHED];
    broker.now = 10_000;
    await records[way]({ ...progress, endedUnixMs: 9000 });
    t.deepEqual(
      [0, 1].map((task) => records.statusOf(task)),
      [TaskStatus.FINISHED, TaskStatus.FINISHED],
    );
    const { calls } = broker;
    await records[way]({ ...progress, endedUnixMs: 9000 });
    t.is(broker.calls, calls, 'what has ended is read once');
  });
}
