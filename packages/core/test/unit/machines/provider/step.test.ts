import test from 'ava';
import {
  createProviderState,
  describeRequest,
  providerDefaults,
  providerMachine,
  type ProviderInput,
} from '@mutirao/core/machines/provider';
import { heuristicDefaults } from '@mutirao/core/requests';
import { aMachine, ProviderHarness } from '@mutirao/testkit';

const limits = { processors: 4, requestsMax: 1, widthMax: 4, walltimeMax: 60_000, walltimeGranularity: 1 };
const demand = {
  pendingTasks: 2,
  processors: 1,
  taskTimeMax: undefined,
  taskTimeMean: undefined,
  deadline: undefined,
  userId: 'ana',
};

test('one batch with all facts is answered in one step', (t) => {
  const state = createProviderState({ ...providerDefaults, providerId: 'c1', heuristic: 'static' });
  const inputs: ProviderInput[] = [
    { kind: 'ProviderStarted', instance: 'i' },
    { kind: 'LimitsRead', limits },
    { kind: 'QueueListed', listing: { at: 5, processorsFree: 4, requests: [] }, readAt: 4 },
    { kind: 'BrokerConnected', brokerId: 'b1', connectionId: 1 },
    { kind: 'DemandChanged', brokerId: 'b1', demand },
  ];
  const { changes, commands } = providerMachine.step(state, inputs, 10);
  const reasons = state.requests.get('q1')?.reasons ?? [];
  t.deepEqual(changes, [
    { kind: 'ProviderFounded', instance: 'i', at: 10 },
    { kind: 'LimitsChanged', limits, at: 10 },
    { kind: 'BrokerKnown', brokerId: 'b1', at: 10 },
    { kind: 'DemandBegan', brokerId: 'b1', at: 10 },
    {
      kind: 'RequestDrafted',
      requestId: 'q1',
      brokerId: 'b1',
      userId: 'mutirao',
      width: 2,
      walltime: 60_000,
      heuristic: 'static',
      reasons,
      at: 10,
    },
    { kind: 'RequestSubmitting', requestId: 'q1', at: 10 },
  ]);
  t.deepEqual(commands, [
    { kind: 'SubmitRequest', requestId: 'q1', clientRequestId: 'i.q1', userId: 'mutirao', width: 2, walltime: 60_000 },
    {
      kind: 'ReportRequests',
      brokerId: 'b1',
      requests: [
        {
          providerId: 'c1',
          requestId: 'q1',
          managerRequestId: '',
          width: 2,
          walltime: 60_000,
          status: 'submitting',
          seenAt: 10,
          submittedAt: 0,
          startedAt: 0,
          endedAt: 0,
          reasons,
          heuristic: 'static',
        },
      ],
    },
    { kind: 'ReportSynced', brokerId: 'b1' },
  ]);
  t.true(reasons.length > 0);
});

test('free slots are shared evenly among the brokers in need', (t) => {
  const harness = new ProviderHarness();
  harness.perform([
    'start',
    'limits requests=4 width=8 walltime=1000',
    'listing',
    'connect b1',
    'connect b2',
    'demand b1 6',
    'demand b2 2',
  ]);
  const shares = [...harness.state.requests.values()].map(({ brokerId, width }) => `${brokerId} ${width}`);
  t.deepEqual(shares, ['b1 3', 'b1 3', 'b2 1', 'b2 1']);
});

test('the provider says why it asks for nothing', (t) => {
  const harness = new ProviderHarness();
  const resourceStatus = (): ProviderHarness['state']['resourceStatus'] => harness.state.resourceStatus;
  harness.perform(['start', 'connect b1']);
  t.deepEqual(resourceStatus(), [{ code: 'demand-covered' }]);
  harness.perform(['demand b1 3']);
  t.deepEqual(resourceStatus(), [{ code: 'limits-unknown' }]);
  harness.perform(['limits requests=1 width=2 walltime=1000']);
  t.deepEqual(resourceStatus(), [{ code: 'queue-not-read' }]);
  harness.perform(['listing-failed squeue hung']);
  t.deepEqual(resourceStatus(), [{ code: 'queue-unreadable', trouble: 'squeue hung' }]);
  harness.perform(['listing']);
  harness.perform(['at 10']);
  t.deepEqual(resourceStatus(), [{ code: 'request-slots-taken', slots: 1, pendingRequests: 1 }]);
  harness.perform(['refused q1 disk full']);
  const refused = { code: 'refused-by-manager', cause: 'disk full' } as const;
  t.deepEqual(resourceStatus(), [
    { code: 'requests-paused', pauseMs: 2000, refusedRequests: 1, emptyAllocationStreakRequests: 0 },
    { code: 'last-failed-request', requestId: 'q1' },
    refused,
  ]);
  t.deepEqual(harness.state.requests.get('q1')?.reasons.at(-1), refused);
});

test('draining withdraws queued requests, lets running ones go on, and makes no others', (t) => {
  const harness = new ProviderHarness();
  harness.perform(['start', 'connect b1', 'limits requests=2 width=2 walltime=1000', 'demand b1 9', 'listing']);
  harness.perform(['accepted q1', 'accepted q2', 'attach q1.0']);
  t.is(
    harness.perform(['drain the machine room floods']),
    [
      'tell b1 draining since 1: the machine room floods',
      'reply 1 ok',
      'release q2 (m-q2)',
      'tell b1 requests q2=queued',
      'wake at 5001',
    ].join('\n'),
  );
  t.is(harness.perform(['released q2']), 'tell b1 requests q2=ended');
  t.is(harness.state.requests.get('q1')?.status, 'running');
});

test('draining withdraws also what was being submitted, once the manager has it', (t) => {
  const harness = new ProviderHarness();
  harness.perform(['start', 'connect b1', 'limits requests=1 width=2 walltime=1000', 'demand b1 9', 'listing']);
  harness.perform(['drain the machine room floods']);
  t.is(harness.perform(['accepted q1']), 'release q1 (m-q1)\ntell b1 requests q1=queued\nwake at 5001');
});

test('giving everything back ends queued and running requests, whatever the demand', (t) => {
  const harness = new ProviderHarness();
  harness.perform(['start', 'connect b1', 'limits requests=2 width=2 walltime=1000', 'demand b1 9', 'listing']);
  harness.perform(['accepted q1', 'accepted q2', 'attach q1.0']);
  t.is(
    harness.perform(['give-back the submitter ended']),
    [
      'tell b1 draining since 1, at once: the submitter ended',
      'reply 1 ok',
      'tell b1 lost p/q1.0 MUT_DRAINING',
      'refuse agent #1 MUT_ALLOCATION_ENDED: request q1 is over',
      'release q1 (m-q1)',
      'release q2 (m-q2)',
      'tell b1 requests q1=running q2=queued',
      'wake at 5001',
    ].join('\n'),
  );
  harness.perform(['released q1', 'released q2']);
  t.deepEqual(
    [...harness.state.requests.values()].map(({ status }) => status),
    ['ended', 'ended'],
  );
  t.deepEqual(harness.state.requests.get('q1')?.releaseReason, {
    code: 'released-stopping',
    providerId: 'p',
    cause: 'the submitter ended',
  });
});

test('an agent that says good-bye is lost at once', (t) => {
  const harness = new ProviderHarness();
  harness.perform(['start', 'connect b1', 'limits requests=1 width=1 walltime=60000', 'demand b1 9', 'listing']);
  harness.perform(['accepted q1', 'attach q1.0']);
  t.is(harness.perform(['left q1.0']), 'tell b1 lost p/q1.0 MUT_MACHINE_LEFT');
});

test('an agent that says good-bye as its allocation ends is lost to the walltime', (t) => {
  const harness = new ProviderHarness();
  harness.perform(['start', 'connect b1', 'limits requests=1 width=1 walltime=60000', 'demand b1 9', 'listing']);
  harness.perform(['accepted q1', 'attach q1.0']);
  harness.perform(['at 59500']);
  t.is(harness.perform(['left q1.0']), 'tell b1 lost p/q1.0 MUT_WALLTIME_ENDED');
});

test('a restarted agent joins again under its new incarnation', (t) => {
  const harness = new ProviderHarness();
  harness.perform(['start', 'connect b1', 'limits requests=1 width=1 walltime=1000', 'demand b1 9', 'listing']);
  harness.perform(['accepted q1', 'attach q1.0']);
  harness.perform(['attach q1.0 incarnation=2']);
  t.is(harness.state.machines.get('p/q1.0')?.facts.incarnation, '2');
  t.is(harness.journal.filter((change) => change.kind === 'MachineJoined').length, 2);
});

test('facts that are repeated, or about things that are gone, change nothing', (t) => {
  const harness = new ProviderHarness();
  harness.perform(['start', 'connect b1', 'limits requests=1 width=1 walltime=1000', 'demand b1 9', 'listing']);
  harness.perform(['accepted q1']);
  const before = harness.journal.length;
  const stale = [
    'accepted q1',
    'refused q1 late',
    'unknown q1',
    'accepted q9',
    'refused q9 x',
    'released q1',
    'released q9',
    'detach lab1',
    'disconnect b9',
    'limits requests=1 width=1 walltime=1000',
  ];
  t.is(harness.perform(stale), '');
  t.is(harness.journal.length, before);
});

test('task times are measured over all machines and kept with their request', (t) => {
  const harness = new ProviderHarness();
  harness.perform(['start', 'connect b1', 'limits requests=1 width=1 walltime=1000', 'demand b1 9', 'listing']);
  harness.perform([
    'measured q1 longest=70 total=100 count=2',
    'measured lab1 longest=50 total=50 count=1',
    'measured q1 count=0',
  ]);
  t.deepEqual(harness.state.taskTimes, { longest: 70, total: 150, count: 3 });
  t.is(harness.state.requests.get('q1')?.taskTime, 100);
});

test('requests are sized by what tasks took elsewhere until one has ended here', (t) => {
  const harness = new ProviderHarness({ heuristic: 'adaptive' });
  harness.perform([
    'start',
    'connect b1',
    'limits requests=2 width=4 walltime=3600000',
    'demand b1 9 x1 elsewhere=50000',
    'listing',
  ]);
  const getCode = (): readonly string[] => harness.state.resourceStatus.map(({ code }) => code);
  t.deepEqual(
    harness.state.resourceStatus.find(({ code }) => code === 'task-time-from-elsewhere'),
    { code: 'task-time-from-elsewhere', taskMs: 55_000, longestMs: 50_000, completedTasks: 1, isCut: false },
  );
  harness.perform(['measured q1 longest=70000 total=70000 count=1', 'demand b1 8 x1 elsewhere=50000', 'listing']);
  t.false(getCode().includes('task-time-from-elsewhere'));
});

test('a limited number of ended requests is remembered', (t) => {
  const harness = new ProviderHarness({ endedRequestsMax: 2, refusalPause: 1, refusalsMax: 100 });
  harness.perform(['start', 'connect b1', 'limits requests=1 width=1 walltime=1000', 'demand b1 9', 'listing']);
  for (let index = 1; index <= 4; index += 1) {
    harness.perform([`refused q${index} no`]);
    harness.perform([`at ${harness.now + 1000}`]);
  }
  t.deepEqual([...harness.state.requests.keys()], ['q3', 'q4', 'q5']);
});

test('a forgotten request that shows up in the queue is given back', (t) => {
  const harness = new ProviderHarness();
  harness.perform(['start', 'connect b1', 'limits requests=1 width=1 walltime=1000']);
  t.is(harness.perform(['listing q77=running@1']), 'release q77 (m-q77)');
});

test('an agent that comes in the same turn as a listing without its request speaks louder', (t) => {
  const state = createProviderState({ ...providerDefaults, providerId: 'c1', heuristic: 'static' });
  let now = 0;
  const step = (...inputs: ProviderInput[]) => providerMachine.step(state, inputs, (now += 1000));
  const listed = (): ProviderInput => ({
    kind: 'QueueListed',
    listing: { at: now + 1000, processorsFree: 4, requests: [] },
    readAt: now + 999,
  });
  step(
    { kind: 'ProviderStarted', instance: 'i' },
    { kind: 'LimitsRead', limits },
    { kind: 'BrokerConnected', brokerId: 'b', connectionId: 1 },
    { kind: 'DemandChanged', brokerId: 'b', demand },
    listed(),
  );
  step({ kind: 'SubmitAccepted', requestId: 'q1', managerRequestId: '7' });
  step(listed());
  step(listed(), {
    kind: 'AgentAttached',
    attachmentId: 1,
    facts: { ...aMachine('c1/q1.0'), requestId: 'q1' },
    heldReplicaIds: [],
  });
  t.like(state.requests.get('q1'), { status: 'running' });
});

test('a request that runs again after its end is given back, also where the clock was set back since', (t) => {
  for (const clock of [100_000, 1000]) {
    const harness = new ProviderHarness();
    harness.perform([
      'at 50000',
      'start',
      'connect b1',
      'limits requests=1 width=1 walltime=1000',
      'demand b1 1',
      'listing',
      'accepted q1',
    ]);
    harness.perform(['at 60000', 'listing q1=ended@55000', 'demand b1 0']);
    harness.perform(['restart']);
    harness.now = clock;
    t.regex(harness.perform(['listing q1=running@900']), /^release q1 \(m-q1\)$/m, `the clock says ${clock}`);
  }
});

function adaptive(heuristic = 'adaptive'): ProviderHarness {
  const harness = new ProviderHarness({ heuristic, heuristicOptions: { ...heuristicDefaults, defaultTime: 10_000 } });
  harness.perform(['start', 'connect b1', 'limits requests=1 width=8 walltime=100000']);
  // Four processors are free for 30 s, then none for very long.
  harness.perform(['listing l1=running@1/4x30000 l2=queued@30001/8x900000', 'demand b1 100']);
  return harness;
}

test('the adaptive heuristic sees local requests, and its candidates stay with the request', (t) => {
  const { state } = adaptive();
  const request = state.requests.get('q1');
  t.deepEqual([request?.width, request?.walltime], [4, 30_000]);
  t.deepEqual(
    request?.candidates?.map(({ width, walltime, startsAt, chosen }) => [width, walltime, startsAt, chosen]),
    [
      [4, 30_000, 1, true],
      [8, 100_000, 930_001, false],
    ],
  );
  t.like(describeRequest(state, request!), { candidates: request?.candidates });
});

test('a request that completed no task doubles the estimate, one that did makes it 1.1 x the longest', (t) => {
  const estimateOf = (harness: ProviderHarness) => harness.state.requests.get('q2')?.reasons.at(-1);
  const end = ['accepted q1', 'listing q1=running@10 l3=queued@30001/8x900000', 'attach q1.0', 'at 30010'];
  const emptyAllocationStreak = adaptive();
  emptyAllocationStreak.perform([...end, 'listing q1=ended@30010']);
  t.deepEqual(estimateOf(emptyAllocationStreak), {
    code: 'task-time-from-idle-requests',
    taskMs: 60_000,
    idleMs: 30_000,
    isCut: false,
  });
  const fruitful = adaptive();
  fruitful.perform([...end, 'measured q1 longest=20000 total=60000 count=4', 'listing q1=ended@30010']);
  t.deepEqual(estimateOf(fruitful), {
    code: 'task-time-from-longest-here',
    taskMs: 22_000,
    longestMs: 20_000,
    completedTasks: 4,
    isCut: false,
  });
});

test('observations of one demand are forgotten when the next begins, also across a restart', (t) => {
  const harness = adaptive();
  harness.perform([
    'accepted q1',
    'listing q1=running@10',
    'attach q1.0',
    'measured q1 longest=20000 total=20000 count=1',
    'demand b1 0',
    'at 30010',
    'listing q1=ended@30010',
  ]);
  harness.perform(['restart', 'connect b1', 'listing', 'demand b1 5']);
  t.like(harness.state.requests.get('q2')?.reasons.at(-1), { code: 'task-time-default', taskMs: 10_000 });
});

test('what was learnt of a demand survives a restart and a reconnection', (t) => {
  const harness = adaptive();
  harness.perform([
    'accepted q1',
    'listing q1=running@10',
    'attach q1.0',
    'measured q1 longest=20000 total=20000 count=1',
    'disconnect b1',
  ]);
  harness.perform(['restart', 'connect b1', 'at 30010', 'listing q1=ended@30010', 'demand b1 5']);
  t.like(harness.state.requests.get('q2')?.reasons.at(-1), {
    code: 'task-time-from-longest-here',
    taskMs: 22_000,
    completedTasks: 1,
  });
});

test('the mixed heuristic makes its first decision once for each demand; a refused request does not count', (t) => {
  const harness = adaptive('mixed');
  const getShape = (requestId: string): number[] => {
    const { width = 0, walltime = 0 } = harness.state.requests.get(requestId) ?? {};
    return [width, walltime];
  };
  t.deepEqual(getShape('q1'), [8, 100_000]);
  harness.perform(['refused q1 busy']);
  harness.perform(['at 3000']);
  t.deepEqual(getShape('q2'), [8, 100_000]);
  const reservationBlock = 'l1=running@1/4x60000 l2=queued@60001/8x900000';
  harness.perform(['accepted q2', `listing ${reservationBlock} q2=ended@4000`]);
  harness.perform(['at 9000']);
  t.is(getShape('q3')[0], 4);
});

test('own requests that no listing shows yet hold their place in the queue', (t) => {
  const harness = new ProviderHarness({
    heuristic: 'adaptive',
    heuristicOptions: { ...heuristicDefaults, defaultTime: 10_000 },
  });
  harness.perform(['start', 'connect b1', 'limits requests=1 width=8 walltime=100000']);
  harness.perform(['listing', 'demand b1 8']);
  t.deepEqual(
    harness.state.requests.get('q1')?.candidates?.map(({ startsAt }) => startsAt),
    [1],
  );
  // Another slot, and still the old listing: the next request is behind the first.
  harness.perform(['limits requests=2 width=8 walltime=100000']);
  t.deepEqual(
    harness.state.requests.get('q2')?.candidates?.map(({ startsAt }) => startsAt),
    [100_001, 200_001],
  );
});
