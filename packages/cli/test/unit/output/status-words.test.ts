import test from 'ava';
import { JobStatus, TaskStatus } from '@mutirao/api/broker';
import { aJobSummary, aReplica, aTask, runCommandLine } from '@mutirao/testkit';
import { jobStatusText, taskStatusText } from '../../../src/output/status-words.ts';
import { showTimeOfDay } from '../../../src/output/units.ts';
import { barLine } from '../../../src/watch/progress.ts';

const now = 1_000_000_000;
const from = now + 3_600_000;
const waiting = aJobSummary({
  status: JobStatus.RUNNING,
  endedUnixMs: 0,
  finishedCount: 0,
  readyCount: 10,
  submittedUnixMs: now,
  reservationAwaited: { reservationId: 3, resourceId: 'alpha', startsUnixMs: from },
});
const begun = aReplica({ endedUnixMs: 0, accepted: false });
const placed = { ...begun, startedUnixMs: 0 };

test('a job that waits for its reservation says for which and from when, and is not called running', async (t) => {
  t.is(jobStatusText(waiting, now), `waiting for reservation 3, from ${showTimeOfDay(from)}`);
  t.is(
    jobStatusText({ ...waiting, reservationAwaited: { reservationId: 3, resourceId: 'alpha' } }, now),
    'waiting, reservation 3 is over',
  );
  t.is(jobStatusText({ ...waiting, reservationAwaited: undefined }, now), 'running');
  t.is(jobStatusText({ ...waiting, status: JobStatus.CANCELLED }, now), 'cancelled');
  t.true(barLine(waiting, { now, columns: 200 }).includes(`waiting for reservation 3, from ${showTimeOfDay(from)}`));
  const { out } = await runCommandLine(['job', 'list'], {
    broker: { listJobs: () => Promise.resolve({ jobs: [waiting] }) },
  });
  t.regex(out, /waiting for reservation 3, from/);
});

test('a task is running once one of its replicas has begun, and placed before', (t) => {
  const findText = (replicas: readonly (typeof begun)[]) =>
    taskStatusText(aTask({ status: TaskStatus.RUNNING, replicas: [...replicas] }));
  t.is(findText([placed]), 'dispatched');
  t.is(findText([aReplica({ accepted: false }), placed]), 'dispatched', 'a run that has ended does not count');
  t.is(findText([placed, begun]), 'running');
  t.is(taskStatusText(aTask({ status: TaskStatus.READY, replicas: [] })), 'ready');
  t.is(taskStatusText(aTask({ status: TaskStatus.VERIFYING, replicas: [placed] })), 'verifying');
});

test('tasks that are placed are listed by that status, and not among those that run', async (t) => {
  const tasks = [
    aTask({ taskIndex: 0, status: TaskStatus.RUNNING, replicas: [placed] }),
    aTask({ taskIndex: 1, status: TaskStatus.RUNNING, replicas: [begun] }),
  ];
  const broker = {
    listJobs: () => Promise.resolve({ jobs: [waiting] }),
    getJob: () => Promise.resolve({ job: waiting, spec: undefined }),
    listTasks: () => Promise.resolve({ tasks }),
  };
  t.is((await runCommandLine(['task', 'list', '1', '--status', 'dispatched', '-q'], { broker })).out, '0\n');
  t.is((await runCommandLine(['task', 'list', '1', '--status', 'running', '-q'], { broker })).out, '1\n');
  const all = JSON.parse((await runCommandLine(['task', 'list', '1', '--json'], { broker })).out) as {
    status: string;
  }[];
  t.deepEqual(
    all.map(({ status }) => status),
    ['dispatched', 'running'],
  );
});
