import test from 'ava';
import {
  type BrokerChange,
  type BrokerCommand,
  type BrokerInput,
  brokerMachine,
  type BrokerOptions,
  createBrokerState,
  listEvents,
  findUserJob,
  findJobSummary,
  findTaskSummary,
  findJobLedger,
  findLedger,
  listJobSummaries,
  listMachineRecords,
  listProviders,
  listRequests,
  listTaskIndexes,
  restore,
  resume,
  skipForgottenIds,
  snapshot,
} from '@mutirao/core/machines/broker';
import type { JobSpec, MachineFacts, ReplicaEnd } from '@mutirao/core/messages';
import { aGroup, aJob, aMachine, anEnd } from '@mutirao/testkit';

/**
 * A broker with provider p connected, and a function that takes a step and returns its commands but for timers and
 * demands.
 */
function aBroker(options: Partial<BrokerOptions> = {}) {
  const state = createBrokerState(options);
  const changes: BrokerChange[] = [];
  const step = (now: number, ...inputs: BrokerInput[]): BrokerCommand[] => {
    const decision = brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
    changes.splice(0, changes.length, ...decision.changes);
    return decision.commands.filter((command) => command.kind !== 'WakeAt' && command.kind !== 'SetDemand');
  };
  step(
    0,
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  return { state, step, changes };
}

function joined(
  machineId: string,
  changes: Partial<MachineFacts> = {},
  heldReplicaIds: readonly number[] = [],
): BrokerInput {
  return { kind: 'MachineJoined', providerId: 'p', facts: aMachine(machineId, changes), heldReplicaIds };
}

function submitted(spec: JobSpec, userId = 'ann'): BrokerInput {
  return { kind: 'JobSubmitted', replyTo: 7, userId, clientJobId: '', spec };
}

function reported(machineId: string, sequence: number, ...ended: ReplicaEnd[]): BrokerInput {
  return { kind: 'MachineReported', machineId, report: { sequence, started: [], ended } };
}

function succeeded(replicaId: number, startedAt: number, endedAt: number): ReplicaEnd {
  return anEnd(replicaId, 'succeeded', { startedAt, endedAt });
}

test('a task runs on a machine and its result is taken, each step with exactly these commands', (t) => {
  const { step, changes } = aBroker();
  t.deepEqual(step(1, submitted(aJob(1))), [
    { kind: 'Reply', replyTo: 7, reply: { ok: true, value: { jobId: 1, taskCount: 1 } } },
  ]);
  t.deepEqual(step(2, joined('p/m1')), [
    {
      kind: 'StartReplicas',
      providerId: 'p',
      machineId: 'p/m1',
      jobId: 1,
      groupIndex: 0,
      starts: [{ replicaId: 1, taskIndex: 0 }],
    },
  ]);
  t.deepEqual(step(6, reported('p/m1', 1, succeeded(1, 2, 5))), [
    { kind: 'AcknowledgeReport', providerId: 'p', machineId: 'p/m1', sequence: 1 },
  ]);
  t.like(changes, [
    {
      kind: 'ReplicasEnded',
      machineId: 'p/m1',
      jobId: 1,
      at: 6,
      endings: [{ replicaId: 1, taskIndex: 0, disposition: 'accepted', taskStatus: 'finished' }],
    },
    { kind: 'JobEnded', jobId: 1, status: 'finished', at: 6 },
  ]);
  t.is(changes.length, 2);
});

test('a machine gets one change and one command per group, and its report makes one change per job', (t) => {
  const { step, changes } = aBroker();
  step(1, submitted(aJob(1, { groups: [aGroup(2, { noOp: true }), aGroup(3, { noOp: true })] })));
  const commands = step(2, joined('p/m1', { processors: 2 }));
  t.deepEqual(
    commands.map(
      (command) =>
        command.kind === 'StartReplicas' && [command.groupIndex, ...command.starts.map((start) => start.taskIndex)],
    ),
    [
      [0, 0, 1],
      [1, 2, 3, 4],
    ],
  );
  step(3, reported('p/m1', 1, ...[1, 2, 3, 4].map((id) => succeeded(id, 2, 3))));
  t.deepEqual(
    changes.map((change) => change.kind),
    ['ReplicasEnded'],
  );
});

test('an end that is repeated in one report, and again in the next one, counts once', (t) => {
  const { state, step, changes } = aBroker();
  step(1, submitted(aJob(2)), joined('p/m1'));
  step(
    2,
    reported('p/m1', 1, succeeded(1, 1, 2), succeeded(1, 1, 2), anEnd(1, 'failed', { startedAt: 1, endedAt: 2 })),
  );
  t.like(changes[0], { kind: 'ReplicasEnded', endings: { length: 1 } });
  step(3, reported('p/m1', 1, succeeded(1, 1, 2)));
  t.deepEqual(changes, []);
  t.like(findJobSummary(state, 'ann', 1), { finishedCount: 1, dispatchedCount: 1, runningCount: 0 });
});

test('a task that is at a machine counts as running once it has begun there', (t) => {
  const { state, step } = aBroker();
  step(1, submitted(aJob(3)), joined('p/m1', { processors: 1 }));
  const placed = findJobSummary(state, 'ann', 1)?.dispatchedCount ?? 0;
  t.true(placed > 0);
  t.like(findJobSummary(state, 'ann', 1), { dispatchedCount: placed, runningCount: 0, readyCount: 3 - placed });
  step(2, {
    kind: 'MachineReported',
    machineId: 'p/m1',
    report: { sequence: 1, started: [{ replicaId: 1, startedAt: 2 }], ended: [] },
  });
  t.like(findJobSummary(state, 'ann', 1), { dispatchedCount: placed - 1, runningCount: 1 });
});

test('an end without a start shows nothing about task times', (t) => {
  const { state, step } = aBroker();
  step(1, submitted(aJob(3)), joined('p/m1'));
  step(1_000_000, reported('p/m1', 1, succeeded(1, 0, 1_000_000)));
  t.like(state.jobs.get(1)?.times, { count: 0, sum: 0, longest: 0 });
  step(1_000_007, reported('p/m1', 2, succeeded(2, 1_000_000, 1_000_007)));
  t.like(state.jobs.get(1)?.times, { count: 1, sum: 7, longest: 7 });
});

test('what a machine says of a replica of another machine is not believed', (t) => {
  const { step, changes } = aBroker();
  step(1, submitted(aJob(1)), joined('p/m1'), joined('p/m2'));
  step(2, reported('p/m2', 1, succeeded(1, 1, 2)));
  t.deepEqual(changes, []);
});

test('nothing is started on a machine whose time is over', (t) => {
  const { step } = aBroker();
  t.deepEqual(
    step(100, submitted(aJob(1)), joined('p/m1', { until: 100 })).filter((command) => command.kind === 'StartReplicas'),
    [],
  );
  t.is(step(101, joined('p/m2', { until: 102 })).length, 1);
});

test('a second success waits while the first is settled, and is surplus once that is accepted', (t) => {
  const { step, changes } = aBroker({ replicateAfter: 0 });
  step(1, submitted(aJob(1, { groups: [aGroup(1, { check: 'test -s o' })] })), joined('p/m1'), joined('p/m2'));
  step(2, { kind: 'TimerFired' });
  const first = step(3, reported('p/m1', 1, succeeded(1, 1, 3)));
  t.deepEqual(
    first.filter((command) => command.kind === 'AcceptResult').map((command) => command.replicaId),
    [1],
  );
  t.deepEqual(
    step(4, reported('p/m2', 1, succeeded(2, 1, 4))).filter((command) => command.kind === 'AcceptResult'),
    [],
  );
  step(5, { kind: 'ResultAccepted', replicaId: 1 });
  t.deepEqual(
    changes.map(
      (change) =>
        change.kind === 'ReplicasEnded' &&
        change.endings.map(({ replicaId, disposition }) => `${replicaId} ${disposition}`),
    ),
    [['1 accepted'], ['2 surplus'], false],
  );
});

test('a second success is settled when the first is refused', (t) => {
  const { state, step } = aBroker({ replicateAfter: 0 });
  step(
    1,
    submitted(aJob(1, { failuresMax: 1, groups: [aGroup(1, { check: 'test -s o' })] })),
    joined('p/m1'),
    joined('p/m2'),
  );
  step(3, reported('p/m1', 1, succeeded(1, 1, 3)), reported('p/m2', 1, succeeded(2, 1, 3)));
  t.like(step(4, { kind: 'ResultRefused', replicaId: 1, reason: 'MUT_CHECK_FAILED', detail: '' }), [
    { kind: 'AcceptResult', replicaId: 2 },
  ]);
  step(5, { kind: 'ResultAccepted', replicaId: 2 });
  t.like(findJobSummary(state, 'ann', 1), { status: 'finished', finishedCount: 1 });
});

test('a result asks only for the outputs that its machine was asked for, also after a restart', (t) => {
  const { state, step } = aBroker();
  const outputs = ['linux', 'plan9'].map((os) => ({
    root: 'playpen' as const,
    path: os,
    localPath: `/${os}`,
    condition: `os == ${os}`,
  }));
  step(1, submitted(aJob(1, { groups: [aGroup(1, { outputs })] })), joined('p/m1', { attributes: { os: 'plan9' } }));
  const [accept] = step(2, reported('p/m1', 1, succeeded(1, 1, 2)));
  t.like(accept, {
    kind: 'AcceptResult',
    replicaId: 1,
    machineId: 'p/m1',
    outputSpecs: [{ path: 'plan9' }],
    attributes: { os: 'plan9' },
  });
  t.deepEqual(
    resume(restore(snapshot(state)), 9).filter((command) => command.kind === 'AcceptResult'),
    [accept],
  );
});

test('a broker that restarts connects to its providers, and lets no machine go before its grace is over', (t) => {
  const { state, step } = aBroker({ suspectGrace: 50 });
  step(1, submitted(aJob(2)), joined('p/m1'));
  const again = restore(snapshot(state), { suspectGrace: 50 });
  t.deepEqual(
    resume(again, 1000),
    [
      { kind: 'ConnectProvider', providerId: 'p', address: 'h:1' },
      { kind: 'WakeAt', at: 1000 },
    ],
    'its first step sets the timer',
  );
  t.deepEqual(brokerMachine.step(again, [{ kind: 'TimerFired' }], 1000), {
    changes: [],
    commands: [{ kind: 'WakeAt', at: 1050 }],
  });
  t.deepEqual(brokerMachine.step(again, [{ kind: 'TimerFired' }], 1049).changes, []);
  t.deepEqual(
    brokerMachine.step(again, [{ kind: 'TimerFired' }], 1050).changes.map((change) => change.kind),
    ['ReplicasEnded', 'MachineLost'],
  );
});

test('a machine whose walltime ended while its provider was away is lost for that reason, and any other that is gone for none', (t) => {
  const { step, changes } = aBroker({});
  step(1, submitted(aJob(2)), joined('p/m1', { until: 1000 }), joined('p/m2', { until: 9000 }));
  step(2, { kind: 'ProviderDisconnected', providerId: 'p', reason: 'MUT_UNREACHABLE' });
  step(
    1000,
    { kind: 'ProviderConnected', providerId: 'p', resourceId: undefined },
    { kind: 'ProviderSynced', providerId: 'p' },
  );
  const lost = changes
    .filter((change) => change.kind === 'MachineLost')
    .map(({ machineId, reason }) => [machineId, reason]);
  t.deepEqual(lost, [
    ['p/m1', 'MUT_WALLTIME_ENDED'],
    ['p/m2', 'MUT_MACHINE_LOST'],
  ]);
});

test('a retry with current inputs binds tasks that have not run to the current files, through a restart, and leaves the rest on record', (t) => {
  const { state, step, changes } = aBroker();
  const group = aGroup(3, {
    inputs: [
      { source: { kind: 'path', path: '/h/s.sh' }, root: 'playpen', path: 's.sh', condition: '', fingerprint: 'old' },
    ],
  });
  step(1, submitted(aJob(3, { groups: [group], failuresMax: 1 })), joined('p/m1', { processors: 3 }));
  const ends: ReplicaEnd[] = [
    anEnd(1, 'succeeded', { startedAt: 1, endedAt: 2 }),
    anEnd(2, 'failed', { startedAt: 1, endedAt: 2 }),
    anEnd(3, 'failed', { startedAt: 1, endedAt: 2 }),
  ];
  step(2, { kind: 'MachineReported', machineId: 'p/m1', report: { sequence: 1, started: [], ended: ends } });
  const retry = (now: number, taskIndexes: readonly number[], fingerprint: string) =>
    step(now, {
      kind: 'TasksRetried',
      replyTo: 8,
      userId: 'ann',
      jobId: 1,
      taskIndexes,
      current: [
        { path: '/h/s.sh', fingerprint },
        { path: '/h/of-no-task', fingerprint: 'x' },
      ],
    });
  const getInput = ({ jobs }: typeof state) => jobs.get(1)?.spec?.groups[0]?.inputs[0];
  retry(3, [0], 'new');
  t.is(getInput(state)?.fingerprint, 'old', 'nothing of it runs again');
  retry(4, [1], 'new');
  t.deepEqual(
    changes.slice(0, 2).map(({ kind }) => kind),
    ['InputsRevised', 'TasksRetried'],
  );
  const revised = { fingerprint: 'new', former: [{ fingerprint: 'old', tasks: [{ first: 0, count: 1 }] }] };
  t.like(getInput(state), revised);
  t.like(getInput(restore(snapshot(state))), revised);
  retry(5, [2], 'new');
  t.deepEqual(
    changes.map(({ kind }) => kind).slice(0, 2),
    ['TasksRetried', 'ReplicasDispatched'],
    'it is the same still',
  );
});

test('a result that is being verified stays on record with what its task was given, also when the task is cancelled', (t) => {
  const { state, step } = aBroker();
  const group = aGroup(2, {
    check: 'true',
    inputs: [
      { source: { kind: 'path', path: '/h/s.sh' }, root: 'playpen', path: 's.sh', condition: '', fingerprint: 'old' },
    ],
  });
  step(1, submitted(aJob(2, { groups: [group], failuresMax: 1, replicasMax: 1 })), joined('p/m1', { processors: 2 }));
  const ends = [anEnd(1, 'succeeded', { startedAt: 1, endedAt: 2 }), anEnd(2, 'failed', { startedAt: 1, endedAt: 2 })];
  step(2, { kind: 'MachineReported', machineId: 'p/m1', report: { sequence: 1, started: [], ended: ends } });
  step(3, { kind: 'TasksCancelled', replyTo: 8, userId: 'ann', jobId: 1, taskIndexes: [0], reason: '' });
  t.like(state.jobs.get(1)?.tasks.get(0), { status: 'verifying', isCancelled: true });
  const current = [{ path: '/h/s.sh', fingerprint: 'new' }];
  step(4, { kind: 'TasksRetried', replyTo: 9, userId: 'ann', jobId: 1, taskIndexes: [1], current });
  const [input] = state.jobs.get(1)?.spec?.groups[0]?.inputs ?? [];
  t.like(input, { fingerprint: 'new', former: [{ fingerprint: 'old', tasks: [{ first: 0, count: 1 }] }] });
});

test('a task that machines which take nothing new refuse, or that an operator takes away, is never given up for that', (t) => {
  const { step, changes } = aBroker({ lossesMax: 1 });
  step(1, submitted(aJob(1)), joined('p/m1'));
  const refused: ReplicaEnd = { ...anEnd(1, 'broken', { startedAt: 0, endedAt: 2 }), reason: 'MUT_DRAINING' };
  step(2, { kind: 'MachineReported', machineId: 'p/m1', report: { sequence: 1, started: [], ended: [refused] } });
  t.like(changes[0], { endings: [{ disposition: 'withdrawn', taskStatus: 'ready' }] });
  step(3, { kind: 'MachineLost', machineId: 'p/m1', reason: 'MUT_DRAINING' });
  step(1000, joined('p/m2'));
  step(1001, {
    kind: 'MachineReported',
    machineId: 'p/m2',
    report: { sequence: 1, started: [{ replicaId: 2, startedAt: 1001 }], ended: [] },
  });
  step(1002, { kind: 'MachineLost', machineId: 'p/m2', reason: 'MUT_DRAINING' });
  t.like(changes[0], { endings: [{ disposition: 'withdrawn', taskStatus: 'ready' }] });
});

test('a task that is lost too often is given up, with the reason', (t) => {
  const { step, changes } = aBroker({ lossesMax: 2 });
  step(1, submitted(aJob(1)), joined('p/m1'));
  step(2, { kind: 'MachineLost', machineId: 'p/m1', reason: 'MUT_MACHINE_LOST' });
  t.like(changes[0], { endings: [{ disposition: 'lost', taskStatus: 'ready' }] });
  step(3, joined('p/m1'));
  step(4, { kind: 'MachineLost', machineId: 'p/m1', reason: 'MUT_MACHINE_LOST' });
  t.like(changes[0], { endings: [{ disposition: 'lost', taskStatus: 'failed', reason: 'MUT_TASK_LOSS_LIMIT' }] });
});

test('a task is not given up while a sibling of its last failure runs', (t) => {
  const { state, step, changes } = aBroker({ replicateAfter: 0 });
  step(1, submitted(aJob(1, { failuresMax: 1 })), joined('p/m1'), joined('p/m2'));
  step(2, reported('p/m1', 1, anEnd(1, 'failed', { startedAt: 1, endedAt: 2 })));
  t.like(changes[0], { endings: [{ disposition: 'failed', taskStatus: 'running' }] });
  step(3, reported('p/m2', 1, succeeded(2, 1, 3)));
  t.like(findJobSummary(state, 'ann', 1), { status: 'finished' });
});

test('all that failed or was cancelled is retried when no task is named, and the job goes on where it was in line', (t) => {
  const { state, step } = aBroker();
  step(1, submitted(aJob(3, { failuresMax: 1, replicasMax: 1 })), submitted(aJob(1)), joined('p/m1'));
  step(2, reported('p/m1', 1, anEnd(1, 'failed', { startedAt: 1, endedAt: 2 })));
  step(3, { kind: 'JobCancelled', replyTo: 3, userId: 'ann', jobId: 1, reason: '' });
  step(4, reported('p/m1', 2, anEnd(2, 'cancelled', { startedAt: 2, endedAt: 4 })));
  t.like(findJobSummary(state, 'ann', 1), { status: 'cancelled', failedCount: 1, cancelledCount: 2, endedAt: 4 });
  t.like(step(5, { kind: 'TasksRetried', replyTo: 4, userId: 'ann', jobId: 1, taskIndexes: [] }), [
    { reply: { ok: true, value: { retriedCount: 3 } } },
  ]);
  t.like(findJobSummary(state, 'ann', 1), {
    status: 'running',
    readyCount: 3,
    failedCount: 0,
    cancelledCount: 0,
    endedAt: 0,
  });
  t.deepEqual([...state.openJobs.keys()], [1, 2]);
});

test('a replica that started though it was asked back may get a sibling', (t) => {
  const { step } = aBroker({ withdrawAfter: 0, replicateAfter: 10 });
  step(1, submitted(aJob(3)), joined('p/m1'));
  step(3, reported('p/m1', 1, succeeded(1, 1, 3)));
  t.like(step(4, joined('p/m2')), [{ kind: 'CancelReplicas', replicaIds: [3], onlyWaiting: true }]);
  step(5, {
    kind: 'MachineReported',
    machineId: 'p/m1',
    report: { sequence: 2, started: [{ replicaId: 3, startedAt: 5 }], ended: [succeeded(2, 3, 5)] },
  });
  t.like(step(20, { kind: 'TimerFired' }), [
    { kind: 'StartReplicas', machineId: 'p/m2', starts: [{ replicaId: 4, taskIndex: 2 }] },
  ]);
});

test('a task gets no replica while its end may still be held back at its machine', (t) => {
  const { step } = aBroker({ replicateAfter: 10 });
  step(1, submitted(aJob(1)), joined('p/m1', { reportDelay: 300 }), joined('p/m2'));
  t.deepEqual(
    step(310, { kind: 'TimerFired' }).filter(({ kind }) => kind === 'StartReplicas'),
    [],
  );
  t.like(step(311, { kind: 'TimerFired' }), [
    { kind: 'StartReplicas', machineId: 'p/m2', starts: [{ replicaId: 2, taskIndex: 0 }] },
  ]);
});

test('a job of another user is not there', (t) => {
  const { state, step } = aBroker();
  step(1, submitted(aJob(3)), submitted(aJob(1), 'bob'));
  t.is(findUserJob(state, 'ann', 2), undefined);
  t.is(findJobSummary(state, 'bob', 1), undefined);
  t.deepEqual(
    listJobSummaries(state, 'ann', { beforeJobId: 0, sizeMax: 9 }).map((job) => job.jobId),
    [1],
  );
  t.like(step(2, { kind: 'JobCancelled', replyTo: 3, userId: 'ann', jobId: 2, reason: '' })[0], {
    reply: { ok: false, code: 'MUT_NOT_FOUND' },
  });
});

test('a job with every task finished keeps nothing but its summary', (t) => {
  const { state, step } = aBroker();
  step(1, submitted(aJob(2)), joined('p/m1', { processors: 2 }));
  step(2, reported('p/m1', 1, succeeded(1, 1, 2), succeeded(2, 1, 2)));
  const job = state.jobs.get(1);
  t.like(job, {
    spec: undefined,
    groups: { length: 0 },
    queues: { length: 0 },
    tasks: { size: 0 },
    finished: { size: 0 },
  });
  t.like(findJobSummary(state, 'ann', 1), {
    taskCount: 2,
    finishedCount: 2,
    runningCount: 0,
    readyCount: 0,
    status: 'finished',
    endedAt: 2,
  });
  t.is(job && findTaskSummary(job, 1)?.status, 'finished');
  t.deepEqual(job && listTaskIndexes(job, { status: 'finished', from: 1, sizeMax: 9 }), [1]);
});

test('tasks are listed by status, in order, page by page', (t) => {
  const { state, step } = aBroker();
  step(1, submitted(aJob(6, { failuresMax: 1 })), joined('p/m1', { processors: 3 }));
  step(2, reported('p/m1', 1, anEnd(2, 'failed', { startedAt: 1, endedAt: 30_000 }), succeeded(1, 1, 30_000)));
  const job = state.jobs.get(1);
  const list = (status: 'ready' | 'running' | 'failed' | 'finished' | undefined, from = 0, sizeMax = 9) =>
    job && listTaskIndexes(job, { status, from, sizeMax });
  t.deepEqual(
    [list('finished'), list('failed'), list('running'), list('ready'), list(undefined, 2, 3)],
    [[0], [1], [2, 3, 4], [5], [2, 3, 4]],
  );
});

test('machines show what they run, what waits in their queue, and whether they take work', (t) => {
  const { state, step } = aBroker();
  step(
    1,
    submitted(aJob(5, { groups: [aGroup(5, { noOp: true })] })),
    joined('p/m1', { processors: 2 }),
    joined('p/m2', { until: 5 }),
  );
  step(9, reported('p/m2', 1, ...[4, 5].map((id) => anEnd(id, 'cancelled', { startedAt: 0, endedAt: 9 }))));
  const records = listMachineRecords(state, 9);
  t.like(records[0], { status: 'busy', runningCount: 2 });
  t.like(records[1], { status: 'draining', runningCount: 0, waitingCount: 0 });
  t.deepEqual(listProviders(state), [
    {
      providerId: 'p',
      address: 'h:1',
      isConnected: true,
      lastError: '',
      machineCount: 2,
      resourceId: '',
      draining: undefined,
      runningCount: 5,
    },
  ]);
});

test('when a request was last seen is known without a change of promised state', (t) => {
  const { state, step, changes } = aBroker();
  const request = {
    providerId: 'p',
    requestId: '1',
    managerRequestId: '9',
    width: 2,
    walltime: 10,
    status: 'queued' as const,
    seenAt: 5,
    submittedAt: 1,
    startedAt: 0,
    endedAt: 0,
    reasons: [{ code: 'requeued' as const }],
    heuristic: 'static',
  };
  step(5, { kind: 'RequestsChanged', providerId: 'p', requests: [request] });
  t.deepEqual(
    changes.map((change) => change.kind),
    ['RequestsChanged'],
  );
  step(6, { kind: 'RequestsChanged', providerId: 'p', requests: [{ ...request, seenAt: 6 }] });
  t.deepEqual(changes, []);
  t.deepEqual(listRequests(state, false), [{ ...request, seenAt: 6 }]);
});

test('a machine whose clock is wrong is never charged for more than it was there', (t) => {
  const { state, step } = aBroker();
  step(1000, submitted(aJob(3)), joined('p/m1'));
  // It claims an hour for what took 10 ms, then runs backwards, then claims all again.
  step(1010, reported('p/m1', 1, succeeded(1, 1000, 3_601_000)));
  step(1020, reported('p/m1', 2, succeeded(2, 5000, 4000)));
  step(1030, reported('p/m1', 3, succeeded(3, 1, 3_601_000)));
  t.deepEqual(findLedger(state, 1030), [
    { providerId: 'p', requestId: '', requested: 0, held: 30, used: 20, losers: 0, killed: 0, idle: 10, ended: false },
  ]);
  t.deepEqual(findJobLedger(state, 1, 1030), [
    { providerId: 'p', requestId: '', requested: 0, held: 20, used: 20, losers: 0, killed: 0, idle: 0, ended: false },
  ]);
});

test('a machine is held for at least what its replicas were charged, also by a broker whose clock went back', (t) => {
  const { state, step } = aBroker();
  step(1000, submitted(aJob(1)), joined('p/m1'));
  step(1300, reported('p/m1', 1, succeeded(1, 1000, 1300)));
  t.like(findLedger(state, 900), [{ held: 300, used: 300, idle: 0 }]);
  step(950, { kind: 'MachineLost', machineId: 'p/m1', reason: 'MUT_MACHINE_LEFT' });
  t.like(findLedger(state, 2000), [{ held: 300, used: 300, idle: 0 }]);
});

test('what a machine starts that was given up on its way there is cancelled', (t) => {
  const { step } = aBroker();
  step(1, submitted(aJob(1)), joined('p/m1'));
  step(2, joined('p/m1', { incarnation: 'another' }));
  const report = { sequence: 1, started: [{ replicaId: 1, startedAt: 2 }], ended: [] };
  t.like(step(3, { kind: 'MachineReported', machineId: 'p/m1', report }), [
    { kind: 'AcknowledgeReport' },
    { kind: 'CancelReplicas', machineId: 'p/m1', replicaIds: [1] },
  ]);
});

test('a broker asks to be woken when a machine may try again to run a sibling of what failed there', (t) => {
  const { state, step } = aBroker({ replicateAfter: 0, retryElsewhere: 500, demandInterval: 5000 });
  step(1, submitted(aJob(1, { replicasMax: 2, failuresMax: 2 })), joined('p/m1'), joined('p/m2'));
  step(100, reported('p/m1', 1, anEnd(1, 'failed', { startedAt: 1, endedAt: 100 })));
  t.is(state.wakeAt, 600);
  t.like(step(600, { kind: 'TimerFired' }), [{ kind: 'StartReplicas', machineId: 'p/m1', starts: [{ taskIndex: 0 }] }]);
});

test('a task that waits at a machine is not asked back for one that it keeps away from', (t) => {
  const { state, step } = aBroker({ withdrawAfter: 0, retryElsewhere: 500 });
  step(1, submitted(aJob(3, { replicasMax: 1, failuresMax: 2 })), joined('p/m1'), joined('p/m2'));
  step(50, reported('p/m1', 1, succeeded(1, 1, 50)));
  const failed = reported('p/m1', 2, anEnd(3, 'failed', { startedAt: 50, endedAt: 100 }));
  t.like(step(100, failed).slice(1), [
    { kind: 'StartReplicas', machineId: 'p/m2', starts: [{ replicaId: 4, taskIndex: 2 }] },
  ]);
  t.deepEqual(step(599, { kind: 'TimerFired' }), []);
  t.is(state.wakeAt, 600);
  t.like(step(600, { kind: 'TimerFired' }), [
    { kind: 'CancelReplicas', machineId: 'p/m2', replicaIds: [4], onlyWaiting: true },
  ]);
});

test('what runs counts as used while it runs, once, and its sibling as a loser', (t) => {
  const { state, step } = aBroker({ replicateAfter: 0 });
  step(100, submitted(aJob(1)), joined('p/m1'), joined('p/m2'));
  const start = (machineId: string, replicaId: number): BrokerInput => ({
    kind: 'MachineReported',
    machineId,
    report: { sequence: 1, started: [{ replicaId, startedAt: 100 }], ended: [] },
  });
  step(110, start('p/m1', 1), start('p/m2', 2));
  t.like(findLedger(state, 130), [{ held: 60, used: 30, losers: 30, killed: 0, idle: 0 }]);
});

test('a snapshot of another version is not read', (t) => {
  t.throws(() => restore('{"version":99}'), { message: /version 99; expected 1/ });
});

test('events report what became of tasks, and of replicas if that differs', (t) => {
  const { step, changes } = aBroker();
  const types = () =>
    changes
      .flatMap(listEvents)
      .map(({ type, taskIndexes, reason }) => `${type} ${taskIndexes.join(',')} ${reason}`.trim());
  step(1, submitted(aJob(3, { failuresMax: 1, replicasMax: 1 })));
  t.deepEqual(types(), ['job.accepted']);
  step(2, joined('p/m1', { processors: 3 }));
  t.deepEqual(types(), ['machine.joined', 'tasks.started 0,1,2']);
  step(3, reported('p/m1', 1, anEnd(1, 'failed', { startedAt: 2, endedAt: 3 }), succeeded(2, 2, 3)), {
    kind: 'MachineLost',
    machineId: 'p/m1',
    reason: 'MUT_X',
  });
  t.deepEqual(types(), [
    'replicas.failed 0 MUT_TASK_FAILED',
    'tasks.failed 0 MUT_TASK_FAILED',
    'tasks.finished 1',
    'replicas.lost 2 MUT_X',
    'machine.lost  MUT_X',
  ]);
  step(4, { kind: 'JobCancelled', replyTo: 1, userId: 'ann', jobId: 1, reason: 'enough' });
  t.deepEqual(types(), ['job.cancelled  enough', 'job.cancelled']);
  step(5, { kind: 'TasksRetried', replyTo: 1, userId: 'ann', jobId: 1, taskIndexes: [2] });
  t.deepEqual(types(), ['tasks.retried 2']);
});

test("a provider's clock may differ: the broker converts the walltimes that it reports", (t) => {
  const { state, step } = aBroker();
  const ahead = 600_000;
  step(1_000_000, { kind: 'ProviderConnected', providerId: 'p', clock: 1_000_000 + ahead });
  step(1_000_001, joined('p/m1', { until: 1_300_000 + ahead }));
  t.is(state.machines.get('p/m1')?.facts.until, 1_300_000);
  step(
    1_000_002,
    { kind: 'ProviderConnected', providerId: 'p', clock: 1_000_002 + 1500 },
    joined('p/m2', { until: 1_300_000 }),
  );
  t.is(state.machines.get('p/m2')?.facts.until, 1_300_000);
});

test('a machine is charged no more than it was there, also when a clock then says that it ended earlier', (t) => {
  const { state, step } = aBroker();
  step(1000, submitted(aJob(1)), joined('p/m1', { until: 100_000 }));
  step(90_000, reported('p/m1', 1, succeeded(1, 1000, 90_000)));
  step(90_001, { kind: 'ResultAccepted', replicaId: 1 }, joined('p/m1', { until: 50_000 }));
  t.is(state.machines.get('p/m1')?.facts.until, 90_000);
  t.notThrows(() => {
    brokerMachine.checkInvariants(state);
  });
});

test('after a start of the host no replica id is given that may have been given before', (t) => {
  const { state, step } = aBroker();
  step(1, submitted(aJob(2)), joined('p/m1'));
  const again = restore(snapshot(state));
  skipForgottenIds(again);
  t.true(again.nextReplicaId > state.nextReplicaId + 1_000_000);
  t.is(restore(snapshot(again)).nextReplicaId, again.nextReplicaId);
});
