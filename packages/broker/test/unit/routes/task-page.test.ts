import { ListTasksResponse, TaskStatus, type TaskRecord } from '@mutirao/api/broker';
import test from 'ava';
import { fillPage } from '../../../src/routes/task-page.ts';

function aRecord(taskIndex: number, value: string): TaskRecord {
  return {
    jobId: 1,
    taskIndex,
    value,
    status: TaskStatus.READY,
    failureCount: 0,
    waitsFor: [],
    reusedFrom: undefined,
    replicas: [],
  };
}

const indexes = Array.from({ length: 2000 }, (_, index) => index);

test('a page of tasks with long values is smaller than the 4 MiB that clients of other languages take, and pages join', (t) => {
  const seen: number[] = [];
  while (seen.length < indexes.length) {
    const tasks = fillPage(indexes.slice(seen.length), (index) => aRecord(index, 'é'.repeat(2048)));
    const { length } = ListTasksResponse.encode({ tasks }).finish();
    t.true(
      length < 4 * 1024 ** 2 && (length > 1024 ** 2 || seen.length + tasks.length === indexes.length),
      `${length} bytes`,
    );
    seen.push(...tasks.map(({ taskIndex }) => taskIndex));
  }
  t.deepEqual(seen, indexes);
});

test('a page of tasks with short values is whole, and a task that is larger than a page is alone in one', (t) => {
  t.is(fillPage(indexes, (index) => aRecord(index, String(index))).length, 2000);
  t.deepEqual(
    fillPage([5, 6], (index) => aRecord(index, 'x'.repeat(5_000_000))).map(({ taskIndex }) => taskIndex),
    [5],
  );
});
