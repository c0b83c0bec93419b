import test from 'ava';

import {
  describeTask,
  getTaskQuery,
  nameTask,
  readTaskSpec,
  takePage,
  type TaskPageRead,
} from '../../../client/src/model/task-list.ts';
import type { Task } from '../../../src/schema/index.ts';

const now = 100_000;

function replica(given: Partial<Task['replicas'][number]> = {}): Task['replicas'][number] {
  return {
    replica_id: 1,
    machine_id: 'lab/m1',
    request_id: '',
    dispatched_unix_ms: 1000,
    started_unix_ms: 2000,
    ended_unix_ms: 5000,
    outcome: 'succeeded',
    exit_status: 0,
    accepted: false,
    is_withdrawn: false,
    reason: '',
    detail: null,
    ...given,
  };
}

const withdrawn = replica({ machine_id: 'lab/m2', started_unix_ms: null, outcome: 'cancelled', is_withdrawn: true });

function task(index: number): Task {
  return {
    job_id: 1,
    task_index: index,
    value: '',
    status: 'finished',
    failure_count: 0,
    waits_for: [],
    replicas: [],
    reused_from: null,
  };
}

const indexes = (pages: readonly TaskPageRead[]): number[] =>
  pages.flatMap(({ tasks }) => tasks.map(({ task_index: index }) => index));

test('the listed tasks are in the address, and invalid parts of it count as left out', (t) => {
  const spec = { status: 'failed', search: 'a b&c' } as const;
  t.deepEqual(readTaskSpec(getTaskQuery(spec)), spec);
  t.is(getTaskQuery({ status: undefined, search: '' }), '');
  t.deepEqual(readTaskSpec('?status=odd'), { status: undefined, search: '' });
  t.deepEqual(readTaskSpec('?status=toString'), { status: undefined, search: '' });
});

test('copies that were withdrawn before they began are neither runs nor the machine of a task, but counted', (t) => {
  const line = describeTask({ status: 'finished', replicas: [replica({ accepted: true }), withdrawn, withdrawn] }, now);
  t.deepEqual(line, { runs: 1, withdrawn: 2, machineId: 'lab/m1', took: '3.0 s', trouble: '' });
});

test('a task is where it runs, and says how long; one that is staged says that', (t) => {
  const failed = replica({ outcome: 'failed', exit_status: 2, machine_id: 'lab/m9' });
  const runs = replica({ ended_unix_ms: null, outcome: '' });
  t.like(describeTask({ status: 'running', replicas: [failed, runs] }, now), {
    runs: 2,
    machineId: 'lab/m1',
    took: '1 min 38 s',
    trouble: 'exit status 2',
  });
  t.is(
    describeTask({ status: 'running', replicas: [replica({ ...runs, started_unix_ms: null })] }, now).took,
    'staging',
  );
});

test('a failure is said in its own words, else by its status or code', (t) => {
  const failed = (given: Partial<Task['replicas'][number]>): string =>
    describeTask({ status: 'failed', replicas: [replica({ outcome: 'limited', ...given })] }, now).trouble;
  const detail = { code: '', parameters: {}, text: 'memory peaked at 542 MiB' };
  t.is(failed({ detail, reason: 'MUT_MEMORY_MAX' }), 'memory peaked at 542 MiB');
  t.is(failed({ exit_status: 3 }), 'exit status 3');
  t.is(failed({ reason: 'MUT_RUN_TIME_MAX' }), 'MUT_RUN_TIME_MAX');
});

test('pages that are read again repeat nothing and miss nothing', (t) => {
  let pages = takePage([], 0, { tasks: [task(0), task(1)], next_task_index: 4 });
  pages = takePage(pages, 4, { tasks: [task(4), task(6)], next_task_index: 7 });
  t.deepEqual(indexes(pages), [0, 1, 4, 6]);
  // Tasks left the first page: it reaches into the next one, which has them already.
  t.deepEqual(indexes(takePage(pages, 0, { tasks: [task(0), task(4)], next_task_index: 6 })), [0, 4, 6]);
  // More came in than a page holds: what lies behind is to be read again.
  const cut = takePage(pages, 0, { tasks: [task(0), task(1)], next_task_index: 2 });
  t.deepEqual([indexes(cut), cut.at(-1)?.next], [[0, 1], 2]);
});

test('a task is named by its index, which the command line takes, and by its value or id', (t) => {
  t.is(nameTask(3, 'clean-3'), '3 · clean-3');
  t.is(nameTask(1758, '1759'), '1758 · 1759');
  t.is(nameTask(7, ''), '7');
  t.is(nameTask(7, 'x'.repeat(41)), '7');
});
