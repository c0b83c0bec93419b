import test from 'ava';
import {
  clusterMachine,
  createClusterState,
  listQueue,
  restoreSnapshot,
  takeSnapshot,
  type ClusterInput,
  type ClusterOptions,
  type ClusterSnapshot,
} from '@mutirao/core/machines/cluster';
import { conservativeBackfilling, shapeNodes } from '@mutirao/core/queue';

const options: ClusterOptions = {
  processors: 10,
  requestsMax: 100,
  walltimeMax: 1000,
  widthMax: 10,
  walltimeGranularity: 1,
  endedMax: 2,
  policy: conservativeBackfilling('start-now'),
};

function aCluster() {
  const state = createClusterState(options);
  const receive = (now: number, ...inputs: ClusterInput[]) => clusterMachine.step(state, inputs, now);
  receive(0, { kind: 'ClusterStarted' });
  return { state, receive };
}

function order(clientRequestId: string, width: number, walltime: number): ClusterInput {
  return {
    kind: 'AllocationRequested',
    replyTo: 1,
    order: {
      userId: 'ana',
      clientRequestId,
      width,
      walltime,
      command: ['work', 'hard'],
      environment: { A: 'b' },
      workingDirectory: '/srv',
    },
  };
}

function exits(requestId: number, ...indexes: number[]): ClusterInput[] {
  return indexes.map((processIndex) => ({ kind: 'ProcessExited', requestId, processIndex, exitStatus: 0 }));
}

test('a request that fits is journaled, placed, started and answered in one turn', (t) => {
  const { changes, commands } = aCluster().receive(5, order('k', 2, 100));
  t.deepEqual(
    changes.map(({ kind }) => kind),
    ['RequestQueued', 'RequestPlaced', 'RequestStarted'],
  );
  t.deepEqual(commands, [
    { kind: 'Reply', replyTo: 1, reply: { ok: true, value: { requestId: 1 } } },
    {
      kind: 'StartProcesses',
      requestId: 1,
      width: 2,
      command: ['work', 'hard'],
      environment: { A: 'b' },
      workingDirectory: '/srv',
      walltimeEnd: 105,
    },
    { kind: 'WakeAt', at: 105 },
  ]);
});

test('a repeated exit of a process changes nothing', (t) => {
  const { receive } = aCluster();
  receive(5, order('k', 2, 100));
  t.is(receive(6, ...exits(1, 1)).changes.length, 1);
  t.deepEqual(receive(7, ...exits(1, 1)), { changes: [], commands: [] });
});

test('a process that is over for another reason than its own ends its request for that reason', (t) => {
  const { receive, state } = aCluster();
  receive(5, order('k', 3, 100));
  t.deepEqual(
    receive(6, { kind: 'ProcessExited', requestId: 1, processIndex: 0, exitStatus: 255, reason: 'MUT_NODE_LOST' })
      .commands,
    [{ kind: 'KillProcesses', requestId: 1 }],
  );
  receive(
    7,
    { kind: 'ProcessExited', requestId: 1, processIndex: 1, exitStatus: 255, reason: 'MUT_NODE_LOST' },
    ...exits(1, 2),
  );
  t.like(listQueue(state, 8, 1).requests.at(-1), { endReason: 'MUT_NODE_LOST' });
});

test('a request that was promised processors waits until they are really free', (t) => {
  const { receive } = aCluster();
  receive(0, order('k1', 10, 100), order('k2', 10, 100));
  t.deepEqual(receive(100, { kind: 'TimerFired' }).commands, [{ kind: 'KillProcesses', requestId: 1 }]);
  t.deepEqual(receive(103, ...exits(1, 0, 1, 2, 3, 4, 5, 6, 7, 8)).commands, []);
  t.like(receive(104, ...exits(1, 9)).commands[0], { kind: 'StartProcesses', requestId: 2, walltimeEnd: 200 });
});

test('a request that lost half of its walltime to waiting gets a new place', (t) => {
  const { receive } = aCluster();
  receive(0, order('k1', 10, 100), order('k2', 10, 40), order('k3', 10, 40));
  receive(100, { kind: 'TimerFired' });
  const { changes } = receive(121, ...exits(1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  t.deepEqual(
    changes.filter(({ kind }) => kind !== 'ProcessExited'),
    [
      { kind: 'RequestPlaced', requestId: 2, startsAt: 180 },
      { kind: 'RequestEnded', requestId: 1, reason: 'MUT_WALLTIME_ENDED', at: 121 },
      { kind: 'RequestPlaced', requestId: 3, startsAt: 121 },
      { kind: 'RequestStarted', requestId: 3 },
    ],
  );
});

test('a request that is wider than the cluster after a restart ends with a reason', (t) => {
  const { state, receive } = aCluster();
  receive(5, order('k1', 10, 100), order('k2', 8, 100), order('k3', 4, 100));
  const restarted = { ...state, options: { ...options, processors: 4, widthMax: 4 } };
  clusterMachine.step(restarted, [{ kind: 'ClusterStarted' }], 7);
  clusterMachine.checkInvariants(restarted);
  t.deepEqual(
    listQueue(restarted, 7, 2).requests.map(({ managerRequestId, status, endReason }) => [
      managerRequestId,
      status,
      endReason,
    ]),
    [
      ['3', 'running', ''],
      ['2', 'ended', 'MUT_WIDTH_MAX'],
      ['1', 'ended', 'MUT_CLUSTER_RESTARTED'],
    ],
  );
});

test('no request may be wider than the cluster, whatever its limits allow', (t) => {
  const state = createClusterState({ ...options, processors: 4 });
  const { changes, commands } = clusterMachine.step(
    state,
    [{ kind: 'ClusterStarted' }, order('k', 5, 100), order('l', 4, 100)],
    0,
  );
  t.deepEqual(
    changes.map(({ kind }) => kind),
    ['ClusterStarted', 'RequestQueued', 'RequestPlaced', 'RequestStarted'],
  );
  t.like(commands[0], {
    reply: { ok: false, code: 'MUT_WIDTH_MAX', fault: { code: 'request-too-wide', processors: 5, processorsMax: 4 } },
  });
});

test('a limited number of ended requests is remembered, and a key is free again with the last of them', (t) => {
  const { state, receive } = aCluster();
  for (const key of ['k1', 'k2', 'k3']) receive(5, order(key, 1, 10));
  receive(6, ...exits(1, 0), ...exits(2, 0));
  t.like(receive(6, order('k1', 1, 10)).commands[0], { reply: { value: { requestId: 1 } } });
  receive(7, ...exits(3, 0));
  t.deepEqual(
    listQueue(state, 7, 10).requests.map(({ managerRequestId }) => managerRequestId),
    ['3', '2'],
  );
  t.like(receive(8, order('k1', 1, 10)).commands[0], { reply: { value: { requestId: 4 } } });
});

/** As a node that is lost tells it: first that its processors are away, then the end of what ran there. */
function loses(count: number, requestId: number, ...indexes: number[]): ClusterInput[] {
  return [
    { kind: 'ProcessorsAway', count },
    ...indexes.map(
      (processIndex): ClusterInput => ({
        kind: 'ProcessExited',
        requestId,
        processIndex,
        exitStatus: 255,
        reason: 'MUT_NODE_LOST',
      }),
    ),
  ];
}

test('with a node its running request ends, and what waits starts on the processors that are left, or waits for it to be back', (t) => {
  const { receive, state } = aCluster();
  receive(0, order('k1', 6, 100), order('k2', 4, 100), order('k3', 5, 100), order('k4', 8, 50));
  const started = receive(10, ...loses(6, 1, 0, 1, 2, 3, 4, 5)).commands.filter(
    ({ kind }) => kind === 'StartProcesses',
  );
  t.deepEqual(started, []);
  const seen = listQueue(state, 10, 1);
  t.is(seen.processorsFree, 0);
  t.like(seen.requests.at(-1), { managerRequestId: '1', endReason: 'MUT_NODE_LOST' });
  t.deepEqual(
    seen.requests.slice(1, 3).map(({ status, startsAt }) => [status, startsAt]),
    [
      ['queued', 0],
      ['queued', 0],
    ],
    'nobody promises processors that do not exist',
  );
  t.deepEqual(
    receive(11, order('k5', 2, 10)).commands.filter(({ kind }) => kind === 'StartProcesses'),
    [],
  );
  t.is(listQueue(state, 11, 0).requests.at(-1)?.startsAt, 100, 'a narrow one is promised what is left');
  t.like(receive(20, { kind: 'ProcessorsAway', count: 0 }).commands[0], {
    kind: 'StartProcesses',
    requestId: 3,
    width: 5,
  });
  t.deepEqual(
    listQueue(state, 20, 0)
      .requests.filter(({ status }) => status === 'queued')
      .map(({ managerRequestId, startsAt }) => [managerRequestId, startsAt]),
    [
      ['4', 120],
      ['5', 100],
    ],
  );
});

test('a request over several nodes holds the processors that are left until its other processes have ended', (t) => {
  const { receive, state } = aCluster();
  receive(0, order('k1', 10, 100), order('k2', 4, 50));
  const lost = receive(10, ...loses(6, 1, 0, 1, 2, 3, 4, 5)).commands;
  t.deepEqual(
    lost.filter(({ kind }) => kind !== 'WakeAt'),
    [{ kind: 'KillProcesses', requestId: 1 }],
  );
  t.like(receive(12, ...exits(1, 6, 7, 8, 9)).commands[0], { kind: 'StartProcesses', requestId: 2, width: 4 });
  t.is(state.plan.capacity, 4);
});

test('what is away when a cluster begins is not planned with', (t) => {
  const state = createClusterState(options);
  clusterMachine.step(state, [{ kind: 'ClusterStarted', away: 7 }], 0);
  const { commands } = clusterMachine.step(state, [order('k1', 4, 100), order('k2', 3, 100)], 1);
  t.deepEqual(
    commands
      .filter(({ kind }) => kind === 'StartProcesses')
      .map((command) => 'requestId' in command && command.requestId),
    [2],
  );
});

test('a cluster that has been given nodes honours no reservation any more, and ends what waits for one', (t) => {
  const { state, receive } = aCluster();
  const window = { reservationId: 7, userId: 'ana', count: 4, startsAt: 50, endsAt: 90 };
  receive(1, { kind: 'ReservationsReported', windows: [window] });
  const inside = order('k', 2, 10);
  if (inside.kind === 'AllocationRequested') receive(2, { ...inside, order: { ...inside.order, reservationId: 7 } });
  receive(3, order('k2', 2, 10), order('k3', 10, 10));
  const clusterNodes = [{ name: 'n1', processors: 8, memory: 0, gpus: [] }];
  const options2 = { ...options, processors: 8, widthMax: 8, clusterNodes, nodes: shapeNodes(clusterNodes) };
  const next = restoreSnapshot(options2, JSON.parse(JSON.stringify(takeSnapshot(state))) as ClusterSnapshot);
  const { changes } = clusterMachine.step(next, [{ kind: 'ClusterStarted', nodesAway: [] }], 10);
  clusterMachine.checkInvariants(next);
  t.deepEqual(
    changes.filter(({ kind }) => kind === 'RequestEnded'),
    [
      { kind: 'RequestEnded', requestId: 2, reason: 'MUT_CLUSTER_RESTARTED', at: 10 },
      { kind: 'RequestEnded', requestId: 3, reason: 'MUT_WIDTH_MAX', at: 10 },
      { kind: 'RequestEnded', requestId: 1, reason: 'MUT_RESERVATION_OVER', at: 10 },
    ],
  );
  t.is(next.reservations.size, 0);
});
