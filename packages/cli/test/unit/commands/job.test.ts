import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { aJobSummary, aJobSpec, runCommandLine } from '@mutirao/testkit';
import { showInstant } from '../../../src/output/units.ts';

const at = showInstant(1_000_000); // In the zone of the machine that runs the test.
const jobs = [
  aJobSummary({
    jobId: 2,
    label: '',
    status: JobStatus.RUNNING,
    endedUnixMs: 0,
    runningCount: 3,
    readyCount: 2,
    finishedCount: 4,
    failedCount: 1,
  }),
  aJobSummary(),
];
const broker = { listJobs: () => Promise.resolve({ jobs }) };

test('jobs are listed with what counts, a running one with its time so far', async (t) => {
  const { status, out } = await runCommandLine(['job', 'list'], { broker, now: () => 1_090_000 });
  t.is(status, 0);
  t.is(
    out,
    [
      'JOB  STATUS    TASKS  RUNNING  FINISHED  FAILED  SUBMITTED            ELAPSED  LABEL',
      `  2  running      10        3         4       1  ${at}    1m30s`,
      `  1  finished     10        0        10       0  ${at}      13s  poster`,
      '',
    ].join('\n'),
  );
});

test('quiet lists ids only, and --status selects', async (t) => {
  t.is((await runCommandLine(['job', 'list', '--quiet'], { broker })).out, '2\n1\n');
  t.is((await runCommandLine(['job', 'list', '-q', '--status', 'running'], { broker })).out, '2\n');
});

test('--status looks for jobs beyond the first page, and takes no word that is not a status', async (t) => {
  const all = [5, 4, 3, 2, 1].map((jobId) =>
    aJobSummary({ jobId, status: jobId === 2 ? JobStatus.FAILED : JobStatus.FINISHED }),
  );
  const listJobs = ({ pageSize, beforeJobId }: { pageSize: number; beforeJobId: number }) =>
    Promise.resolve({ jobs: all.filter(({ jobId }) => beforeJobId === 0 || jobId < beforeJobId).slice(0, pageSize) });
  t.is(
    (await runCommandLine(['job', 'list', '-q', '--max', '2', '--status', 'failed'], { broker: { listJobs } })).out,
    '2\n',
  );
  t.is(
    (await runCommandLine(['job', 'list', '-q', '--max', '2', '--status', 'finished'], { broker: { listJobs } })).out,
    '5\n4\n',
  );
  const refused = await runCommandLine(['job', 'list', '--status', 'fnished'], { broker: { listJobs } });
  t.is(refused.status, 2);
  t.regex(refused.err, /--status is "fnished"; expected one of running, finished, failed, cancelled/);
});

test('JSON lists jobs with units in the names, and null for what has not come', async (t) => {
  const listed = JSON.parse((await runCommandLine(['job', 'list', '--json'], { broker })).out) as unknown[];
  t.like(listed[0], { job_id: 2, status: 'running', ended_unix_ms: null, failed_count: 1 });
  t.like(listed[1], { job_id: 1, status: 'finished', submitted_unix_ms: 1_000_000, ended_unix_ms: 1_012_500 });
});

test('a job is shown with what was asked for, and without what was not', async (t) => {
  const getJob = () =>
    Promise.resolve({
      job: aJobSummary(),
      spec: aJobSpec({ limits: { runTimeMsMax: 90_000, memoryBytesMax: 0, outputBytesMax: 1_048_576 } }),
    });
  const { out } = await runCommandLine(['job', 'show', '1'], { broker: { ...broker, getJob } });
  t.is(
    out,
    [
      'job         1',
      'label       poster',
      'user        ana',
      'status      finished',
      `submitted   ${at}`,
      `ended       ${showInstant(1_012_500)}`,
      'time        13s',
      'tasks       10: 10 finished',
      'replicas    11 so far, at most 2 of a task at once',
      'scheduler   wqr',
      'retries     a task is given up after 3 failures',
      'processors  1 per task',
      'limits      time 1m30s, output 1.0 MiB',
      'folder      /home/ana',
      'command     tile {}',
      '',
    ].join('\n'),
  );
});

test('the number of failed tasks that stops a job is in its JSON document, and null where none does', async (t) => {
  for (const failedTasksMax of [5, undefined]) {
    const getJob = () => Promise.resolve({ job: aJobSummary(), spec: aJobSpec({ failedTasksMax }) });
    const { out } = await runCommandLine(['job', 'show', '1', '--json'], { broker: { ...broker, getJob } });
    t.like((JSON.parse(out) as unknown[])[0], { failures_max: 3, failed_tasks_max: failedTasksMax ?? null });
  }
});

test('a job that runs is shown with the times of its tasks and with how long it still takes', async (t) => {
  const taskTimes = {
    endedCount: 40,
    cutOffCount: 3,
    p50Ms: 3000,
    p90Ms: 12_000,
    ninetyNinthMsMax: undefined,
  };
  const known = { taskTimes, slotCount: 4, remainingMsMin: 60_000, remainingMsMax: 90_000 };
  const getJob = () => Promise.resolve({ job: aJobSummary(), spec: aJobSpec(), ...known });
  const { out } = await runCommandLine(['job', 'show', '1'], { broker: { ...broker, getJob } });
  t.regex(
    out,
    /^task times {2}half within 3\.0s, nine tenths within 12s, by 40 that ended and 3 cut off\nremaining {3}1m00s to 1m30s, with the 4 slots that it has now$/m,
  );
  const { json } = await runCommandLine(['job', 'show', '1', '--json'], { broker: { ...broker, getJob } }).then(
    ({ out: text }) => ({ json: JSON.parse(text) as unknown[] }),
  );
  t.like(json[0], {
    task_time_ms_half: 3000,
    task_time_ms_ninetieth: 12_000,
    timed_count: 40,
    cut_off_count: 3,
    slot_count: 4,
    remaining_ms_min: 60_000,
    remaining_ms_max: 90_000,
  });
  const unclear = () =>
    Promise.resolve({ job: aJobSummary(), spec: aJobSpec(), taskTimes: { ...taskTimes, p90Ms: undefined } });
  t.regex(
    (await runCommandLine(['job', 'show', '1'], { broker: { ...broker, getJob: unclear } })).out,
    /half within 3\.0s, too many cut off to know more, by 40/,
  );
});

test('a selector that means no job names the jobs that there are', async (t) => {
  const { status, err } = await runCommandLine(['job', 'show', '7'], { broker });
  t.is(status, 2);
  t.regex(err, /^error: MUT_NOT_FOUND there is no job 7; they are 1 to 2\n/);
});

test('cancelling all leaves ended jobs alone', async (t) => {
  const cancelled: unknown[] = [];
  const cancelJob = (request: unknown) => Promise.resolve(cancelled.push(request));
  const { status, out } = await runCommandLine(['job', 'cancel', 'all', '--reason', 'enough'], {
    broker: { ...broker, cancelJob },
  });
  t.is(status, 0);
  t.is(out, 'Job 2 is cancelled.\n');
  t.deepEqual(cancelled, [{ jobId: 2, reason: 'enough' }]);
});

test('cancel sends the tasks that the selector means, and says how many had ended', async (t) => {
  const asked: unknown[] = [];
  const cancelTasks = (request: unknown) => {
    asked.push(request);
    return Promise.resolve({ cancelledCount: 2 });
  };
  const getJob = () => Promise.resolve({ job: aJobSummary(), spec: aJobSpec() });
  const { status, out } = await runCommandLine(['job', 'cancel', '1', '3,5-6', '--reason', 'few'], {
    broker: { ...broker, cancelTasks, getJob },
  });
  t.is(status, 0);
  t.is(out, '2 tasks of job 1 are cancelled.\n1 task had already ended, or is being cancelled.\n');
  t.deepEqual(asked, [{ jobId: 1, taskIndexes: [3, 5, 6], reason: 'few' }]);
});

test('canceljob is the same command', async (t) => {
  const cancelJob = () => Promise.resolve({});
  t.is((await runCommandLine(['canceljob', '2'], { broker: { ...broker, cancelJob } })).out, 'Job 2 is cancelled.\n');
});

test('retry sends the tasks that the selector means, and none for all of them', async (t) => {
  const asked: unknown[] = [];
  const retryTasks = (request: unknown) => {
    asked.push(request);
    return Promise.resolve({ retriedCount: 1 });
  };
  const fakes = {
    broker: { ...broker, retryTasks, getJob: () => Promise.resolve({ job: aJobSummary(), spec: aJobSpec() }) },
  };
  t.is((await runCommandLine(['job', 'retry', '1', '3-7:2'], fakes)).out, '1 task of job 1 will run again.\n');
  await runCommandLine(['job', 'retry', 'last'], fakes);
  t.deepEqual(asked, [
    { jobId: 1, taskIndexes: [3, 5, 7], currentInputs: false },
    { jobId: 2, taskIndexes: [], currentInputs: false },
  ]);
});

test('tasks are held and released, and a job is updated', async (t) => {
  const asked: unknown[] = [];
  const getJob = () => Promise.resolve({ job: aJobSummary(), spec: aJobSpec() });
  const steered = {
    ...broker,
    getJob,
    holdTasks: (request: unknown) => (asked.push(request), Promise.resolve({ heldCount: 2 })),
    releaseTasks: (request: unknown) => (asked.push(request), Promise.resolve({ releasedCount: 1 })),
    updateJob: (request: unknown) => (asked.push(request), Promise.resolve({})),
  };
  const run = (...argv: string[]) => runCommandLine(['job', ...argv], { broker: steered });
  t.regex(
    (await run('hold', '2', '3,5')).out,
    /^2 more tasks of job 2 are held; running tasks continue\. "mutirao job release 2"/,
  );
  t.is((await run('release', '2')).out, '1 task of job 2 may start.\n');
  t.is(
    (await run('update', '2', '--priority', '-5', '--running-max', 'none')).out,
    'Job 2 has priority -5 and may run any number of tasks at once from now on.\n',
  );
  t.deepEqual(asked, [
    { jobId: 2, taskIndexes: [3, 5] },
    { jobId: 2, taskIndexes: [] },
    { jobId: 2, priority: -5, runningMax: 0 },
  ]);
  t.regex((await run('update', '2')).err, /there is nothing to change; expected --priority or --running-max/);
  t.regex((await run('update', '2', '--priority', 'high')).err, /--priority is "high"; expected an integer in -1000/);
});
