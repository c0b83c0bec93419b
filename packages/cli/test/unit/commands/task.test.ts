import test from 'ava';
import { TaskStatus, type ListTasksRequest } from '@mutirao/api/broker';
import { Outcome } from '@mutirao/api/machine';
import { aJobSummary, aJobSpec, aReplica, aTask, runCommandLine } from '@mutirao/testkit';
import { showTimeOfDay } from '../../../src/output/units.ts';

const at = showTimeOfDay(1_000_000);
const tasks = [
  aTask(),
  aTask({
    taskIndex: 1,
    value: '2',
    status: TaskStatus.FAILED,
    failureCount: 2,
    replicas: [
      aReplica({ replicaId: 8, accepted: false, outcome: Outcome.CANCELLED, reason: 'MUT_CANCELLED' }),
      aReplica({
        replicaId: 9,
        machineId: 'lab/m1',
        accepted: false,
        outcome: Outcome.FAILED,
        exitStatus: 3,
        reason: 'MUT_TASK_FAILED',
        detail: {
          code: 'exit-status',
          parameters: { exit_status: { value: { $case: 'number', value: 3 } } },
          text: 'exit status 3',
        },
      }),
    ],
  }),
  aTask({ taskIndex: 2, value: 'a value with\nlines and more than is shown', status: TaskStatus.READY, replicas: [] }),
];
const broker = {
  listJobs: () => Promise.resolve({ jobs: [aJobSummary()] }),
  getJob: () => Promise.resolve({ job: aJobSummary(), spec: aJobSpec() }),
  listTasks: () => Promise.resolve({ tasks }),
};

test('tasks are listed with the machine, the replica that counts, its times and its exit status', async (t) => {
  const { status, out } = await runCommandLine(['task', 'list'], { broker });
  t.is(status, 0);
  t.is(
    out,
    [
      'TASK  VALUE                     STATUS    MACHINE    REPLICA  DISPATCHED  WAITED  RUN TIME  EXIT  REASON',
      `   0  1                         finished  alpha/1.0       r7  ${at}      0.1s      2.0s     0`,
      `   1  2                         failed    lab/m1          r9  ${at}      0.1s      2.0s     3  ` +
        'MUT_TASK_FAILED: exit status 3',
      '   2  a value with lines an...  ready     -                -  -                -         -     -',
      '',
    ].join('\n'),
  );
});

test('--replicas gives each replica a line', async (t) => {
  const { out } = await runCommandLine(['task', 'list', '--replicas'], { broker });
  t.deepEqual(
    out.split('\n').map((line) => /r\d+/.exec(line)?.[0]),
    [undefined, 'r7', 'r8', 'r9', undefined, undefined],
  );
});

test('pages are read until there are enough, and what is left out is said', async (t) => {
  const asked: ListTasksRequest[] = [];
  const listTasks = (request: ListTasksRequest) => {
    asked.push(request);
    return Promise.resolve({
      tasks: [aTask({ taskIndex: request.fromTaskIndex })],
      nextTaskIndex: request.fromTaskIndex + 1,
    });
  };
  const { out, err } = await runCommandLine(['task', 'list', '1', '--max', '3', '-q', '--status', 'failed'], {
    broker: { ...broker, listTasks },
  });
  t.is(out, '0\n1\n2\n');
  t.deepEqual(
    asked.map(({ fromTaskIndex, pageSize, status }) => [fromTaskIndex, pageSize, status]),
    [
      [0, 3, TaskStatus.FAILED],
      [1, 2, TaskStatus.FAILED],
      [2, 1, TaskStatus.FAILED],
    ],
  );
  t.regex(err, /^More tasks match\. Raise --max \(now 3\)/);
});

test('an unknown status is refused with the words that there are', async (t) => {
  const { status, err } = await runCommandLine(['task', 'list', '--status', 'done'], { broker });
  t.is(status, 2);
  t.regex(
    err,
    /--status is "done"; expected one of waiting, ready, dispatched, running, verifying, finished, failed, cancelled/,
  );
});

const bytes = (text: string): Buffer => Buffer.from(text);
const getTaskOutput = ({ taskIndex }: { taskIndex: number }) =>
  Promise.resolve({
    replicaId: 7,
    standardOutput: bytes(`out ${taskIndex}\n`),
    standardError: bytes(taskIndex === 1 ? 'oops\n' : ''),
    truncated: taskIndex === 1,
    files: [],
  });

const cutNote =
  'task 1 printed more than is kept; a line in its output says how many bytes are missing (raise --limit-output ' +
  'of the job to keep more)\n';

test('the output of one task is printed as it is', async (t) => {
  const { out, err } = await runCommandLine(['task', 'output', '1', '0'], { broker: { ...broker, getTaskOutput } });
  t.is(out, 'out 0\n');
  t.is(err, '');
});

test('outputs of several tasks have headings, which do not mix with what they printed', async (t) => {
  const { out, err } = await runCommandLine(['task', 'output', '1', '0-1'], { broker: { ...broker, getTaskOutput } });
  t.is(out, 'out 0\nout 1\n');
  t.is(err, `==> task 0\n==> task 1\noops\n${cutNote}`);
});

test('one of the two streams can be had alone', async (t) => {
  t.is(
    (await runCommandLine(['task', 'output', '1', '0-1', '--stderr'], { broker: { ...broker, getTaskOutput } })).out,
    'oops\n',
  );
  t.is(
    (await runCommandLine(['task', 'output', '1', '1', '--stdout'], { broker: { ...broker, getTaskOutput } })).err,
    cutNote,
  );
});

test('job machines adds up what each machine did, most work first', async (t) => {
  const replicas = [
    aReplica({ replicaId: 20, machineId: 'lab/m1', startedUnixMs: 1_000_500 }),
    aReplica({ replicaId: 21, accepted: false, endedUnixMs: 1_001_100 }),
  ];
  const { out } = await runCommandLine(['job', 'machines'], {
    broker: { ...broker, listTasks: () => Promise.resolve({ tasks: [...tasks, aTask({ replicas }), aTask()] }) },
  });
  t.is(
    out,
    [
      'MACHINE    TASKS  TASK TIME  OTHER REPLICAS  REPLICA TIME  MEAN WAIT',
      'alpha/1.0      2       4.0s               2          3.0s       0.1s',
      'lab/m1         1       1.6s               1          2.0s       0.3s',
      '',
    ].join('\n'),
  );
});
