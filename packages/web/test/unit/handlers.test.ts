// What each call answers is what its schema says, whatever stands in names and outputs; and it is bounded.
import test, { type ExecutionContext } from 'ava';
import { Value } from 'typebox/value';

import { JobStatus, ReplicaDisposition, TaskStatus } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import { Outcome } from '@mutirao/api/machine';
import { QueueKnowledge, RequestStatus } from '@mutirao/api/provider';
import { acceptToken } from '@mutirao/runtime/rpc';
import { quietLogger } from '@mutirao/runtime/log';
import {
  aSentence,
  aJobSpec,
  aJobSummary,
  aLedgerRow,
  aMachineRecord,
  AnsweringBroker,
  aReplica,
  aTask,
  fakePageGrid,
  webHeaders,
  webToken,
  wire,
} from '@mutirao/testkit';
import { apiPrefix, routes, type RouteName, type RouteReply } from '../../src/schema/index.ts';
import { loopbackHosts, makeGateway, makeStaticFiles, type Grid } from '../../src/server/index.ts';

const hostile = '</script><img src=x onerror=alert(1)>\u2028\0"\'&${x}';
const now = 1_010_000;

class Page {
  readonly broker = new AnsweringBroker();
  now = now;
  readonly #server;

  constructor(grid: Partial<Grid> = {}) {
    this.#server = makeGateway({
      grid: { ...fakePageGrid(this.broker), ...grid },
      clock: { now: () => this.now },
      userId: 'ana',
      home: '/home/ana/.mutirao',
      program: 'mutirao',
      directory: '/home/ana',
      version: '0',
      tokens: acceptToken(webToken, 'ana'),
      hosts: () => loopbackHosts(7777),
      files: () => makeStaticFiles(new Map()),
      log: quietLogger,
      instance: 'i1',
    }).server;
  }

  /** Asks, and holds the answer against its schema. */
  async get<N extends RouteName>(
    t: ExecutionContext,
    name: N,
    path: string = routes[name].path,
  ): Promise<RouteReply<N>> {
    const { statusCode, body } = await this.#server.inject({ url: `${apiPrefix}${path}`, headers: webHeaders });
    t.is(statusCode, 200, body.slice(0, 500));
    const document = JSON.parse(body) as RouteReply<N>;
    t.deepEqual(
      Value.Errors(routes[name].reply, document).map(({ instancePath, message }) => `${instancePath} ${message}`),
      [],
      name,
    );
    return document;
  }

  async fails(path: string, payload?: object): Promise<{ status: number; code: string; message: string }> {
    const { statusCode, json } = await this.#server.inject({
      method: payload === undefined ? 'GET' : 'POST',
      url: `${apiPrefix}${path}`,
      headers: webHeaders,
      ...(payload === undefined ? {} : { payload }),
    });
    return { status: statusCode, ...json<{ code: string; message: string }>() };
  }

  raw(url: string, headers: Record<string, string> = {}) {
    return this.#server.inject({ url: `${apiPrefix}${url}`, headers: { ...webHeaders, ...headers } });
  }
}

/** A job of four tasks: accepted with a losing replica, failed for good, running, not begun. */
function mixedJob(page: Page): void {
  page.broker.jobs = [
    aJobSummary({
      status: JobStatus.RUNNING,
      endedUnixMs: 0,
      label: hostile,
      taskCount: 4,
      readyCount: 1,
      runningCount: 1,
      finishedCount: 1,
      failedCount: 1,
    }),
  ];
  page.broker.specs.set(1, aJobSpec({ label: hostile }));
  const loser = aReplica({
    replicaId: 2,
    machineId: 'lab/m2',
    accepted: false,
    disposition: ReplicaDisposition.SURPLUS,
    outcome: Outcome.CANCELLED,
  });
  const failed = (replicaId: number) =>
    aReplica({
      replicaId,
      machineId: 'lab/m10',
      accepted: false,
      disposition: ReplicaDisposition.FAILED,
      outcome: Outcome.FAILED,
      exitStatus: 2,
      reason: 'MUT_COMMAND_FAILED',
      detail: { code: '', parameters: {}, text: hostile },
    });
  page.broker.tasks.set(1, [
    aTask({ taskIndex: 0, value: hostile, replicas: [aReplica({ replicaId: 1 }), loser] }),
    aTask({ taskIndex: 1, status: TaskStatus.FAILED, failureCount: 2, replicas: [failed(3), failed(4)] }),
    aTask({
      taskIndex: 2,
      status: TaskStatus.RUNNING,
      replicas: [
        aReplica({
          replicaId: 5,
          machineId: 'lab/m2',
          startedUnixMs: 1_000_500,
          endedUnixMs: 0,
          outcome: Outcome.UNSPECIFIED,
          accepted: false,
          disposition: ReplicaDisposition.UNSPECIFIED,
          takenUnixMs: 0,
        }),
      ],
    }),
    aTask({ taskIndex: 3, status: TaskStatus.READY, replicas: [] }),
  ]);
  page.broker.outputs.set('1/1', wire.output(hostile, `${'x'.repeat(10_000)}the end`));
}

test('the grid at a glance counts tasks of jobs that run, machines, requests', async (t) => {
  const page = new Page();
  mixedJob(page);
  page.broker.jobs.push(aJobSummary({ jobId: 2 }));
  page.broker.machines = [aMachineRecord(), aMachineRecord({ runningCount: 2 })];
  page.broker.providers = [wire.provider({}), wire.provider({ providerId: 'lab', connected: false })];
  page.broker.requests = [
    wire.request({ status: RequestStatus.QUEUED }),
    wire.request({ status: RequestStatus.RUNNING }),
  ];
  page.broker.answers.set(1, { remainingMsMin: 5, remainingMsMax: 90_000 });
  page.broker.trouble = 'the disk is full';
  const summary = await page.get(t, 'getSummary');
  t.like(summary, {
    jobs_running: 1,
    jobs_ended: 1,
    has_more_jobs: false,
    replicas_running: 2,
    processors: 4,
    providers_connected: 1,
    provider_count: 2,
    requests_queued: 1,
    requests_running: 1,
    remaining_ms_max: 90_000,
    trouble: 'the disk is full',
  });
  t.deepEqual(summary.tasks, { waiting: 0, ready: 1, running: 1, verifying: 0, finished: 1, failed: 1, cancelled: 0 });
  const { jobs } = await page.get(t, 'listJobs');
  t.deepEqual(
    jobs.map(({ job_id: id, remaining_ms_max: most }) => [id, most]),
    [
      [2, null],
      [1, 90_000],
    ],
  );
  page.broker.jobs.push(aJobSummary({ jobId: 3, status: JobStatus.RUNNING }));
  page.now += 60_000;
  t.like(await page.get(t, 'getSummary'), { remaining_ms_max: 90_000, remaining_unknown_count: 1, jobs_blocked: 0 });
});

test('a job that no machine can take is blocked, with the reason that the broker gives', async (t) => {
  const page = new Page();
  const idle = { status: JobStatus.RUNNING, endedUnixMs: 0, taskCount: 5, finishedCount: 0 };
  page.broker.jobs = [
    aJobSummary({ ...idle, jobId: 3, readyCount: 5 }),
    aJobSummary({ ...idle, jobId: 2, readyCount: 4, runningCount: 1 }),
    aJobSummary({ ...idle, jobId: 1, waitingCount: 5, heldCount: 5, priority: -3, runningMax: 7, open: true }),
  ];
  page.broker.explanation = {
    summary: aSentence('0 of 5 tasks have finished.'),
    waiting: { code: 'no-machine-matches', parameters: {}, text: 'No machine suits.' },
    details: [],
  };
  const { jobs } = await page.get(t, 'listJobs');
  t.deepEqual(
    jobs.map((job) => [job.job_id, job.is_blocked, job.waiting?.text ?? null, job.held_count]),
    [
      [3, true, 'No machine suits.', 0],
      [2, false, null, 0],
      [1, false, null, 5],
    ],
  );
  t.like(jobs[2], { priority: -3, running_max: 7, is_open: true });
  t.is(page.broker.timesAsked('explain'), 1, 'jobs of which something runs are not asked about');
  t.like(await page.get(t, 'getSummary'), { jobs_running: 3, jobs_blocked: 1, remaining_unknown_count: 2 });
  t.true((await page.get(t, 'getJob', '/jobs/3')).job.is_blocked);
  page.now += 60_000;
  page.broker.explanation = {
    ...page.broker.explanation,
    waiting: { code: 'all-machines-busy', parameters: {}, text: 'All are busy.' },
  };
  const [job] = (await page.get(t, 'listJobs')).jobs;
  t.like(job, { is_blocked: false, waiting: { text: 'All are busy.' } });
});

test('jobs are looked up by their numbers, with how long they take; what is not there is left out', async (t) => {
  const page = new Page();
  mixedJob(page);
  page.broker.jobs.push(aJobSummary({ jobId: 2 }));
  page.broker.answers.set(1, { remainingMsMin: 5, remainingMsMax: 90_000 });
  const { jobs } = await page.get(t, 'lookUpJobs', '/job-rows?job_ids=2,1,77,1');
  t.deepEqual(
    jobs.map(({ job_id: id, remaining_ms_min: least, remaining_ms_max: most }) => [id, least, most]),
    [
      [2, null, null],
      [1, 5, 90_000],
    ],
  );
  for (const ids of ['', '0', '1,', 'x', Array.from({ length: 101 }, (_, index) => index + 1).join(',')])
    t.like(await page.fails(`/job-rows?job_ids=${ids}`), { status: 400, code: 'MUT_BAD_REQUEST' });
});

test('names and outputs arrive as they are, as data', async (t) => {
  const page = new Page();
  mixedJob(page);
  t.is((await page.get(t, 'getJob', '/jobs/1')).job.label, hostile);
  t.is((await page.get(t, 'getTask', '/jobs/1/tasks/0')).value, hostile);
  t.is((await page.get(t, 'listTasks', '/jobs/1/tasks?status=failed')).tasks[0]?.replicas[0]?.detail?.text, hostile);
  t.is((await page.get(t, 'getTaskOutput', '/jobs/1/tasks/1/output')).standard_output, hostile);
  const { headers } = await page.raw('/jobs/1');
  t.is(headers['content-type'], 'application/json; charset=utf-8');
});

test('an output is sent from its end, and cut between characters', async (t) => {
  const page = new Page();
  mixedJob(page);
  const output = await page.get(t, 'getTaskOutput', '/jobs/1/tasks/1/output?tail_bytes=7');
  t.is(output.standard_error, 'the end');
  t.true(output.is_cut);
  page.broker.outputs.set('1/1', wire.output('ééé'));
  t.is((await page.get(t, 'getTaskOutput', '/jobs/1/tasks/1/output?tail_bytes=3')).standard_output, 'é');
});

test('the Gantt chart shows each stretch of time by what it was', async (t) => {
  const page = new Page();
  mixedJob(page);
  const gantt = await page.get(t, 'getGantt', '/jobs/1/gantt');
  t.deepEqual(
    gantt.rows.map(({ machine_id: id }) => id),
    ['alpha/1.0', 'lab/m2', 'lab/m10'],
  );
  const bars = gantt.bars?.kind
    .map(
      (kind, at) =>
        `${gantt.rows[gantt.bars?.row[at] ?? 0]?.machine_id} ${gantt.kinds[kind]} ` +
        `${gantt.bars?.start_unix_ms[at]}-${gantt.bars?.end_unix_ms[at]}`,
    )
    .sort();
  t.deepEqual(bars, [
    'alpha/1.0 accepted 1000100-1002100',
    'lab/m10 failed 1000100-1002100',
    'lab/m10 failed 1000100-1002100',
    'lab/m2 loser 1000100-1002100',
    'lab/m2 running 1000500-1010000',
  ]);
  t.deepEqual([gantt.job_from_unix_ms, gantt.job_until_unix_ms], [1_000_000, 1_010_000]);
  t.is(gantt.read_task_count, 4);
});

test('files on their way are shown as they were: inputs while another run may be there, outputs after the command', async (t) => {
  const page = new Page();
  page.broker.jobs = [aJobSummary({ taskCount: 2, finishedCount: 2 })];
  const staging = {
    inputsAskedUnixMs: 1_000_010,
    inputsHereUnixMs: 1_000_060,
    inputsPlacingUnixMs: 1_000_090,
    commandEndedUnixMs: 1_001_800,
  };
  page.broker.tasks.set(1, [
    aTask({ taskIndex: 0, replicas: [aReplica({ replicaId: 1, staging })] }),
    // It waited at its machine for a second and had no files, so it has no staging times.
    aTask({
      taskIndex: 1,
      replicas: [
        aReplica({
          replicaId: 2,
          dispatchedUnixMs: 1_001_000,
          startedUnixMs: 1_002_100,
          endedUnixMs: 1_002_200,
          takenUnixMs: 1_002_210,
        }),
      ],
    }),
  ]);
  const { bars, kinds } = await page.get(t, 'getGantt', '/jobs/1/gantt');
  t.deepEqual(
    bars?.kind.map(
      (kind, at) => `${kinds[kind]} of ${bars.task_index[at]} ${bars.start_unix_ms[at]}-${bars.end_unix_ms[at]}`,
    ),
    [
      'accepted of 0 1000100-1001800',
      'inputs of 0 1000010-1000060',
      'inputs of 0 1000090-1000100',
      'outputs of 0 1001800-1002100',
      'accepted of 1 1002100-1002200',
    ],
  );
  const [line = '', first = ''] = (await page.raw('/jobs/1/download?what=replicas&format=csv')).body.split('\r\n');
  t.is(first.split(',')[line.split(',').indexOf('command_ended_unix_ms')], '1001800');
});

test('what became of a run is what its broker says: killed, lost and outvoted ones are distinguished', async (t) => {
  const page = new Page();
  const dispositions = [
    ReplicaDisposition.ACCEPTED,
    ReplicaDisposition.SERVED,
    ReplicaDisposition.SURPLUS,
    ReplicaDisposition.OUTVOTED,
    ReplicaDisposition.FAILED,
    ReplicaDisposition.CANCELLED,
    ReplicaDisposition.LOST,
    ReplicaDisposition.WITHDRAWN,
  ];
  page.broker.jobs = [aJobSummary({ taskCount: dispositions.length, finishedCount: dispositions.length })];
  page.broker.tasks.set(
    1,
    dispositions.map((disposition, taskIndex) =>
      aTask({
        taskIndex,
        replicas: [
          aReplica({ replicaId: taskIndex, disposition, accepted: disposition === ReplicaDisposition.ACCEPTED }),
        ],
      }),
    ),
  );
  const { bars, kinds } = await page.get(t, 'getGantt', '/jobs/1/gantt');
  t.deepEqual(
    bars?.kind.map((kind) => kinds[kind]),
    ['accepted', 'accepted', 'loser', 'loser', 'failed', 'killed', 'lost', 'lost'],
  );
});

test('on a machine whose clock is ahead, nothing ends after its broker has received the report', async (t) => {
  const page = new Page();
  page.broker.jobs = [aJobSummary({ taskCount: 1, finishedCount: 1 })];
  page.broker.tasks.set(1, [
    aTask({ replicas: [aReplica({ startedUnixMs: 1_060_100, endedUnixMs: 1_062_100, takenUnixMs: 1_002_110 })] }),
  ]);
  const { bars } = await page.get(t, 'getGantt', '/jobs/1/gantt');
  t.deepEqual([bars?.start_unix_ms, bars?.end_unix_ms], [[1_000_110], [1_002_110]]);
});

test('runs that were lost with their machine are distinguished from failures', async (t) => {
  const page = new Page();
  page.broker.jobs = [aJobSummary({ taskCount: 2, finishedCount: 2 })];
  const lost = aReplica({
    replicaId: 9,
    accepted: false,
    disposition: ReplicaDisposition.LOST,
    outcome: Outcome.UNSPECIFIED,
    reason: 'MUT_WALLTIME_ENDED',
  });
  const broken = aReplica({
    replicaId: 8,
    accepted: false,
    disposition: ReplicaDisposition.LOST,
    outcome: Outcome.BROKEN,
    reason: 'MUT_NO_SPACE',
    startedUnixMs: 0,
  });
  page.broker.tasks.set(1, [
    aTask({ taskIndex: 0, replicas: [lost, broken, aReplica()] }),
    aTask({
      taskIndex: 1,
      replicas: [
        aReplica({ replicaId: 3, disposition: ReplicaDisposition.WITHDRAWN, accepted: false, startedUnixMs: 0 }),
        aReplica({ replicaId: 4 }),
      ],
    }),
  ]);
  const { groups, replica_count: failed, lost_count: gone } = await page.get(t, 'getFailures', '/jobs/1/failures');
  t.deepEqual([failed, gone], [1, 1]);
  t.deepEqual(
    groups.map(({ reason, is_loss: isLoss }) => [reason, isLoss]),
    [
      ['MUT_NO_SPACE', false],
      ['MUT_WALLTIME_ENDED', true],
    ],
  );
});

test('many bars become cells, which add up to the same time', async (t) => {
  const page = new Page();
  mixedJob(page);
  const cells = (await page.get(t, 'getGantt', '/jobs/1/gantt?bars_max=0&bin_count=10')).cells;
  const bars = (await page.get(t, 'getGantt', '/jobs/1/gantt')).bars;
  const sum = (numbers: readonly number[] = []): number => numbers.reduce((total, one) => total + one, 0);
  t.is(sum(cells?.busy_ms), sum(bars?.end_unix_ms) - sum(bars?.start_unix_ms));
  const part = await page.get(t, 'getGantt', '/jobs/1/gantt?from_unix_ms=1000200&until_unix_ms=1000300');
  t.deepEqual(
    new Set(part.bars?.start_unix_ms.map((start, at) => (part.bars?.end_unix_ms[at] ?? 0) - start)),
    new Set([100]),
  );
});

test('runs are drawn one by one as long as they are few, however many bars their files take', async (t) => {
  const page = new Page();
  mixedJob(page);
  const { bars } = await page.get(t, 'getGantt', '/jobs/1/gantt?bars_max=5');
  t.not(bars, null, 'five runs');
  t.is((await page.get(t, 'getGantt', '/jobs/1/gantt?bars_max=4')).bars, null);
});

test('failures are grouped by cause, with the end of what one of them printed', async (t) => {
  const page = new Page();
  mixedJob(page);
  const {
    groups: [group, ...others],
    replica_count: count,
  } = await page.get(t, 'getFailures', '/jobs/1/failures');
  t.deepEqual(others, []);
  t.like(group, {
    cause: 'exit status 2',
    exit_status: 2,
    replica_count: 2,
    task_count: 1,
    given_up_count: 1,
    task_indexes: [1],
  });
  t.is(count, 2);
  t.is(group?.sample?.standard_output, hostile);
  t.is(group?.sample?.standard_error.length, 4096);
});

test('a task that ran as a gang counts once, by the member that took longest', async (t) => {
  const page = new Page();
  page.broker.jobs = [aJobSummary({ taskCount: 2, finishedCount: 2 })];
  const member = (replicaId: number, took: number, disposition: ReplicaDisposition = ReplicaDisposition.SERVED) =>
    aReplica({ replicaId, disposition, startedUnixMs: 1_000_000, endedUnixMs: 1_000_000 + took });
  page.broker.tasks.set(1, [
    aTask({ replicas: [member(1, 500, ReplicaDisposition.ACCEPTED), member(2, 900), member(3, 700)] }),
    aTask({ taskIndex: 1, replicas: [member(4, 300, ReplicaDisposition.ACCEPTED)] }),
  ]);
  const { count, ms_max: most, mean_ms: mean } = await page.get(t, 'getTaskTimes', '/jobs/1/times');
  t.deepEqual([count, most, mean], [2, 900, 600]);
});

test('times have quantiles, bins that hold every run, and stragglers', async (t) => {
  const page = new Page();
  page.broker.jobs = [aJobSummary({ taskCount: 100, finishedCount: 100 })];
  page.broker.tasks.set(
    1,
    Array.from({ length: 100 }, (_, taskIndex) =>
      aTask({
        taskIndex,
        replicas: [
          aReplica({
            replicaId: taskIndex,
            machineId: `lab/m${taskIndex % 5}`,
            startedUnixMs: 1_000_000,
            endedUnixMs: 1_000_000 + (taskIndex === 99 ? 90_000 : 1000 + taskIndex),
          }),
        ],
      }),
    ),
  );
  const times = await page.get(t, 'getTaskTimes', '/jobs/1/times');
  t.is(times.count, 100);
  t.deepEqual(
    times.quantiles.map(({ ms_max: most }) => most),
    [1009, 1024, 1049, 1074, 1089, 1098],
  );
  t.is(
    times.bins.reduce((sum, { accepted }) => sum + accepted, 0),
    100,
  );
  t.true(times.bins.length <= 60);
  t.deepEqual(
    times.stragglers.map(({ task_index: task, times_half: factor }) => [task, factor]),
    [[99, 85.8]],
  );
  t.is(times.by_machine[0]?.machine_id, 'lab/m4');
});

test('the runs of a job are read once: those that ended are not asked for again', async (t) => {
  const page = new Page();
  page.broker.jobs = [aJobSummary({ taskCount: 2500, finishedCount: 2500 })];
  page.broker.tasks.set(
    1,
    Array.from({ length: 2500 }, (_, taskIndex) =>
      aTask({ taskIndex, replicas: [aReplica({ replicaId: taskIndex })] }),
    ),
  );
  t.is((await page.get(t, 'getGantt', '/jobs/1/gantt')).read_task_count, 2500);
  t.is(page.broker.timesAsked('listTasks'), 3);
  await page.get(t, 'getFailures', '/jobs/1/failures');
  t.is(page.broker.timesAsked('listTasks'), 3);
});

test('tasks are found by a part of their value, by status and by index, some thousands in one call', async (t) => {
  const page = new Page();
  const count = 7000;
  page.broker.jobs = [aJobSummary({ taskCount: count })];
  page.broker.tasks.set(
    1,
    Array.from({ length: count }, (_, taskIndex) =>
      aTask({
        taskIndex,
        value: taskIndex % 100 === 7 ? `Ligand-${taskIndex}` : `other-${taskIndex}`,
        status: taskIndex % 200 === 7 ? TaskStatus.FAILED : TaskStatus.FINISHED,
      }),
    ),
  );
  const find = async (query: string) => {
    const { tasks, next_task_index: next } = await page.get(t, 'listTasks', `/jobs/1/tasks?${query}`);
    return { indexes: tasks.map(({ task_index: index }) => index), next };
  };
  t.deepEqual(await find('search=ligand&page_size=2'), { indexes: [7, 107], next: 108 });
  t.deepEqual(await find('search=ligand&page_size=2&from_task_index=108'), { indexes: [207, 307], next: 308 });
  t.deepEqual(await find('search=LIGAND&status=failed&page_size=2'), { indexes: [7, 207], next: 407 });
  t.deepEqual(await find('search=nowhere'), { indexes: [], next: 5000 });
  t.deepEqual(await find('search=nowhere&from_task_index=5000'), { indexes: [], next: null });
  t.deepEqual(await find('search=%236999'), { indexes: [6999], next: null });
  t.deepEqual(await find('search=%23'), { indexes: [], next: 5000 });
});

test('a failure says what happened and then what to do; tasks have their names', async (t) => {
  const page = new Page();
  page.broker.jobs = [aJobSummary({ taskCount: 2, failedCount: 2, status: JobStatus.FAILED })];
  const limited = aReplica({
    accepted: false,
    disposition: ReplicaDisposition.FAILED,
    outcome: Outcome.LIMITED,
    reason: 'MUT_MEMORY_MAX',
  });
  page.broker.tasks.set(1, [
    aTask({
      value: 'fit-1',
      status: TaskStatus.FAILED,
      replicas: [{ ...limited, detail: aSentence('memory peaked at 542 MiB') }],
    }),
    aTask({
      taskIndex: 1,
      value: 'fit-2',
      status: TaskStatus.FAILED,
      replicas: [{ ...limited, reason: 'MUT_RUN_TIME_MAX' }],
    }),
  ]);
  const { groups } = await page.get(t, 'getFailures', '/jobs/1/failures');
  t.deepEqual(groups.map((group) => [group.cause, group.task_values]).sort(), [
    ['memory peaked at 542 MiB', ['fit-1']],
    ['the task runs longer than its limit', ['fit-2']],
  ]);
  for (const { advice, cause } of groups) {
    t.not(advice, '');
    t.notRegex(`${cause}${advice}`, /MUT_/);
  }
});

test('of a job that runs, what began since and what ended since is read; a task that is retried is taken up again', async (t) => {
  const page = new Page();
  mixedJob(page);
  const tasks = page.broker.tasks.get(1) ?? [];
  await page.get(t, 'getGantt', '/jobs/1/gantt');
  tasks[2] = aTask({ taskIndex: 2, replicas: [aReplica({ replicaId: 5, machineId: 'lab/m2' })] });
  tasks[3] = aTask({ taskIndex: 3, replicas: [aReplica({ replicaId: 6 })] });
  tasks[1] = aTask({ taskIndex: 1, replicas: [...(tasks[1]?.replicas ?? []), aReplica({ replicaId: 7 })] });
  page.broker.jobs = [aJobSummary({ taskCount: 4, finishedCount: 4 })];
  page.now += 60_000;
  t.is((await page.get(t, 'getTaskTimes', '/jobs/1/times')).count, 4);
  const { groups } = await page.get(t, 'getFailures', '/jobs/1/failures');
  t.is(groups[0]?.replica_count, 2);
  t.is(groups[0]?.given_up_count, 0);
});

test('a run is counted once, however often its task is passed on the way to later ones', async (t) => {
  const page = new Page();
  const finished = (taskIndex: number) => aTask({ taskIndex, replicas: [aReplica({ replicaId: taskIndex })] });
  const ready = (taskIndex: number) => aTask({ taskIndex, status: TaskStatus.READY, replicas: [] });
  page.broker.tasks.set(1, [ready(0), finished(1), ready(2)]);
  page.broker.jobs = [
    aJobSummary({ status: JobStatus.RUNNING, endedUnixMs: 0, taskCount: 3, readyCount: 2, finishedCount: 1 }),
  ];
  t.is((await page.get(t, 'getTaskTimes', '/jobs/1/times')).count, 1);
  page.broker.tasks.set(1, [ready(0), finished(1), finished(2)]);
  page.broker.jobs = [
    aJobSummary({ status: JobStatus.RUNNING, endedUnixMs: 0, taskCount: 3, readyCount: 1, finishedCount: 2 }),
  ];
  page.now += 60_000;
  t.is((await page.get(t, 'getTaskTimes', '/jobs/1/times')).count, 2);
});

test('the graph of a workflow says which tasks wait, and where others ran', async (t) => {
  const page = new Page();
  mixedJob(page);
  const list = { $case: 'list' as const, value: { values: ['a', 'b', 'c', hostile] } };
  const [group] = aJobSpec().groups;
  page.broker.specs.set(
    1,
    aJobSpec({
      groups: group === undefined ? [] : [{ ...group, values: list }],
      edges: [
        { from: 0, to: 2, dataBytes: 0 },
        { from: 2, to: 3, dataBytes: 0 },
      ],
    }),
  );
  const graph = await page.get(t, 'getJobGraph', '/jobs/1/graph');
  t.deepEqual(graph.tasks.value, ['a', 'b', 'c', hostile]);
  t.deepEqual(
    graph.tasks.status.map((status) => graph.statuses[status]),
    ['finished', 'failed', 'running', 'waiting'],
  );
  t.deepEqual(graph.tasks.machine_id, ['alpha/1.0', '', 'lab/m2', '']);
  t.deepEqual(graph.edges, { from: [0, 2], to: [2, 3] });
});

test('the ledger adds up, by provider and in all', async (t) => {
  const page = new Page();
  page.broker.ledger = [aLedgerRow(), aLedgerRow({ requestId: '2' }), aLedgerRow({ providerId: 'lab', requestId: '' })];
  const ledger = await page.get(t, 'getLedger');
  t.is(ledger.total.held_processor_ms, 300_000);
  t.deepEqual(
    ledger.by_provider.map(({ provider_id: id, allocation_count: count, used_processor_ms: used }) => [
      id,
      count,
      used,
    ]),
    [
      ['alpha', 2, 140_000],
      ['lab', 1, 70_000],
    ],
  );
  t.is((await page.get(t, 'getJobLedger', '/jobs/1/ledger')).job_id, 1);
});

test('machines come by site in columns, and in pages in full', async (t) => {
  const page = new Page();
  const named = (machineId: string) =>
    aMachineRecord({
      facts: {
        machineId,
        incarnation: 'x',
        processors: 2,
        attributes: { note: hostile },
        requestId: '',
        sharedTokens: [],
        homeMarks: [],
      },
      providerId: machineId.split('/')[0] ?? '',
    });
  page.broker.machines = ['lab/m10', 'lab/m2', 'alpha/1.0'].map(named);
  const { sites } = await page.get(t, 'getMachines');
  t.deepEqual(
    sites.map(({ provider_id: id, machines }) => [id, machines.machine_id]),
    [
      ['alpha', ['alpha/1.0']],
      ['lab', ['lab/m2', 'lab/m10']],
    ],
  );
  const first = await page.get(t, 'listMachines', '/machines/page?page_size=2');
  t.deepEqual([first.machines.length, first.next_after, first.machine_count], [2, 'lab/m2', 3]);
  const rest = await page.get(t, 'listMachines', '/machines/page?page_size=2&after=lab%2Fm2');
  t.deepEqual([rest.machines.map(({ machine_id: id }) => id), rest.next_after], [['lab/m10'], null]);
  t.is(rest.machines[0]?.attributes['note'], hostile);
});

test('a machine lists what it runs', async (t) => {
  const page = new Page();
  mixedJob(page);
  page.broker.machines = [
    aMachineRecord({
      facts: {
        machineId: 'lab/m2',
        incarnation: 'x',
        processors: 2,
        attributes: {},
        requestId: '',
        sharedTokens: [],
        homeMarks: [],
      },
      runningCount: 1,
    }),
  ];
  const { running, is_complete: isComplete } = await page.get(t, 'getMachine', '/machine?machine_id=lab%2Fm2');
  t.deepEqual(
    running.map(({ job_id: job, task_index: task }) => [job, task]),
    [[1, 2]],
  );
  t.true(isComplete);
});

test('a provider shows the profile of its queue as it sees it, our requests in it and what the heuristic compared last', async (t) => {
  const resource = {
    providerId: 'alpha',
    resourceKind: 'cluster',
    processors: 4,
    requestsMax: 10,
    walltimeMsMax: 1,
    widthProcessorsMax: 4,
    walltimeGranularityMs: 1,
    heuristic: 'adaptive',
    queuedRequests: 1,
    machines: 0,
    draining: false,
    drainingReason: '',
    reasons: [aSentence(hostile)],
    defaultTaskTimeMs: 1,
    heuristicSwitched: false,
    leases: [],
    spoolTrouble: '',
    queueTrouble: undefined,
  };
  const page = new Page({
    provider: () => ({
      getResource: () => Promise.resolve(resource),
      listRequests: () => Promise.resolve({ requests: [] }),
    }),
  });
  page.broker.providers = [wire.provider({})];
  const compared = {
    widthProcessors: 3,
    walltimeMs: 20_000,
    startsUnixMs: 1_020_000,
    throughputTasksPerHour: 5.5,
    chosen: true,
  };
  page.broker.requests = [
    wire.request({ managerRequestId: '9', status: RequestStatus.QUEUED, candidates: [compared] }),
  ];
  page.broker.queues.set(
    'alpha',
    wire.queue({
      knowledge: QueueKnowledge.HIDDEN,
      trouble: aSentence(hostile),
      atUnixMs: now,
      readUnixMs: now - 3000,
      processors: 4,
      runningCount: 1,
      waitingCount: 2,
      steps: [
        { fromUnixMs: now, freeProcessors: 2 },
        { fromUnixMs: now + 10_000, freeProcessors: 4 },
      ],
      entries: [
        {
          managerRequestId: '9',
          requestId: 'q1',
          running: false,
          widthProcessors: 3,
          walltimeMs: 20_000,
          startsUnixMs: 1_020_000,
          forecast: true,
        },
        {
          managerRequestId: '8',
          requestId: '',
          running: true,
          widthProcessors: 2,
          walltimeMs: 20_000,
          startsUnixMs: 1_000_000,
          forecast: false,
        },
        {
          managerRequestId: '',
          requestId: 'q2',
          running: false,
          widthProcessors: 9,
          walltimeMs: 20_000,
          startsUnixMs: 0,
          forecast: false,
        },
      ],
      reservations: [{ reservationId: 1, processors: 2, startUnixMs: 1_050_000, endUnixMs: 1_060_000 }],
      decision: { atUnixMs: now - 9000, heuristic: 'adaptive', candidates: [compared], reasons: [aSentence(hostile)] },
    }),
  );
  const {
    profile,
    queue,
    resource: shown,
    requests,
    profile_missing: missing,
  } = await page.get(t, 'getProvider', '/providers/alpha');
  t.is(missing, '');
  t.deepEqual(
    profile?.steps.map(({ from_unix_ms: from, free_processors: free }) => [from - now, free]),
    [
      [0, 2],
      [10_000, 4],
    ],
  );
  t.deepEqual(
    profile?.requests.map(({ request_id: id, is_ours: ours, start_unix_ms: start }) => [id, ours, start]),
    [
      ['9', true, 1_020_000],
      ['8', false, 1_000_000],
      ['q2', true, null],
    ],
  );
  t.like(queue, {
    knowledge: 'hidden',
    trouble: aSentence(hostile),
    age_ms: 3500,
    running_count: 1,
    waiting_count: 2,
    decision: { heuristic: 'adaptive', at_unix_ms: now - 9000, reasons: [aSentence(hostile)] },
  });
  t.is(queue?.decision?.candidates[0]?.throughput_tasks_per_hour, 5.5);
  t.deepEqual(shown?.reasons, [aSentence(hostile)]);
  t.is(requests[0]?.candidates[0]?.throughput_tasks_per_hour, 5.5);
  await Promise.all([page.get(t, 'getProvider', '/providers/alpha'), page.get(t, 'getProvider', '/providers/alpha')]);
  t.is(page.broker.timesAsked('getProviderQueue'), 1, 'all pages have the same answer');
});

test('a provider whose queue is not known yet says why', async (t) => {
  const page = new Page({
    provider: () => ({
      getResource: () => Promise.reject(new MutiraoError('MUT_UNREACHABLE', 'not from here')),
      listRequests: () => Promise.resolve({ requests: [] }),
    }),
  });
  page.broker.providers = [wire.provider({})];
  page.broker.queues.set('alpha', wire.queue({ knowledge: QueueKnowledge.NONE, trouble: aSentence(hostile) }));
  const { profile, queue, profile_missing: missing } = await page.get(t, 'getProvider', '/providers/alpha');
  t.deepEqual([profile, missing, queue?.age_ms, queue?.decision], [null, hostile, null, null]);
});

test('a provider that is away is shown without what only it knows', async (t) => {
  const page = new Page();
  page.broker.providers = [wire.provider({ connected: false, lastError: hostile })];
  const { resource, profile, profile_missing: missing } = await page.get(t, 'getProvider', '/providers/alpha');
  t.deepEqual([resource, profile, missing], [null, null, 'The provider is unreachable.']);
  t.is((await page.get(t, 'listProviders')).providers[0]?.last_error, hostile);
});

test('whatever is shown can be explained', async (t) => {
  const page = new Page();
  page.broker.explanation = { summary: aSentence(hostile), waiting: undefined, details: [aSentence('first')] };
  t.is((await page.get(t, 'explainJob', '/jobs/1/explain')).summary.text, hostile);
  t.is((await page.get(t, 'explainTask', '/jobs/1/tasks/7/explain')).subject, 'task 7 of job 1');
  t.is((await page.get(t, 'explainRequest', '/explain/request?request=alpha%2F3')).subject, 'request alpha/3');
  t.deepEqual(
    page.broker.asked.map(({ request }) => request),
    [
      { subject: { $case: 'jobId', value: 1 } },
      { subject: { $case: 'task', value: { jobId: 1, taskIndex: 7 } } },
      { subject: { $case: 'request', value: 'alpha/3' } },
    ],
  );
});

test('a broker that is away is reported with a code, and one that is back answers', async (t) => {
  const page = new Page();
  mixedJob(page);
  page.broker.awayBecause = new MutiraoError('MUT_UNREACHABLE', 'nobody listens');
  const refused = await page.fails('/jobs');
  t.like(refused, { status: 503, code: 'MUT_UNREACHABLE', retryable: true });
  page.broker.awayBecause = undefined;
  t.is((await page.get(t, 'listJobs')).jobs.length, 1);
});

test('the answer to a refused call has the reason, its parameters and its sentence', async (t) => {
  const page = new Page();
  page.broker.awayBecause = new MutiraoError('MUT_NOT_FOUND', 'there is no job 7 of yours', {
    reason: { code: 'job-not-found', jobId: 7 },
  });
  t.like(await page.fails('/jobs'), {
    code: 'MUT_NOT_FOUND',
    reason: { code: 'job-not-found', parameters: { job_id: 7 }, text: 'there is no job 7 of yours' },
  });
});

test('what is wrong in a request is named', async (t) => {
  const page = new Page();
  t.like(await page.fails('/jobs/0'), { status: 400, code: 'MUT_BAD_REQUEST' });
  t.like(await page.fails('/jobs/x'), { status: 400 });
  t.like(await page.fails('/jobs/1/tasks?page_size=5000'), { status: 400 });
  t.like(await page.fails('/jobs/1/tasks?status=odd'), { status: 400 });
  t.like(await page.fails('/jobs/9'), { status: 404, code: 'MUT_NOT_FOUND' });
  t.like(await page.fails('/nowhere'), { status: 404 });
  t.like(await page.fails('/jobs/1/cancel', { reason: 'x'.repeat(2000) }), { status: 400 });
  t.like(await page.fails('/jobs/1/retry', { task_indexes: [-1] }), { status: 400 });
});

test('a caller that has the answer already gets status 304', async (t) => {
  const page = new Page();
  mixedJob(page);
  const { headers } = await page.raw('/jobs/1/times');
  const again = await page.raw('/jobs/1/times', { 'if-none-match': String(headers['etag']) });
  t.is(again.statusCode, 304);
  t.is(again.body, '');
});

test('however many ask, the broker is asked once for as long as an answer is young', async (t) => {
  const page = new Page();
  mixedJob(page);
  await Promise.all(Array.from({ length: 20 }, () => page.get(t, 'listJobs')));
  t.is(page.broker.timesAsked('listJobs'), 1);
  page.now += 1000;
  await page.get(t, 'listJobs');
  t.is(page.broker.timesAsked('listJobs'), 2);
});
