import test from 'ava';
import { TaskStatus } from '@mutirao/api/broker';
import { Outcome } from '@mutirao/api/machine';
import { aJobSummary, aReplica, aTask, runCommandLine } from '@mutirao/testkit';

const base = aReplica({});
const day = 86_400_000;
/** 2026-03-10T12:00:00Z. */
const noon = 1_773_144_000_000;

/** A replica that ran for ten seconds. */
const ran = (endedUnixMs: number, more: Partial<typeof base> = {}): typeof base => ({
  ...base,
  machineId: 'lab/m1',
  dispatchedUnixMs: endedUnixMs - 12_000,
  startedUnixMs: endedUnixMs - 10_000,
  endedUnixMs,
  outcome: Outcome.SUCCEEDED,
  exitStatus: 0,
  reason: '',
  detail: undefined,
  accepted: true,
  usage: { memoryBytesMax: 4096, processorTimeMs: 8000 },
  ...more,
});

const value = JSON.stringify({ a: '1', b: 'x, y' });
const tasks = [
  aTask({ jobId: 7, taskIndex: 0, value, status: TaskStatus.FINISHED, replicas: [ran(noon)] }),
  aTask({
    jobId: 7,
    taskIndex: 1,
    value,
    status: TaskStatus.FAILED,
    replicas: [
      ran(noon - day, { outcome: Outcome.FAILED, exitStatus: 3, accepted: false }),
      ran(noon, { machineId: 'lab/m2', outcome: Outcome.FAILED, exitStatus: 137, accepted: false }),
    ],
  }),
  aTask({ jobId: 7, taskIndex: 2, value, status: TaskStatus.READY, replicas: [] }),
];
const group = { values: { $case: 'list', value: { values: [value, value, value] } }, command: 'echo {=a} {=b}' };
const job = aJobSummary({ jobId: 7, userId: 'ana', submittedUnixMs: noon - 2 * day, endedUnixMs: noon });
const broker = {
  listJobs: () => Promise.resolve({ jobs: [job] }),
  getJob: () => Promise.resolve({ job, spec: { processors: 2, groups: [group] } as never }),
  listTasks: () => Promise.resolve({ tasks }),
};

const run = (...argv: readonly string[]) => runCommandLine(argv, { broker });

test('job export writes CSV with a column per parameter, and leaves empty what is not known', async (t) => {
  const { out } = await run('job', 'export', '7');
  const lines = out.trimEnd().split('\n');
  t.is(
    lines[0],
    'job_id,task_index,value,status,machine_id,request_id,exit_status,dispatched_unix_ms,started_unix_ms,ended_unix_ms,' +
      'wait_ms,run_ms,processors,processor_time_ms,memory_bytes_max,failure_count,replica_count,reason,a,b',
  );
  t.regex(lines[1] ?? '', /^7,0,"\{""a"".*",finished,lab\/m1,.*,2000,10000,2,8000,4096,.*,1,"x, y"$/);
  t.regex(lines[3] ?? '', /,ready,,,,,,,,,2,,,/);
});

test('job export writes JSON with parameters by name', async (t) => {
  const { out } = await run('job', 'export', '7', '--json');
  const [first] = JSON.parse(out) as [Record<string, unknown>];
  t.like(first, { task_index: 0, parameters: { a: '1', b: 'x, y' }, run_ms: 10_000, memory_bytes_max: 4096 });
});

test('job export writes the joblog of GNU parallel for tasks that have run', async (t) => {
  const { out } = await run('job', 'export', '7', '--format', 'joblog');
  const start = ((noon - 10_000) / 1000).toFixed(3);
  t.is(
    out,
    'Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n' +
      `1\tlab/m1\t${start}\t    10.000\t0\t0\t0\t0\techo 1 'x, y'\n` +
      `2\tlab/m2\t${start}\t    10.000\t0\t0\t0\t9\techo 1 'x, y'\n`,
  );
});

const window = ['--since', '2026-03-10T00:00:00Z', '--until', '2026-03-11T00:00:00Z', '--json'] as const;

test('accounting counts what ended in the window, per user and per machine', async (t) => {
  const byUser = JSON.parse((await run('accounting', ...window)).out) as { rows: unknown[]; total: unknown };
  t.deepEqual(byUser.rows, [
    {
      name: 'ana',
      task_count: 2,
      replica_count: 2,
      failure_count: 1,
      processor_ms: 40_000,
      processor_time_ms: 16_000,
      memory_bytes_max: 4096,
    },
  ]);
  const byMachine = JSON.parse((await run('accounting', ...window, '--by', 'machine')).out) as {
    rows: { name: string; processor_ms: number }[];
  };
  t.deepEqual(
    byMachine.rows.map(({ name, processor_ms: held }) => [name, held]),
    [
      ['lab/m1', 20_000],
      ['lab/m2', 20_000],
    ],
  );
});

test('a task that ran on several machines is one task of the total', async (t) => {
  const wide = [
    '--since',
    '2026-03-09T00:00:00Z',
    '--until',
    '2026-03-11T00:00:00Z',
    '--json',
    '--by',
    'machine',
  ] as const;
  const { rows, total } = JSON.parse((await run('accounting', ...wide)).out) as {
    rows: { task_count: number }[];
    total: { task_count: number; replica_count: number };
  };
  t.deepEqual(
    rows.map(({ task_count: count }) => count),
    [2, 1],
  );
  t.like(total, { task_count: 2, replica_count: 3 });
});

test('what ends at the end of a window counts in the next one', async (t) => {
  const countTasks = async (since: string, until: string): Promise<number> => {
    const { out } = await run('accounting', '--since', since, '--until', until, '--json');
    return (JSON.parse(out) as { total: { task_count: number } }).total.task_count;
  };
  t.is(await countTasks('2026-03-10T00:00:00Z', '2026-03-10T12:00:00Z'), 0);
  t.is(await countTasks('2026-03-10T12:00:00Z', '2026-03-11T00:00:00Z'), 2);
});

test('accounting prints a table, and refuses a malformed window', async (t) => {
  const { out } = await run('accounting', '--since', '2026-03-09T00:00:00Z', '--until', '2026-03-11T00:00:00Z');
  t.regex(out, /USER +TASKS +REPLICAS +FAILURES +HELD +CPU TIME +MEMORY\nana +2 +3 +2 +60.0 +24.0 +4.0 KiB\n/);
  const refused = await run('accounting', '--since', '2026-03-11T00:00:00Z', '--until', '2026-03-10T00:00:00Z');
  t.is(refused.status, 2);
  t.regex(refused.err, /expected --since not to be after --until/);
});
