import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import test, { type ExecutionContext } from 'ava';

import {
  type JobEvent,
  type AppendTasksResponse,
  JobStatus,
  ReplicaDisposition,
  TaskStatus,
  type JobSpec,
  type SubmitJobRequest,
  type TaskGroup,
  TaskResult,
  type TailTaskOutputResponse,
  type WatchJobResponse,
} from '@mutirao/api/broker';
import type { LiveOutputPart } from '@mutirao/api/codecs';
import { Root } from '@mutirao/api/common';
import {
  brokerMachine,
  createBrokerState,
  type BrokerChange,
  type BrokerCommand,
  type BrokerInput,
  type BrokerState,
} from '@mutirao/core/machines/broker';
import type { Content, MachineFacts, ReplicaEnd } from '@mutirao/core/messages';
import { MachineDriver, type Timers } from '@mutirao/runtime/driver';
import { openJournal } from '@mutirao/runtime/journal';
import type { CallContext, StreamWriter } from '@mutirao/runtime/rpc';
import { aCallContext, aMachine, anEnd, inject, temporaryFolder, until } from '@mutirao/testkit';

import { Blobs } from '../../../src/contents/blobs.ts';
import { JobWatchers } from '../../../src/events/job-watchers.ts';
import type { ReplicaPlace } from '../../../src/live-output/live-outputs.ts';
import { changeCodec } from '../../../src/journal/change-codec.ts';
import { JobSpecs } from '../../../src/journal/job-specs.ts';
import { JournalRecords } from '../../../src/journal/records.ts';
import { downloadBlobRoute, uploadBlobRoute } from '../../../src/routes/blobs.ts';
import type { BrokerDriver, BrokerParts } from '../../../src/routes/broker-parts.ts';
import { explainRoute, getLedgerRoute } from '../../../src/routes/explain.ts';
import { appendTasksRoute, closeJobRoute } from '../../../src/routes/append-tasks.ts';
import { getTaskOutputRoute } from '../../../src/routes/get-task-output.ts';
import {
  cancelJobRoute,
  cancelTasksRoute,
  getJobRoute,
  listJobsRoute,
  retryTasksRoute,
} from '../../../src/routes/jobs.ts';
import { listTasksRoute } from '../../../src/routes/list-tasks.ts';
import {
  addProviderRoute,
  listMachinesRoute,
  listProvidersRoute,
  listRequestsRoute,
} from '../../../src/routes/resources.ts';
import { holdTasksRoute, releaseTasksRoute, updateJobRoute } from '../../../src/routes/update-jobs.ts';
import { FileHashes } from '../../../src/staging/file-hashes.ts';
import { hashFile } from '../../../src/staging/hash-file.ts';
import { HomeFiles } from '../../../src/staging/home-files.ts';
import { OtherJobsPlaces } from '../../../src/submission/other-jobs-places.ts';
import { submitJobRoute } from '../../../src/routes/submit-job.ts';
import { addResults } from '../../../src/routes/task-results.ts';
import { tailTaskOutputRoute } from '../../../src/routes/tail-task-output.ts';
import { waitJobRoute } from '../../../src/routes/wait-job.ts';
import { watchJobRoute } from '../../../src/routes/watch-job.ts';

type StartCommand = Extract<BrokerCommand, { kind: 'StartReplicas' }>;

interface Bench {
  readonly home: string;
  readonly parts: BrokerParts;
  readonly driver: BrokerDriver;
  readonly started: StartCommand[];
  /** Timers of the routes, to be rung by hand. */
  readonly alarms: (() => void)[];
  /** Lets inputs take effect. */
  turn(...inputs: readonly BrokerInput[]): Promise<void>;
}

async function prepare(t: ExecutionContext): Promise<Bench> {
  const home = temporaryFolder(t);
  let now = 1000;
  const clock = { now: () => now++ };
  const alarms: (() => void)[] = [];
  const byHand: Timers = {
    start: (_delay, run) => {
      alarms.push(run);
      return run;
    },
    cancel: () => undefined,
  };
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  const watchers = new JobWatchers();
  const started: StartCommand[] = [];
  const driver: BrokerDriver = new MachineDriver<BrokerState, BrokerInput, BrokerChange, BrokerCommand>({
    machine: brokerMachine,
    state: createBrokerState(),
    journal,
    clock,
    checkEvery: 1,
    timers: { start: () => undefined, cancel: () => undefined },
    perform: (command) => {
      if (command.kind === 'StartReplicas') started.push(command);
    },
    onCommitted: (entries) => {
      for (const { change } of entries) watchers.notify('jobId' in change ? change.jobId : 0);
    },
    onFatal: (error) => {
      t.fail(String(error));
    },
  });
  const blobs = await Blobs.open({ folder: join(home, 'contents'), ownerId: 'ana', sizeMax: 1000 });
  t.teardown(async () => {
    await driver.stop();
    journal.close();
  });
  const parts: BrokerParts = {
    driver,
    room: { demand: () => undefined, trouble: () => undefined },
    journal,
    records: new JournalRecords(journal),
    specs: new JobSpecs(journal),
    blobs,
    watchers,
    clock,
    timers: byHand,
    journalInstance: 'first',
    homeFiles: new HomeFiles(new FileHashes({ hashFile })),
    ownerId: 'ana',
    forbiddenFolders: [join(home, 'own')],
    otherJobsPlaces: new OtherJobsPlaces(driver.state),
    workFolderRules: { home, hasKey: true, forbidden: [join(home, 'own')] },
    checks: { describe: () => [] },
    taskOutputs: { lookAt: () => Promise.resolve({ fault: undefined, gone: new Set<string>() }) },
    liveOutputs: { ask: () => ({ answer: Promise.resolve(undefined), drop: () => undefined }) },
    machineProcessorsOf: () => Promise.resolve(undefined),
    getTrouble: (providerId) => `no route to ${providerId}`,
    findQueue: () => Promise.reject(new Error('nobody is asked')),
  };
  const turn = async (...inputs: readonly BrokerInput[]): Promise<void> => {
    for (const input of inputs) driver.deliver(input);
    while (driver.waitingCount > 0) await new Promise(setImmediate);
  };
  return { home, parts, driver, started, alarms, turn };
}

function groupOf(changes: Partial<TaskGroup> = {}): TaskGroup {
  return {
    values: { $case: 'range', value: { first: 10, count: 3 } },
    command: 'echo {}',
    noOp: false,
    inputs: [],
    outputs: [],
    check: '',
    requirements: '',
    alternatives: [],
    ...changes,
  };
}

function submission(changes: Partial<JobSpec> = {}, clientJobId = ''): SubmitJobRequest {
  return {
    clientJobId,
    job: {
      label: 'sweep',
      groups: [groupOf()],
      environment: {},
      limits: undefined,
      homeDirectory: '',
      replicasMax: 1,
      edges: [],
      ...changes,
    },
  };
}

/** Joins a machine with the processors of `facts`. */
async function joinMachine({ turn, driver }: Bench, facts: MachineFacts): Promise<void> {
  const providerId = facts.machineId.split('/')[0] ?? '';
  if (!driver.state.providers.has(providerId))
    await turn(
      { kind: 'ProviderAdded', replyTo: 0, providerId, address: 'h:1' },
      { kind: 'ProviderConnected', providerId },
    );
  await turn({ kind: 'MachineJoined', providerId, facts, heldReplicaIds: [] });
}

/** Ends all replicas that were started on a machine and not ended yet. */
async function endAll(
  { turn, started }: Bench,
  sequence: number,
  findEnd: (replicaId: number) => ReplicaEnd,
): Promise<void> {
  const ended = started.splice(0).flatMap((command) => command.starts.map(({ replicaId }) => findEnd(replicaId)));
  await turn({ kind: 'MachineReported', machineId: 'alpha/m1', report: { sequence, started: [], ended } });
}

function success(replicaId: number): ReplicaEnd {
  return {
    ...anEnd(replicaId, 'succeeded', { startedAt: 1500, endedAt: 1600 }),
    standardOutput: Buffer.from(`out ${replicaId}`),
  };
}

test('a job goes in with its defaults, and the same client id is the same job', async (t) => {
  const { parts } = await prepare(t);
  const first = await inject(submitJobRoute(parts), submission({}, 'k1'));
  t.deepEqual(first, { jobId: 1, taskCount: 3, warnings: [] });
  t.deepEqual(await inject(submitJobRoute(parts), submission({}, 'k1')), first);
  t.is((await inject(submitJobRoute(parts), submission({}, 'k2'))).jobId, 2);
  const { job, spec } = await inject(getJobRoute(parts), { jobId: 1 });
  t.like(job, {
    jobId: 1,
    label: 'sweep',
    userId: 'ana',
    status: JobStatus.RUNNING,
    taskCount: 3,
    readyCount: 3,
    runningCount: 0,
    endedUnixMs: 0,
  });
  t.like(spec, { processors: 1, failuresMax: 3, replicasMax: 1 });
});

test('a job that is submitted again is the same job even when its inputs are gone', async (t) => {
  const { parts, home } = await prepare(t);
  const groups = [
    groupOf({
      inputs: [
        {
          source: { source: { $case: 'localPath', value: join(home, 'in') } },
          root: Root.PLAYPEN,
          path: 'x',
          condition: '',
        },
      ],
    }),
  ];
  writeFileSync(join(home, 'in'), '');
  await inject(submitJobRoute(parts), submission({ groups }, 'k1'));
  rmSync(join(home, 'in'));
  t.is((await inject(submitJobRoute(parts), submission({ groups }, 'k1'))).jobId, 1);
  await t.throwsAsync(inject(submitJobRoute(parts), submission({ groups }, 'k2')), { code: 'MUT_INPUT_MISSING' });
});

test('what is wrong with a job is said before anything of it is kept', async (t) => {
  const { parts, home, driver } = await prepare(t);
  const input = (path: string): Partial<TaskGroup> => ({
    inputs: [{ source: { source: { $case: 'localPath', value: path } }, root: Root.PLAYPEN, path: 'x', condition: '' }],
  });
  const output = (localPath: string): Partial<TaskGroup> => ({
    outputs: [{ root: Root.PLAYPEN, path: 'x', localPath, condition: '' }],
  });
  const refused: readonly (readonly [Partial<JobSpec>, string, RegExp])[] = [
    [{ groups: [] }, 'MUT_BAD_REQUEST', /no tasks/],
    [{ groups: [groupOf(), groupOf(input(join(home, 'gone')))] }, 'MUT_INPUT_MISSING', /gone is not there/],
    [{ groups: [groupOf(output(join(home, 'own/x')))] }, 'MUT_OUTPUT_FORBIDDEN', /not for results/],
    [{ groups: [groupOf({ requirements: '(' })] }, 'MUT_BAD_REQUEST', /requirements/],
    [
      { gathering: { folder: '/g' }, homeDirectory: home },
      'MUT_BAD_REQUEST',
      /gathering is given and no output has a local path/,
    ],
    [
      { gathering: { folder: join(home, 'own') }, homeDirectory: home, groups: [groupOf(output('x'))] },
      'MUT_OUTPUT_FORBIDDEN',
      /not for results/,
    ],
    [
      { gathering: { folder: 'g' }, groups: [groupOf(output(join(home, 'x')))] },
      'MUT_BAD_REQUEST',
      /home_directory is empty/,
    ],
    [
      { gathering: { folder: 'g' }, homeDirectory: home, groups: [groupOf(output('../x'))] },
      'MUT_PATH_ESCAPES',
      /x is not below .*; expected a path below it/,
    ],
    [
      { gathering: { folder: 'g' }, homeDirectory: home, groups: [groupOf(output('.'))] },
      'MUT_PATH_ESCAPES',
      /is not below/,
    ],
    [
      { verification: { by: { $case: 'vote', value: 0 } } },
      'MUT_BAD_REQUEST',
      /verification\.vote is 0; expected an integer in 1\.\.15/,
    ],
    [
      { verification: { by: { $case: 'credibility', value: 1.5 } } },
      'MUT_BAD_REQUEST',
      /credibility:1\.5; expected a number above 0 and below 1/,
    ],
    [
      { verification: { by: { $case: 'credibility', value: 0 } } },
      'MUT_BAD_REQUEST',
      /credibility:0; expected a number above 0 and below 1/,
    ],
    [{ verification: { by: { $case: 'credibility', value: NaN } } }, 'MUT_BAD_REQUEST', /credibility:NaN/],
    [{ verification: { by: undefined } }, 'MUT_BAD_REQUEST', /expected none, check, vote or credibility/],
    [
      { verification: { by: { $case: 'check', value: {} } } },
      'MUT_BAD_REQUEST',
      /task group 0 has no check; expected a check for every task/,
    ],
  ];
  for (const [changes, code, message] of refused) {
    await t.throwsAsync(inject(submitJobRoute(parts), submission(changes)), { code, message });
  }
  await t.throwsAsync(inject(submitJobRoute(parts), { job: undefined, clientJobId: '' }), { code: 'MUT_BAD_REQUEST' });
  t.is(driver.state.jobs.size, 0);
});

test('local paths and checks are for the owner alone; everything of a job is for its user alone', async (t) => {
  const { parts, home } = await prepare(t);
  writeFileSync(join(home, 'in'), '');
  const bob = { userId: 'bob' };
  const groups = [groupOf({ check: 'true' })];
  await t.throwsAsync(inject(submitJobRoute(parts), submission({ groups, homeDirectory: home }), bob), {
    code: 'MUT_NOT_OWNER',
    message: /you are bob/,
  });
  t.is((await inject(submitJobRoute(parts), submission({ groups, homeDirectory: home }))).jobId, 1);
  t.is((await inject(submitJobRoute(parts), submission(), bob)).jobId, 2);
  const calls: readonly (() => Promise<unknown>)[] = [
    () => inject(getJobRoute(parts), { jobId: 1 }, bob),
    () => inject(cancelJobRoute(parts), { jobId: 1, reason: '' }, bob),
    () => inject(retryTasksRoute(parts), { jobId: 1, taskIndexes: [], currentInputs: true }, bob),
    () => inject(waitJobRoute(parts), { jobId: 1 }, bob),
    () => inject(listTasksRoute(parts), { jobId: 1, taskIndexes: [], status: 0, pageSize: 0, fromTaskIndex: 0 }, bob),
    () => inject(getTaskOutputRoute(parts), { jobId: 1, taskIndex: 0 }, bob),
    () => inject(explainRoute(parts), { subject: { $case: 'jobId', value: 1 } }, bob),
    () => inject(explainRoute(parts), { subject: { $case: 'task', value: { jobId: 1, taskIndex: 0 } } }, bob),
    () => inject(getLedgerRoute(parts), { jobId: 1 }, bob),
    () => watchJobRoute(parts)({ jobId: 1, afterSequence: 0 }, aWriter().writer, aCallContext(bob)),
  ];
  for (const call of calls) await t.throwsAsync(call(), { code: 'MUT_NOT_FOUND' });
  t.deepEqual(
    (await inject(listJobsRoute(parts), { pageSize: 0, beforeJobId: 0 }, bob)).jobs.map((job) => job.jobId),
    [2],
  );
});

test('a million tasks are taken in at once, as three numbers', async (t) => {
  const { parts } = await prepare(t);
  const groups = [groupOf({ values: { $case: 'range', value: { first: 1, count: 1_000_000 } } })];
  t.is((await inject(submitJobRoute(parts), submission({ groups }))).taskCount, 1_000_000);
  const [entry] = parts.journal.read({ after: 0, limit: 1 });
  t.true(JSON.stringify(entry).length < 1000);
});

test('jobs are listed from the newest on, a page at a time', async (t) => {
  const { parts } = await prepare(t);
  for (let count = 0; count < 5; count += 1) await inject(submitJobRoute(parts), submission());
  const page = async (pageSize: number, beforeJobId: number): Promise<number[]> =>
    (await inject(listJobsRoute(parts), { pageSize, beforeJobId })).jobs.map((job) => job.jobId);
  t.deepEqual(await page(2, 0), [5, 4]);
  t.deepEqual(await page(2, 4), [3, 2]);
  t.deepEqual(await page(0, 2), [1]);
});

test('tasks show their value, their status and every replica, and the accepted one has its output', async (t) => {
  const bench = await prepare(t);
  const { parts } = bench;
  await inject(submitJobRoute(parts), submission());
  await joinMachine(bench, aMachine('alpha/m1', { processors: 2, requestId: '5' }));
  t.deepEqual(
    (
      await inject(listTasksRoute(parts), {
        jobId: 1,
        taskIndexes: [],
        status: TaskStatus.READY,
        pageSize: 0,
        fromTaskIndex: 0,
      })
    ).tasks.map((task) => task.taskIndex),
    [2],
  );
  await endAll(bench, 1, (replicaId) =>
    replicaId === 1
      ? {
          ...anEnd(1, 'failed', { startedAt: 1500, endedAt: 1600 }),
          standardError: Buffer.from('no'),
          staging: { inputsAskedAt: 1400, inputsHereAt: 1450, inputsPlacingAt: 1460, commandEndedAt: 0 },
        }
      : success(replicaId),
  );
  const { tasks } = await inject(listTasksRoute(parts), {
    jobId: 1,
    taskIndexes: [1, 0],
    status: 0,
    pageSize: 0,
    fromTaskIndex: 0,
  });
  t.deepEqual(
    tasks.map((task) => [task.taskIndex, task.value]),
    [
      [0, '10'],
      [1, '11'],
    ],
  );
  t.like(tasks[1], { status: TaskStatus.FINISHED, failureCount: 0 });
  t.like(tasks[1]?.replicas[0], {
    machineId: 'alpha/m1',
    requestId: '5',
    accepted: true,
    disposition: ReplicaDisposition.ACCEPTED,
    startedUnixMs: 1500,
    endedUnixMs: 1600,
    exitStatus: 0,
    staging: undefined,
  });
  t.like(tasks[0], { failureCount: 1 });
  t.like(tasks[0]?.replicas[0], {
    accepted: false,
    disposition: ReplicaDisposition.FAILED,
    exitStatus: 1,
    reason: 'MUT_TASK_FAILED',
    staging: { inputsAskedUnixMs: 1400, inputsHereUnixMs: 1450, inputsPlacingUnixMs: 1460, commandEndedUnixMs: 0 },
  });
  t.true((tasks[0]?.replicas[0]?.takenUnixMs ?? 0) > 0);
  t.like(await inject(getTaskOutputRoute(parts), { jobId: 1, taskIndex: 1 }), {
    replicaId: 2,
    standardOutput: Buffer.from('out 2'),
    truncated: false,
  });
  t.like(await inject(getTaskOutputRoute(parts), { jobId: 1, taskIndex: 0 }), {
    replicaId: 1,
    standardError: Buffer.from('no'),
  });
  await t.throwsAsync(inject(getTaskOutputRoute(parts), { jobId: 1, taskIndex: 9 }), {
    code: 'MUT_NOT_FOUND',
    message: /it has 3/,
  });
  await t.throwsAsync(
    inject(listTasksRoute(parts), {
      jobId: 1,
      taskIndexes: [],
      status: 99 as TaskStatus,
      pageSize: 0,
      fromTaskIndex: 0,
    }),
    { code: 'MUT_BAD_REQUEST' },
  );
});

test('pages of tasks say where to go on, also after the job has finished and its spec left the state', async (t) => {
  const bench = await prepare(t);
  const { parts, driver } = bench;
  await inject(submitJobRoute(parts), submission());
  await joinMachine(bench, aMachine('alpha/m1', { processors: 3 }));
  await endAll(bench, 1, success);
  t.is(driver.state.jobs.get(1)?.spec, undefined);
  const page = await inject(listTasksRoute(parts), {
    jobId: 1,
    taskIndexes: [],
    status: 0,
    pageSize: 2,
    fromTaskIndex: 0,
  });
  t.deepEqual(
    page.tasks.map((task) => [task.value, task.replicas.length]),
    [
      ['10', 1],
      ['11', 1],
    ],
  );
  t.is(page.nextTaskIndex, 2);
  const rest = await inject(listTasksRoute(parts), {
    jobId: 1,
    taskIndexes: [],
    status: TaskStatus.FINISHED,
    pageSize: 2,
    fromTaskIndex: 2,
  });
  t.deepEqual(
    rest.tasks.map((task) => task.value),
    ['12'],
  );
  t.is(rest.nextTaskIndex, undefined);
  t.is((await inject(getJobRoute(parts), { jobId: 1 })).spec?.groups[0]?.command, 'echo {}');
});

test('a wait ends with the job, shortly before its deadline, or when the broker stops', async (t) => {
  const bench = await prepare(t);
  const { parts, alarms } = bench;
  await inject(submitJobRoute(parts), submission());
  const stopping = new AbortController();
  const waits = [
    inject(waitJobRoute(parts), { jobId: 1 }, { deadline: 99_999 }),
    inject(waitJobRoute(parts), { jobId: 1 }, { stopping: stopping.signal }),
    inject(waitJobRoute(parts), { jobId: 1 }),
  ] as const;
  alarms[0]?.();
  t.is((await waits[0]).job?.status, JobStatus.RUNNING);
  stopping.abort();
  await t.throwsAsync(waits[1], { code: 'MUT_STOPPING' });
  await inject(cancelJobRoute(parts), { jobId: 1, reason: 'enough' });
  t.like((await waits[2]).job, { status: JobStatus.CANCELLED, cancelReason: { text: 'enough' } });
  t.like((await inject(waitJobRoute(parts), { jobId: 1 })).job, { status: JobStatus.CANCELLED });
  t.is((await inject(retryTasksRoute(parts), { jobId: 1, taskIndexes: [0, 2], currentInputs: false })).retriedCount, 2);
});

test('single tasks are cancelled once, and an index of no task is refused', async (t) => {
  const { parts } = await prepare(t);
  await inject(submitJobRoute(parts), submission({ groups: [groupOf({})] }));
  const cancel = (taskIndexes: number[], reason = ''): Promise<{ readonly cancelledCount: number }> =>
    inject(cancelTasksRoute(parts), { jobId: 1, taskIndexes, reason });
  t.is((await cancel([0, 1])).cancelledCount, 2);
  t.is((await cancel([0, 1])).cancelledCount, 0);
  await t.throwsAsync(cancel([99]), { code: 'MUT_BAD_REQUEST', message: /task 99 of job 1/ });
  await t.throwsAsync(cancel([]), { code: 'MUT_BAD_REQUEST', message: /task_indexes has 0 entries/ });
  await t.throwsAsync(cancel([0], 'x'.repeat(1025)), { code: 'MUT_BAD_REQUEST', message: /reason has 1025/ });
});

/** An open job without tasks, and what adds some to it. */
async function prepareOpen(t: ExecutionContext) {
  const bench = await prepare(t);
  const { parts, home } = bench;
  const route = appendTasksRoute(parts);
  await inject(submitJobRoute(parts), submission({ groups: [], homeDirectory: home, open: true }));
  const append = (appendKey: string, groups: TaskGroup[], userId = 'ana'): Promise<AppendTasksResponse> =>
    inject(route, { jobId: 1, appendKey, groups }, { userId });
  const writing = (name: string): TaskGroup[] => [
    groupOf({ outputs: [{ root: Root.PLAYPEN, path: 'out', localPath: join(home, name), condition: '' }] }),
  ];
  return { ...bench, append, writing };
}

test('tasks are appended once under a key, and their numbers go on', async (t) => {
  const { parts, append, writing } = await prepareOpen(t);
  const both = await Promise.all([append('one', writing('out-{#}')), append('one', writing('out-{#}'))]);
  t.deepEqual(
    both.map(({ firstTaskIndex, taskCount }) => [firstTaskIndex, taskCount]),
    [
      [0, 3],
      [0, 3],
    ],
  );
  t.like(await append('two', writing('out-{#}')), { firstTaskIndex: 3, taskCount: 3 });
  t.like(await inject(getJobRoute(parts), { jobId: 1 }), { job: { taskCount: 6, open: true } });
  t.deepEqual(await inject(closeJobRoute(parts), { jobId: 1 }), { taskCount: 6 });
  await t.throwsAsync(append('three', [groupOf()]), { code: 'MUT_JOB_CLOSED' });
  t.like(await append('two', writing('out-{#}')), { firstTaskIndex: 3 }, 'what was promised is answered again');
  const { job, spec } = await inject(getJobRoute(parts), { jobId: 1 });
  t.is(job?.open, undefined);
  t.is(spec?.groups.length, 2);
});

test('what is wrong with appended tasks is said before anything of them is kept', async (t) => {
  const { parts, append, writing } = await prepareOpen(t);
  await append('one', writing('out-{#}'));
  await t.throwsAsync(append('two', writing('out-1')), { code: 'MUT_OUTPUT_CONFLICT' });
  await t.throwsAsync(append('two', []), { code: 'MUT_BAD_REQUEST', message: /groups is empty/ });
  await t.throwsAsync(append('', [groupOf()]), { code: 'MUT_BAD_REQUEST', message: /append_key is empty/ });
  await t.throwsAsync(append('x'.repeat(257), [groupOf()]), { code: 'MUT_BAD_REQUEST', message: /append_key/ });
  await t.throwsAsync(append('two', [groupOf()], 'bob'), { code: 'MUT_NOT_FOUND' });
  const gone = { source: { $case: 'content' as const, value: { sha256: Buffer.alloc(32), sizeBytes: 3 } } };
  const input = { source: gone, root: Root.PLAYPEN, path: 'x', condition: '' };
  await t.throwsAsync(append('two', [groupOf({ inputs: [input] })]), { code: 'MUT_CONTENT_NOT_FOUND' });
  t.is((await inject(getJobRoute(parts), { jobId: 1 })).job?.taskCount, 3);
});

test('tasks are held and released, and a job is updated, by their own user only', async (t) => {
  const { parts } = await prepare(t);
  await inject(submitJobRoute(parts), submission({ groups: [groupOf()] }, 'steered'));
  t.is((await inject(holdTasksRoute(parts), { jobId: 1, taskIndexes: [1, 2] })).heldCount, 2);
  t.is((await inject(holdTasksRoute(parts), { jobId: 1, taskIndexes: [1, 2] })).heldCount, 0);
  t.is((await inject(releaseTasksRoute(parts), { jobId: 1, taskIndexes: [] })).releasedCount, 2);
  await inject(updateJobRoute(parts), { jobId: 1, priority: 7, runningMax: 2 });
  const { job } = await inject(getJobRoute(parts), { jobId: 1, withoutSpec: true });
  t.like(job, { heldCount: 0, priority: 7, runningMax: 2 });
  await t.throwsAsync(async () => await inject(holdTasksRoute(parts), { jobId: 1, taskIndexes: [99] }), {
    code: 'MUT_BAD_REQUEST',
    message: /task 99 of job 1/,
  });
  await t.throwsAsync(
    async () => await inject(updateJobRoute(parts), { jobId: 1, priority: 1001, runningMax: undefined }),
    { code: 'MUT_BAD_REQUEST', message: /priority is 1001/ },
  );
  await t.throwsAsync(
    async () => await inject(updateJobRoute(parts), { jobId: 2, priority: 1, runningMax: undefined }),
    { code: 'MUT_NOT_FOUND' },
  );
});

test('a job and a retry are refused where an open job writes to their places, unless they may share them', async (t) => {
  const { parts, home } = await prepare(t);
  const writing = (clientJobId: string, sharedPlaces = false): SubmitJobRequest => {
    const outputs = [{ root: Root.PLAYPEN, path: 'out', localPath: join(home, 'out-{}'), condition: '' }];
    const request = submission({ groups: [groupOf({ outputs })], homeDirectory: home }, clientJobId);
    return sharedPlaces && request.job !== undefined ? { ...request, job: { ...request.job, sharedPlaces } } : request;
  };
  const conflict = (otherId: number): { readonly code: string; readonly message: RegExp } => ({
    code: 'MUT_OUTPUT_CONFLICT',
    message: new RegExp(
      `out of task 0 goes to .*out-10, and so does out of task 0 of job ${otherId}, which has not ended`,
    ),
  });
  const retry = (jobId: number, sharedPlaces?: boolean): Promise<{ readonly retriedCount: number }> =>
    inject(retryTasksRoute(parts), {
      jobId,
      taskIndexes: [0],
      currentInputs: false,
      ...(sharedPlaces === undefined ? {} : { sharedPlaces }),
    });
  await inject(submitJobRoute(parts), writing('first'));
  await t.throwsAsync(inject(submitJobRoute(parts), writing('second')), conflict(1));
  await inject(cancelJobRoute(parts), { jobId: 1, reason: '' });
  t.is((await inject(submitJobRoute(parts), writing('second'))).jobId, 2, 'the first job is over');
  await t.throwsAsync(retry(1), conflict(2));
  await t.throwsAsync(retry(1, false), conflict(2));
  t.is((await retry(1, true)).retriedCount, 1, 'the user insists');
  await inject(cancelJobRoute(parts), { jobId: 2, reason: '' });
  await t.throwsAsync(retry(2), conflict(1), 'a job that runs again is open');
  t.is((await inject(submitJobRoute(parts), writing('third', true))).jobId, 3);
});

function aWriter(): {
  readonly writer: StreamWriter<WatchJobResponse>;
  readonly reported: WatchJobResponse[];
  behind: boolean;
  drain(): void;
} {
  const reported: WatchJobResponse[] = [];
  let gate = Promise.withResolvers<void>();
  const bench = {
    reported,
    behind: false,
    drain: () => {
      bench.behind = false;
      gate.resolve();
      gate = Promise.withResolvers<void>();
    },
    writer: {
      onDrain: undefined,
      end: () => undefined,
      drained: () => gate.promise,
      write: (message: WatchJobResponse) => {
        reported.push(message);
        return !bench.behind;
      },
    },
  };
  return bench;
}

function listTypes(reported: readonly WatchJobResponse[]): string[] {
  return reported.flatMap(({ events }) => events.map((event) => event.type));
}

test('a watcher receives the past events, then each new one, and continues from its position', async (t) => {
  const bench = await prepare(t);
  const { parts, turn } = bench;
  await inject(submitJobRoute(parts), submission());
  const leaving = new AbortController();
  const { writer, reported } = aWriter();
  const watch = watchJobRoute(parts)({ jobId: 1, afterSequence: 0 }, writer, aCallContext({ signal: leaving.signal }));
  await turn();
  t.deepEqual(listTypes(reported), ['job.accepted']);
  await joinMachine(bench, aMachine('alpha/m1', { processors: 3 }));
  await endAll(bench, 1, success);
  await turn({ kind: 'TimerFired' });
  t.deepEqual(listTypes(reported), ['job.accepted', 'tasks.started', 'tasks.finished', 'job.finished']);
  const [, started] = reported.filter(({ events }) => events.length > 0);
  t.deepEqual(started?.events[0]?.taskIndexes, [0, 1, 2]);
  t.deepEqual(
    reported.map(({ events }) => events.length),
    [1, 0, 1, 1, 1],
    'an empty message says, once, that all events so far were sent',
  );
  leaving.abort();
  await watch;
  const again = aWriter();
  const rest = watchJobRoute(parts)(
    { jobId: 0, afterSequence: started?.events[0]?.sequence ?? 0 },
    again.writer,
    aCallContext({ signal: AbortSignal.abort() }),
  );
  await rest;
  t.deepEqual(again.reported, [], 'nothing is reported to a client that has left');
  const stopping = new AbortController();
  const all = watchJobRoute(parts)(
    { jobId: 0, afterSequence: started?.events[0]?.sequence ?? 0 },
    again.writer,
    aCallContext({ stopping: stopping.signal }),
  );
  await turn({ kind: 'TimerFired' });
  stopping.abort();
  await t.throwsAsync(all, { code: 'MUT_STOPPING' });
  t.deepEqual(listTypes(again.reported), ['tasks.finished', 'job.finished']);
});

test("a watcher of everything receives events of the user's own jobs and of the resources of all jobs, as they come", async (t) => {
  const bench = await prepare(t);
  const { parts } = bench;
  await inject(submitJobRoute(parts), submission());
  const leaving = new AbortController();
  const { writer, reported } = aWriter();
  const watch = watchJobRoute(parts)(
    { jobId: 0, afterSequence: 0 },
    writer,
    aCallContext({ userId: 'bob', signal: leaving.signal }),
  );
  await bench.turn();
  t.deepEqual(listTypes(reported), [], 'another user has a job');
  await joinMachine(bench, aMachine('alpha/m1', { processors: 3 }));
  await bench.turn({ kind: 'MachineLost', machineId: 'alpha/m1', reason: 'MUT_MACHINE_LOST' });
  t.deepEqual(listTypes(reported), ['provider.added', 'machine.joined', 'machine.lost']);
  t.like(reported.flatMap(({ events }) => events)[1], {
    jobId: 0,
    machineId: 'alpha/m1',
    providerId: 'alpha',
    facts: { processors: 3 },
  });
  leaving.abort();
  await watch;
});

test('a watcher that asks for results gets those that fit with the event, and no other watcher does', async (t) => {
  const bench = await prepare(t);
  const { parts, turn } = bench;
  const outputs = [{ root: Root.PLAYPEN, path: 'result', localPath: '', condition: '' }];
  await inject(submitJobRoute(parts), submission({ groups: [groupOf({ outputs })] }));
  await joinMachine(bench, aMachine('alpha/m1', { processors: 3 }));
  const bytes = (replicaId: number): Buffer => Buffer.alloc(replicaId === 3 ? 60 : 20, replicaId);
  const contents = new Map<number, Content>();
  for (const replicaId of [1, 2, 3]) {
    const content = await parts.blobs.keep('ana', Readable.from([bytes(replicaId)]));
    contents.set(replicaId, content);
  }
  await endAll(bench, 1, (replicaId) => ({
    ...success(replicaId),
    outputs: [
      {
        outputIndex: 0,
        path: '',
        mode: 0o600,
        transferId: '',
        inline: undefined,
        content: contents.get(replicaId) as Content,
      },
    ],
  }));
  await turn(...[1, 2, 3].map((replicaId) => ({ kind: 'ResultAccepted' as const, replicaId })));
  const receive = async (resultBytesMax: number | undefined): Promise<JobEvent[]> => {
    const leaving = new AbortController();
    const { writer, reported } = aWriter();
    const context = aCallContext({ signal: leaving.signal });
    const watch = watchJobRoute(parts)({ jobId: 1, afterSequence: 0, resultBytesMax }, writer, context);
    await until(() => reported.some(({ events }) => events.length === 0), 'all events were sent');
    leaving.abort();
    await watch;
    return reported.flatMap(({ events }) => events);
  };
  const show = (events: readonly JobEvent[]): unknown[] =>
    events.map(({ results }) =>
      results?.results.map(({ taskIndex, machineId, files }) =>
        [taskIndex, machineId, ...files.map(({ path, data }) => `${path} ${data?.length ?? 'absent'}`)].join(' '),
      ),
    );
  // Without the bytes of files, the results take 58, 60 and 60 bytes.
  const receiveFinished = async (resultBytesMax: number): Promise<JobEvent[]> =>
    (await receive(resultBytesMax)).filter(({ type }) => type === 'tasks.finished');
  const finished = await receiveFinished(60 + 59);
  t.deepEqual(show(finished), [['0 alpha/m1 result 20'], ['1 alpha/m1 result 20'], ['2 alpha/m1 result absent']]);
  t.deepEqual(show(await receiveFinished(60 + 60)).at(-1), ['2 alpha/m1 result 60']);
  // Tasks that end together share the room.
  const all = 58 + 60 + 60 + (20 + 20 + 60);
  for (const [bytesMax, third] of [
    [all, ['2 alpha/m1 result 60']],
    [all - 1, ['2 alpha/m1 result absent']],
    [all - 60, ['2 alpha/m1 result absent']],
    [all - 61, []],
  ] as const) {
    const together = { ...(finished[0] as JobEvent), taskIndexes: [2, 0, 1] };
    await addResults(parts, 'ana', [{ event: together, sequence: 1, number: 1 }], bytesMax);
    t.deepEqual(show([together]), [['0 alpha/m1 result 20', '1 alpha/m1 result 20', ...third]]);
  }
  t.deepEqual(finished[0]?.results?.results[0]?.files[0]?.data, bytes(1));
  t.true((await receive(undefined)).every(({ results }) => results === undefined));
  for (const resultBytesMax of [0, 1024 * 1024 + 1])
    await t.throwsAsync(
      watchJobRoute(parts)({ jobId: 1, afterSequence: 0, resultBytesMax }, aWriter().writer, aCallContext()),
      { code: 'MUT_BAD_REQUEST', message: /expected an integer in 1..1048576/ },
    );
});

test('a spec is answered without listed values where they are not asked for', async (t) => {
  const { parts } = await prepare(t);
  const groups = [groupOf(), groupOf({ values: { $case: 'list', value: { values: ['long', 'longer'] } } })];
  await inject(submitJobRoute(parts), submission({ groups }));
  const { spec } = await inject(getJobRoute(parts), { jobId: 1, withoutValues: true });
  t.deepEqual(
    spec?.groups.map(({ values }) => values?.$case),
    ['range', undefined],
  );
  const whole = await inject(getJobRoute(parts), { jobId: 1 });
  t.deepEqual(
    whole.spec?.groups.map(({ values }) => values?.$case),
    ['range', 'list'],
  );
});

test('a slow watcher is not sent more than it takes, and misses nothing', async (t) => {
  const bench = await prepare(t);
  const { parts, turn } = bench;
  const slow = aWriter();
  slow.behind = true;
  const context: CallContext = aCallContext();
  void watchJobRoute(parts)({ jobId: 0, afterSequence: 0 }, slow.writer, context);
  for (let count = 0; count < 3; count += 1) await inject(submitJobRoute(parts), submission());
  await turn({ kind: 'TimerFired' });
  t.deepEqual(
    slow.reported.flatMap(({ events }) => events.map((event) => event.jobId)),
    [1],
  );
  slow.drain();
  await turn({ kind: 'TimerFired' }, { kind: 'TimerFired' });
  t.deepEqual(
    slow.reported.flatMap(({ events }) => events.map((event) => event.jobId)),
    [1, 2, 3],
  );
});

test('a blob comes back by its hash; one that is too large, or not here, is refused', async (t) => {
  const { parts } = await prepare(t);
  async function* upload(...chunks: readonly Buffer[]): AsyncGenerator<{ data: Buffer }> {
    for (const data of chunks) yield await Promise.resolve({ data });
  }
  const { content } = await uploadBlobRoute(parts)(upload(Buffer.from('hello '), Buffer.from('world')), aCallContext());
  t.deepEqual(content, { sha256: createHash('sha256').update('hello world').digest(), sizeBytes: 11 });
  const reported: Buffer[] = [];
  const writer = {
    onDrain: undefined,
    end: () => undefined,
    drained: () => Promise.resolve(),
    write: ({ data }: { data: Buffer }) => {
      reported.push(data);
      return false;
    },
  };
  await downloadBlobRoute(parts)({ sha256: content?.sha256 ?? Buffer.alloc(0) }, writer, aCallContext());
  t.is(Buffer.concat(reported).toString(), 'hello world');
  await t.throwsAsync(downloadBlobRoute(parts)({ sha256: Buffer.alloc(32) }, writer, aCallContext()), {
    code: 'MUT_CONTENT_NOT_FOUND',
  });
  await t.throwsAsync(downloadBlobRoute(parts)({ sha256: Buffer.alloc(3) }, writer, aCallContext()), {
    code: 'MUT_BAD_REQUEST',
  });
  await t.throwsAsync(uploadBlobRoute(parts)(upload(Buffer.alloc(600), Buffer.alloc(600)), aCallContext()), {
    code: 'MUT_BAD_REQUEST',
    message: /more than 1000/,
  });
});

test('a blob is for the user who sent it, whoever else knows its hash', async (t) => {
  const { parts } = await prepare(t);
  async function* upload(text: string): AsyncGenerator<{ data: Buffer }> {
    yield await Promise.resolve({ data: Buffer.from(text) });
  }
  const download = async (sha256: Buffer, userId: string): Promise<string> => {
    const reported: Buffer[] = [];
    const writer = {
      onDrain: undefined,
      end: () => undefined,
      drained: () => Promise.resolve(),
      write: ({ data }: { data: Buffer }) => {
        reported.push(data);
        return true;
      },
    };
    await downloadBlobRoute(parts)({ sha256 }, writer, aCallContext({ userId }));
    return Buffer.concat(reported).toString();
  };
  for (const [mine, theirs] of [
    ['ana', 'maria'],
    ['maria', 'ana'],
    ['maria', 'bob'],
  ] as const) {
    const { content } = await uploadBlobRoute(parts)(
      upload(`of ${mine}, not ${theirs}`),
      aCallContext({ userId: mine }),
    );
    const sha256 = content?.sha256 ?? Buffer.alloc(0);
    t.is(await download(sha256, mine), `of ${mine}, not ${theirs}`);
    await t.throwsAsync(download(sha256, theirs), { code: 'MUT_CONTENT_NOT_FOUND' });
    const groups = [
      groupOf({
        inputs: [
          {
            root: Root.PLAYPEN,
            path: 'in',
            condition: '',
            source: { source: { $case: 'content', value: content ?? { sha256, sizeBytes: 0 } } },
          },
        ],
      }),
    ];
    await t.throwsAsync(inject(submitJobRoute(parts), submission({ groups }), { userId: theirs }), {
      code: 'MUT_CONTENT_NOT_FOUND',
    });
    await t.notThrowsAsync(inject(submitJobRoute(parts), submission({ groups }), { userId: mine }));
    t.is(
      readFileSync(parts.blobs.findPath(sha256.toString('hex')) ?? '', 'utf8'),
      `of ${mine}, not ${theirs}`,
      'machines get it all the same',
    );
  }
});

test('what users had is theirs after a restart, and cut off uploads are gone', async (t) => {
  const {
    home,
    parts: { blobs },
  } = await prepare(t);
  async function* bytes(): AsyncGenerator<Buffer> {
    yield await Promise.resolve(Buffer.from('x'));
  }
  const { sha256 } = await blobs.keep('maria', bytes());
  writeFileSync(join(home, 'contents', 'part-1-1'), '');
  const again = await Blobs.open({ folder: join(home, 'contents'), ownerId: 'ana', sizeMax: 1000 });
  t.true(again.has('maria', sha256));
  t.false(again.has('ana', sha256));
  t.is(again.findPath(sha256), again.getPath('maria', sha256));
  t.false(existsSync(join(home, 'contents', 'part-1-1')));
});

test('providers, machines and requests are listed, and an address that makes no sense is refused', async (t) => {
  const bench = await prepare(t);
  const { parts } = bench;
  await inject(addProviderRoute(parts), { providerId: 'beta', address: '127.0.0.1:7000' });
  for (const [providerId, address] of [
    ['a/b', '127.0.0.1:1'],
    ['', '127.0.0.1:1'],
    ['x', 'nowhere'],
  ] as const) {
    await t.throwsAsync(inject(addProviderRoute(parts), { providerId, address }), { message: /expected/ });
  }
  await t.throwsAsync(inject(addProviderRoute(parts), { providerId: 'x', address: '192.0.2.1' }), {
    code: 'MUT_BAD_CONFIG',
  });
  await joinMachine(bench, aMachine('alpha/m1', { attributes: { os: 'linux' } }));
  const { providers } = await inject(listProvidersRoute(parts), {});
  t.deepEqual(
    providers.map(({ providerId, connected, lastError, machines }) => [providerId, connected, lastError, machines]),
    [
      ['beta', false, 'no route to beta', 0],
      ['alpha', true, '', 1],
    ],
  );
  const { machines } = await inject(listMachinesRoute(parts), {});
  t.like(machines[0], {
    providerId: 'alpha',
    facts: { machineId: 'alpha/m1', attributes: { os: 'linux' } },
    runningCount: 0,
  });
  t.deepEqual(await inject(listRequestsRoute(parts), { includeEnded: true }), { requests: [] });
});

test('a replica that finishes after its job was cancelled brings nothing: its task stays cancelled', async (t) => {
  const bench = await prepare(t);
  const { parts, started } = bench;
  await joinMachine(bench, aMachine('alpha/m1', { processors: 3 }));
  await inject(submitJobRoute(parts), submission());
  const replicaIds = started.flatMap(({ starts }) => starts.map(({ replicaId }) => replicaId));
  await inject(cancelJobRoute(parts), { jobId: 1, reason: 'enough' });
  await endAll(bench, 1, success);
  t.like((await inject(getJobRoute(parts), { jobId: 1 })).job, {
    status: JobStatus.CANCELLED,
    finishedCount: 0,
    cancelledCount: 3,
    cancelReason: { text: 'enough' },
  });
  t.is(replicaIds.length, 3);
  const { tasks } = await inject(listTasksRoute(parts), {
    jobId: 1,
    taskIndexes: [],
    status: TaskStatus.UNSPECIFIED,
    pageSize: 0,
    fromTaskIndex: 0,
  });
  t.deepEqual(
    tasks.map(({ status, replicas }) => [status, replicas.map(({ accepted }) => accepted)]),
    Array.from({ length: 3 }, () => [TaskStatus.CANCELLED, [false]]),
  );
});

test('explanations and the ledger are served for what exists', async (t) => {
  const bench = await prepare(t);
  const { parts } = bench;
  await inject(submitJobRoute(parts), submission());
  t.not((await inject(explainRoute(parts), { subject: { $case: 'jobId', value: 1 } })).summary?.text, '');
  t.not(
    (await inject(explainRoute(parts), { subject: { $case: 'task', value: { jobId: 1, taskIndex: 2 } } })).summary
      ?.text,
    '',
  );
  await t.throwsAsync(inject(explainRoute(parts), { subject: { $case: 'task', value: { jobId: 1, taskIndex: 3 } } }), {
    code: 'MUT_NOT_FOUND',
  });
  await t.throwsAsync(inject(explainRoute(parts), { subject: { $case: 'request', value: 'alpha/9' } }), {
    code: 'MUT_NOT_FOUND',
  });
  await t.throwsAsync(inject(explainRoute(parts), { subject: undefined }), { code: 'MUT_BAD_REQUEST' });
  await joinMachine(bench, aMachine('alpha/m1', { processors: 3 }));
  await endAll(bench, 1, success);
  const { rows } = await inject(getLedgerRoute(parts), { jobId: 0 });
  for (const row of rows)
    t.is(
      row.heldProcessorMs,
      row.usedProcessorMs + row.losersProcessorMs + row.killedProcessorMs + row.idleProcessorMs,
    );
  t.true((await inject(getLedgerRoute(parts), { jobId: 1 })).rows.every((row) => row.providerId === 'alpha'));
});

function aTailWriter(messages: TailTaskOutputResponse[] = []): StreamWriter<TailTaskOutputResponse> {
  return {
    write: (message) => messages.push(message) > 0,
    end: () => undefined,
    drained: () => Promise.resolve(),
    onDrain: undefined,
  };
}

/** Collects what a tail writes; `text` is standard output by replica, each byte where it belongs. */
function readTail(bench: Bench, request: { readonly replicaId?: number; readonly standardOutputOffset?: number } = {}) {
  const questions: { readonly place: ReplicaPlace; answer(part: Partial<LiveOutputPart>): void }[] = [];
  const parts: BrokerParts = {
    ...bench.parts,
    liveOutputs: {
      ask: (place) => {
        const { promise, resolve } = Promise.withResolvers<LiveOutputPart | undefined>();
        const { replicaId, standardOutputOffset: offset } = place;
        const empty = {
          requestId: 1,
          replicaId,
          state: 'running' as const,
          standardError: { offset: 0, bytes: Buffer.alloc(0) },
        };
        questions.push({
          place,
          answer: (part) => {
            resolve({ ...empty, standardOutput: { offset, bytes: Buffer.alloc(0) }, ...part });
          },
        });
        return { answer: promise, drop: () => undefined };
      },
    },
  };
  const messages: TailTaskOutputResponse[] = [];
  const writer = aTailWriter(messages);
  const over = tailTaskOutputRoute(parts)(
    { jobId: 1, taskIndex: 0, replicaId: 0, standardOutputOffset: 0, standardErrorOffset: 0, ...request },
    writer,
    aCallContext(),
  );
  return {
    questions,
    messages,
    over,
    texts: () => messages.map(({ standardOutput }) => standardOutput.toString()).join(''),
  };
}

/** Over at once: the clock of the bench has hardly moved. */
function briefSuccess(replicaId: number): ReplicaEnd {
  return { ...success(replicaId), startedAt: 1000, endedAt: 1000 };
}

test('a tail asks the machine of the task, resumes where it was, and takes the rest from the record', async (t) => {
  const bench = await prepare(t);
  await joinMachine(bench, aMachine('alpha/m1', { processors: 3 }));
  await inject(submitJobRoute(bench.parts), submission());
  await bench.turn();
  const tail = readTail(bench);
  await bench.turn();
  const [first] = tail.questions;
  t.like(first?.place, { providerId: 'alpha', machineId: 'alpha/m1', replicaId: 1, standardOutputOffset: 0 });
  first?.answer({ standardOutput: { offset: 0, bytes: Buffer.from('ou') } });
  await new Promise(setImmediate);
  t.is(tail.questions[1]?.place.standardOutputOffset, 2, 'it is asked for what follows');
  await endAll(bench, 1, briefSuccess);
  await tail.over;
  t.is(tail.texts(), 'out 1');
  t.is(tail.messages.at(-1)?.status, TaskStatus.FINISHED);

  const resumed = readTail(bench, { replicaId: 1, standardOutputOffset: 3 });
  await resumed.over;
  t.is(resumed.texts(), ' 1');
  const other = readTail(bench, { replicaId: 9, standardOutputOffset: 3 });
  await other.over;
  t.is(other.texts(), 'out 1', 'of another replica than the reader knows all is sent');
});

test('a tail waits for a task that has not started, and says so first', async (t) => {
  const bench = await prepare(t);
  await inject(submitJobRoute(bench.parts), submission());
  const tail = readTail(bench);
  await bench.turn();
  t.like(tail.messages, [{ status: TaskStatus.READY, replicaId: 0 }]);
  await joinMachine(bench, aMachine('alpha/m1', { processors: 3 }));
  await new Promise(setImmediate);
  t.is(tail.questions.length, 1);
  await inject(cancelJobRoute(bench.parts), { jobId: 1, reason: '' });
  await endAll(bench, 1, (replicaId) => anEnd(replicaId, 'cancelled', { startedAt: 1000, endedAt: 1000 }));
  await tail.over;
  t.is(tail.messages.at(-1)?.status, TaskStatus.CANCELLED);
});

test('a tail of a task that is not there is refused', async (t) => {
  const bench = await prepare(t);
  await t.throwsAsync(readTail(bench).over, { code: 'MUT_NOT_FOUND' });
});

test('a tail from an offset that its machine would refuse is refused, and the machine is not asked', async (t) => {
  const bench = await prepare(t);
  await joinMachine(bench, aMachine('alpha/m1', { processors: 3 }));
  await inject(submitJobRoute(bench.parts), submission());
  await bench.turn();
  for (const name of ['standardOutputOffset', 'standardErrorOffset']) {
    const tail = readTail(bench, { replicaId: 1, [name]: 2 ** 50 + 1 });
    await t.throwsAsync(Promise.race([tail.over, new Promise(setImmediate)]), { code: 'MUT_BAD_REQUEST' });
    t.is(tail.questions.length, 0);
  }
});

test('a machine that answers at once, without bytes, is asked again after a pause', async (t) => {
  const bench = await prepare(t);
  await joinMachine(bench, aMachine('alpha/m1', { processors: 3 }));
  await inject(submitJobRoute(bench.parts), submission());
  await bench.turn();
  let askedCount = 0;
  const liveOutputs: BrokerParts['liveOutputs'] = {
    ask: ({ replicaId }) => {
      askedCount += 1;
      const nothing = { offset: 0, bytes: Buffer.alloc(0) };
      const part = { requestId: 1, replicaId, standardOutput: nothing, standardError: nothing };
      // At full speed it would be asked for ever.
      const answer = Promise.resolve<LiveOutputPart>({ ...part, state: 'running' });
      return { answer: askedCount > 50 ? new Promise(() => undefined) : answer, drop: () => undefined };
    },
  };
  const leaving = new AbortController();
  const request = { jobId: 1, taskIndex: 0, replicaId: 0, standardOutputOffset: 0, standardErrorOffset: 0 };
  const over = tailTaskOutputRoute({ ...bench.parts, liveOutputs })(
    request,
    aTailWriter(),
    aCallContext({ signal: leaving.signal }),
  );
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  };
  await settle();
  t.is(askedCount, 1);
  for (const ring of bench.alarms.splice(0)) ring();
  await settle();
  t.is(askedCount, 2, 'once after each pause');
  leaving.abort();
  await over;
});

test('a user follows at most 128 tasks, until one is left; another user has as many', async (t) => {
  const bench = await prepare(t);
  const { jobId } = await inject(submitJobRoute(bench.parts), submission());
  const route = tailTaskOutputRoute(bench.parts);
  const [first, others] = [new AbortController(), new AbortController()];
  const follow = async ({ signal } = others, userId = 'ana'): Promise<void> => {
    const request = { jobId, taskIndex: 0, replicaId: 0, standardOutputOffset: 0, standardErrorOffset: 0 };
    await route(request, aTailWriter(), aCallContext({ signal, userId }));
  };
  const open = [follow(first), ...Array.from({ length: 127 }, () => follow())];
  await t.throwsAsync(Promise.race([follow(), new Promise(setImmediate)]), { code: 'MUT_OVERLOADED' });
  await t.throwsAsync(follow(others, 'eva'), { code: 'MUT_NOT_FOUND' });
  first.abort();
  await open.shift();
  open.push(follow());
  await t.throwsAsync(Promise.race([follow(), new Promise(setImmediate)]), { code: 'MUT_OVERLOADED' });
  others.abort();
  await Promise.all(open);
});

test('the names of files count too: an event of many files stays within what a watcher asks for', async (t) => {
  const bench = await prepare(t);
  const { parts, turn } = bench;
  const outputs = [{ root: Root.PLAYPEN, path: 'results', localPath: '', condition: '' }];
  await inject(submitJobRoute(parts), submission({ groups: [groupOf({ outputs })] }));
  await joinMachine(bench, aMachine('alpha/m1', { processors: 3 }));
  const content = await parts.blobs.keep('ana', Readable.from([Buffer.from('small')]));
  // The second task has one file, the others 1000 each.
  await endAll(bench, 1, (replicaId) => ({
    ...success(replicaId),
    outputs: Array.from({ length: replicaId === 2 ? 1 : 1000 }, (_none, number) => ({
      outputIndex: 0,
      path: `file-${number}`,
      mode: 0o600,
      transferId: '',
      inline: undefined,
      content,
    })),
  }));
  await turn(...[1, 2, 3].map((replicaId) => ({ kind: 'ResultAccepted' as const, replicaId })));
  const resultsWithin = async (bytesMax: number): Promise<NonNullable<JobEvent['results']>['results']> => {
    const event = { type: 'tasks.finished', jobId: 1, taskIndexes: [0, 1, 2] } as unknown as JobEvent;
    await addResults(parts, 'ana', [{ event, sequence: 1, number: 1 }], bytesMax);
    return event.results?.results ?? [];
  };
  const all = await resultsWithin(1024 * 1024);
  t.deepEqual(
    all.map(({ files }) => files.length),
    [1000, 1, 1000],
  );
  const some = await resultsWithin(1000);
  t.deepEqual(
    some.map(({ taskIndex, files }) => [taskIndex, files.length, files[0]?.data?.toString()]),
    [[1, 1, 'small']],
  );
  t.true(TaskResult.encode(some[0] as TaskResult).finish().length <= 1000);
  t.deepEqual(await resultsWithin(10), []);
});
