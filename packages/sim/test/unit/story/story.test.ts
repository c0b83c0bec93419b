// A story tells what touched some ids, whichever machine it happened to, in lines that a person can read.
import { describe, listIds, Story } from '@mutirao/sim/story';
import test from 'ava';

const cases: readonly (readonly [what: string, message: unknown, ids: readonly string[]])[] = [
  [
    'a batch of replicas, whose job stands in its template',
    {
      kind: 'ReplicasDispatched',
      batch: {
        template: { jobId: 5 },
        replicas: [
          { replicaId: 17, taskIndex: 0 },
          { replicaId: 18, taskIndex: 3 },
        ],
      },
    },
    ['j5', 'r17', 't0', 'j5.t0', 'r18', 't3', 'j5.t3'],
  ],
  [
    "the broker's own record of placing",
    { kind: 'ReplicasDispatched', machineId: 'm1', jobId: 2, firstReplicaId: 7, taskIndexes: [4, 6] },
    ['m1', 'j2', 'r7', 't4', 'j2.t4', 't6', 'j2.t6', 'r8'],
  ],
  [
    'a list of replicas',
    { kind: 'CancelReplicas', providerId: 'alpha', machineId: 'alpha/q1.0', replicaIds: [3, 4] },
    ['alpha', 'alpha/q1.0', 'r3', 'r4'],
  ],
  [
    'a report',
    { kind: 'MachineReported', machineId: 'm1', report: { sequence: 2, started: [], ended: [{ replicaId: 9 }] } },
    ['m1', 's2', 'r9'],
  ],
  [
    "a provider's request, by its number and with its provider",
    {
      kind: 'ReportRequests',
      brokerId: 'b',
      requests: [{ providerId: 'alpha', requestId: 'q3', managerRequestId: '12' }],
    },
    ['b', 'alpha', 'q3', 'alpha/q3', 'c12'],
  ],
  ["a cluster's request and a question", { kind: 'ReleaseRequested', replyTo: 4, requestId: 12 }, ['ask4', 'c12']],
  ['a content', { kind: 'ContentArrived', contentKey: '0123456789abcdef0123' }, ['0123456789ab']],
  [
    'maps, sets and nothing at all',
    {
      kind: 'X',
      of: new Map([['a', { replicaId: 1 }]]),
      set: new Set([{ jobId: 2 }]),
      bytes: new Uint8Array([1]),
      none: undefined,
    },
    ['r1', 'j2'],
  ],
  ['zeros and empty texts, which mean none', { kind: 'X', replyTo: 0, replicaId: 0, machineId: '', requestId: '' }, []],
];

for (const [what, message, ids] of cases)
  test(`the ids of ${what}`, (t) => {
    t.deepEqual(listIds(message), ids);
  });

test('a message is one line: ids in their form, instants from the start, what is empty left out', (t) => {
  const message = {
    kind: 'MachineReported',
    machineId: 'lab/m1',
    heldReplicaIds: [1, 2, 3, 7],
    note: '',
    nothing: undefined,
    none: [],
    flag: false,
    report: {
      sequence: 2,
      ended: [
        { replicaId: 9, endedAt: 1_000_250, detail: 'two words', standardOutput: new TextEncoder().encode('hello\n') },
      ],
    },
  };
  t.is(
    describe(message, { start: 1_000_000 }),
    'MachineReported machineId=lab/m1 heldReplicaIds=[r1-r3,r7] flag=false report={sequence=s2 ' +
      'ended=[{replicaId=r9 endedAt=+0.250 detail="two words" standardOutput=<6 bytes "hello\\n">}]}',
  );
  t.true(describe(message).includes('endedAt=1000250'));
});

test('what is long is cut', (t) => {
  t.is(describe({ kind: 'X', text: 'x'.repeat(300) } as never), `X text="${'x'.repeat(59)}...`);
  t.is(describe({ kind: 'X', bytes: new Uint8Array([0, 200, 3]) } as never), 'X bytes=<3 bytes>');
  t.is(
    describe({ kind: 'X', list: Array.from({ length: 9 }, (_, index) => ({ at: index })) } as never),
    'X list=[{at=0}, {at=1}, {at=2}, {at=3}, ... 9 in all]',
  );
  t.is(
    describe({ kind: 'X', replicaIds: Array.from({ length: 20 }, (_, index) => 2 * index + 1) } as never),
    'X replicaIds=[r1,r3,r5,r7,r9,r11,r13,r15,... 20 in all]',
  );
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`field${index}`, index]));
  t.is(describe({ kind: 'X', ...many }).length, 403);
});

const starts = [
  { replicaId: 6, taskIndex: 2 },
  { replicaId: 7, taskIndex: 3 },
];
const placed = {
  now: 1000,
  turn: 1,
  role: 'command',
  message: { kind: 'StartReplicas', machineId: 'm1', jobId: 1, starts },
} as const;
const ended = {
  now: 3500,
  turn: 2,
  role: 'input',
  message: {
    kind: 'MachineReported',
    machineId: 'm1',
    report: { sequence: 1, ended: [{ replicaId: 6 }, { replicaId: 7 }] },
  },
} as const;

test('a story has the events that touch its ids, with the parts that do', (t) => {
  const story = new Story(['r7'], 1000);
  t.is(
    story.report(placed),
    '   +0.000 #1 -> StartReplicas machineId=m1 jobId=j1 starts=[{replicaId=r7 taskIndex=t3}, ... 2 in all]',
  );
  t.is(
    story.report(ended),
    '   +2.500 #2 <- MachineReported machineId=m1 report={sequence=s1 ended=[{replicaId=r7}, ... 2 in all]}',
  );
  t.is(story.report({ ...ended, message: { kind: 'MachineLost', machineId: 'm2' } as never }), undefined);
});

test('the story of a task goes on with its replicas, also where only a change says which they are', (t) => {
  for (const id of ['t3', 'j1.t3']) {
    const story = new Story([id], 1000);
    t.is(story.report(ended), undefined);
    t.is(
      story.report({
        now: 1000,
        turn: 1,
        role: 'change',
        message: { kind: 'ReplicasDispatched', jobId: 1, firstReplicaId: 6, taskIndexes: [2, 3] } as never,
      }),
      undefined,
    );
    t.true(story.report(ended)?.includes('r7'));
    t.false(story.report(ended)?.includes('r6'));
  }
  const other = new Story(['j2.t3'], 1000);
  t.is(other.report(placed), undefined);
});

test('"all" prints everything, and names the process if there are several', (t) => {
  t.is(
    new Story(['all'], 0).report({ ...placed, process: 'broker' }),
    '   +1.000 broker #1 -> StartReplicas machineId=m1 jobId=j1 starts=[{replicaId=r6 taskIndex=t2}, ' +
      '{replicaId=r7 taskIndex=t3}]',
  );
});
