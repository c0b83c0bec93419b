import test from 'ava';
import { type BrokerInput, brokerMachine, createBrokerState, restore, snapshot } from '@mutirao/core/machines/broker';
import type { AllocationRequest, JobSpec, RequestStatus } from '@mutirao/core/messages';
import { aJob, aMachine, anEnd } from '@mutirao/testkit';

/** A broker with providers p and r connected and a job of ten tasks; the demands that a step sets, by provider. */
function aBroker() {
  let state = createBrokerState({ demandInterval: 0 });
  const step = (now: number, ...inputs: BrokerInput[]): Record<string, number> => {
    const { commands } = brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
    return Object.fromEntries(
      commands.flatMap((command) =>
        command.kind === 'SetDemand' ? [[command.providerId, command.demand.pendingTasks]] : [],
      ),
    );
  };
  for (const providerId of ['p', 'r'])
    step(
      0,
      { kind: 'ProviderAdded', replyTo: 0, providerId, address: 'h:1' },
      { kind: 'ProviderConnected', providerId },
    );
  step(1, { kind: 'JobSubmitted', replyTo: 7, userId: 'ann', clientJobId: '', spec: aJob(10) });
  return {
    step,
    restart: () => {
      state = restore(snapshot(state), { demandInterval: 0 });
    },
  };
}

function reported(
  providerId: string,
  requestId: string,
  status: RequestStatus,
  submittedAt: number,
): BrokerInput & { kind: 'RequestsChanged' } {
  const request: AllocationRequest = {
    providerId,
    requestId,
    managerRequestId: '',
    width: 10,
    walltime: 1000,
    status,
    seenAt: 0,
    submittedAt,
    startedAt: 0,
    endedAt: 0,
    reasons: [],
    heuristic: 'static',
  };
  return { kind: 'RequestsChanged', providerId, requests: [request] };
}

test('a waiting request covers tasks of the providers whose own requests were reported later', (t) => {
  const { step } = aBroker();
  t.deepEqual(step(2, reported('p', 'q1', 'queued', 2)), { p: 10, r: 0 });
  t.deepEqual(step(3, reported('r', 'q1', 'queued', 3)), {}, 'p keeps its place, and r must give its up');
  t.deepEqual(
    step(4, reported('p', 'q1', 'ended', 2)),
    { r: 10, p: 0 },
    'the place of p is gone, and that of r counts',
  );
});

test('a provider learns how many tasks have no place even if the number of pending tasks stays the same', (t) => {
  const { step } = aBroker();
  step(2, { kind: 'ProviderDisconnected', providerId: 'r', reason: '' });
  const request = reported('p', 'q1', 'queued', 3);
  t.deepEqual(step(3, { ...request, requests: request.requests.map((one) => ({ ...one, width: 4 })) }), { p: 10 });
  t.deepEqual(step(4, { ...request, requests: request.requests.map((one) => ({ ...one, width: 6 })) }), { p: 10 });
});

test('a new request is behind those that wait, whatever instant it states', (t) => {
  const { step } = aBroker();
  step(2, reported('r', 'q1', 'queued', 900_000));
  // By a clock that was set, the new one was submitted long before the other.
  t.deepEqual(step(3, reported('p', 'q1', 'submitting', 0)), {});
  t.deepEqual(step(4, reported('p', 'q1', 'queued', 4)), {}, 'p has learned that it gets nothing, and stays so');
});

test('a request that is about to wait has its place already', (t) => {
  const { step } = aBroker();
  t.deepEqual(step(2, reported('p', 'q1', 'submitting', 0)), { p: 10, r: 0 });
  t.deepEqual(step(3, reported('r', 'q1', 'queued', 1)), {}, 'what r has does not count for p, which was first');
  t.deepEqual(step(4, reported('p', 'q1', 'queued', 2)), {});
});

test('tasks that nothing covers are dealt out, the odd one to the provider that was added first, and each learns what the other left', (t) => {
  const state = createBrokerState({ demandInterval: 0, shareWait: 2000 });
  const demands = (now: number, ...inputs: BrokerInput[]): Record<string, number> => {
    const { commands } = brokerMachine.step(state, inputs, now);
    return Object.fromEntries(
      commands.flatMap((command) =>
        command.kind === 'SetDemand' ? [[command.providerId, command.demand.pendingTasks]] : [],
      ),
    );
  };
  for (const providerId of ['p', 'q', 'r'])
    demands(
      0,
      { kind: 'ProviderAdded', replyTo: 0, providerId, address: 'h:1' },
      { kind: 'ProviderConnected', providerId },
    );
  t.deepEqual(demands(1, { kind: 'JobSubmitted', replyTo: 7, userId: 'ann', clientJobId: '', spec: aJob(11) }), {
    p: 4,
    q: 4,
    r: 3,
  });
  t.is(state.wakeAt, 2001);
  // q is a cluster of three processors; of the eight tasks that are left three are p's to ask for, three its own and
  // two r's.
  const asked = reported('q', 'q1', 'queued', 2);
  const narrow = { ...asked, requests: asked.requests.map((request) => ({ ...request, width: 3 })) };
  t.deepEqual(demands(2, narrow), { p: 3, q: 6, r: 2 });
  t.deepEqual(demands(2001, { kind: 'TimerFired' }), { p: 8, q: 11, r: 8 });
});

test('places in line outlast a restart', (t) => {
  const { step, restart } = aBroker();
  step(2, reported('r', 'q1', 'queued', 900_000), reported('p', 'q1', 'queued', 2));
  restart();
  t.deepEqual(step(3, { kind: 'ProviderConnected', providerId: 'p' }, { kind: 'ProviderConnected', providerId: 'r' }), {
    p: 0,
    r: 10,
  });
});

test('a broker wakes when the rest of a walltime gets too short for tasks that were expected to run in it, and demands another place for them', (t) => {
  const state = createBrokerState({ demandInterval: 0 });
  const unplaced = (now: number, ...inputs: BrokerInput[]): (number | undefined)[] => {
    const { commands } = brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
    return commands.flatMap((command) => (command.kind === 'SetDemand' ? [command.demand.unplacedTasks] : []));
  };
  const request = {
    ...(reported('p', 'q1', 'running', 1).requests[0] as AllocationRequest),
    width: 1,
    startedAt: 1,
    walltime: 10_000,
  };
  const waiting = { ...request, requestId: 'q2', status: 'queued' as const, startedAt: 0 };
  unplaced(
    1,
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  unplaced(2, { kind: 'RequestsChanged', providerId: 'p', requests: [request, waiting] });
  const spec = aJob(2);
  t.deepEqual(
    unplaced(3, {
      kind: 'JobSubmitted',
      replyTo: 7,
      userId: 'ann',
      clientJobId: '',
      spec: { ...spec, limits: { ...spec.limits, runTimeMax: 4000 } },
    }),
    [0],
  );
  t.is(state.wakeAt, 6002);
  t.deepEqual(unplaced(6001, { kind: 'TimerFired' }), [], 'nothing is looked at that is not due');
  t.deepEqual(unplaced(6002, { kind: 'TimerFired' }), [1], 'the request that runs has no time for its task any more');
  t.is(state.demandsDue, Infinity);
});

test('however often reports come, what they change of demands is found out once in an interval, and the broker wakes for it', (t) => {
  const state = createBrokerState({ demandInterval: 250, prefetch: { target: 0, replicasMax: 1 } });
  const demands = (now: number, ...inputs: BrokerInput[]): number[] => {
    const { commands } = brokerMachine.step(state, inputs, now);
    return commands.flatMap((command) => (command.kind === 'SetDemand' ? [command.demand.pendingTasks] : []));
  };
  const ends = (sequence: number, replicaId: number, at: number): BrokerInput => ({
    kind: 'MachineReported',
    machineId: 'p/m1',
    report: { sequence, started: [], ended: [anEnd(replicaId, 'succeeded', { startedAt: at - 1, endedAt: at })] },
  });
  demands(
    0,
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  const joined: BrokerInput = {
    kind: 'MachineJoined',
    providerId: 'p',
    facts: aMachine('p/m1', { requestId: 'q1', until: 1e9 }),
    heldReplicaIds: [],
  };
  t.deepEqual(
    demands(1, joined, { kind: 'JobSubmitted', replyTo: 7, userId: 'ann', clientJobId: '', spec: aJob(10) }),
    [10],
  );
  t.deepEqual(demands(300, ends(1, 1, 300)), [9]);
  t.deepEqual(demands(400, ends(2, 2, 400)), []);
  t.is(state.wakeAt, 550);
  t.deepEqual(demands(500, ends(3, 3, 500)), []);
  t.deepEqual(demands(550, { kind: 'TimerFired' }), [7]);
  t.deepEqual(demands(900, { kind: 'TimerFired' }), []);
});

test('a provider gets the longest run time that users state: an estimate, else a limit, of open jobs', (t) => {
  const state = createBrokerState({ demandInterval: 0 });
  const stated = (now: number, ...inputs: BrokerInput[]): (number | undefined)[] => {
    const { commands } = brokerMachine.step(state, inputs, now);
    return commands.flatMap((command) => (command.kind === 'SetDemand' ? [command.demand.statedTime] : []));
  };
  const submit = (now: number, spec: JobSpec): (number | undefined)[] =>
    stated(now, { kind: 'JobSubmitted', replyTo: now, userId: 'ann', clientJobId: '', spec });
  const limited = { ...aJob(2), limits: { ...aJob(2).limits, runTimeMax: 9000 } };
  stated(
    0,
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  t.deepEqual(submit(1, aJob(2)), [undefined]);
  t.deepEqual(
    submit(2, { ...limited, groups: limited.groups.map((group) => ({ ...group, expectedTime: 4000 })) }),
    [4000],
  );
  t.deepEqual(submit(3, limited), [9000]);
  // As many tasks as before, and nothing else that is new.
  const longer = { ...limited, limits: { ...limited.limits, runTimeMax: 20_000 } };
  const cancelled: BrokerInput = { kind: 'JobCancelled', replyTo: 4, userId: 'ann', jobId: 3, reason: '' };
  t.deepEqual(
    stated(4, cancelled, { kind: 'JobSubmitted', replyTo: 5, userId: 'ann', clientJobId: '', spec: longer }),
    [20_000],
  );
  t.deepEqual(stated(5, { ...cancelled, jobId: 4 }), [4000]);
});
