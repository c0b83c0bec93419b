// The published form of events is a contract: subscribers in other languages read these very bytes.
import test from 'ava';
import { encodeEvents, eventSubject, eventSubjects, JobEvent } from '@mutirao/api/events';
import { listEvents, type BrokerChange, type BrokerEvent } from '@mutirao/core/machines/broker';

const nothing = { reason: '', providerId: '', requestId: '', facts: undefined, request: undefined };
const started: BrokerEvent = {
  ...nothing,
  type: 'tasks.started',
  jobId: 17,
  taskIndexes: [0, 300],
  machineId: 'lab/pc0',
};
const at = 1_769_860_800_007;

test('an event has these subject, headers and bytes', (t) => {
  t.deepEqual(encodeEvents('/mutirao/brokers/ana/1', { sequence: 5, at, events: [started] }), [
    {
      subject: 'mutirao.events.tasks.started.17',
      messageId: '/mutirao/brokers/ana/1#5',
      headers: {
        'ce-specversion': '1.0',
        'ce-id': '5',
        'ce-source': '/mutirao/brokers/ana/1',
        'ce-type': 'mutirao.tasks.started',
        'ce-subject': 'jobs/17',
        'ce-time': '2026-01-31T12:00:00.007Z',
        'ce-datacontenttype': 'application/protobuf',
        'content-type': 'application/protobuf',
      },
      data: new Uint8Array(
        Buffer.from('08051087bcb29fc1331a0d7461736b732e7374617274656420112a0300ac0232076c61622f706330', 'hex'),
      ),
    },
  ]);
});

test('the bytes say to a reader what the event says', (t) => {
  const bytes = Buffer.from('08051087bcb29fc1331a0d7461736b732e7374617274656420112a0300ac0232076c61622f706330', 'hex');
  t.deepEqual(JobEvent.decode(bytes), {
    ...started,
    sequence: 5,
    atUnixMs: at,
    taskIndexes: [0, 300],
    cause: undefined,
  });
});

test('the events of one change have ids of their own, the same each time they are made', (t) => {
  const ending = {
    replicaId: 1,
    taskIndex: 3,
    processors: 1,
    dispatchedAt: 0,
    startedAt: 0,
    endedAt: 0,
    outcome: 'failed',
    exitStatus: 1,
    detail: '',
    outputs: [],
  };
  const change = {
    kind: 'ReplicasEnded',
    jobId: 2,
    machineId: 'm',
    endings: [
      { ...ending, disposition: 'failed', taskStatus: 'failed', reason: 'MUT_TASK_FAILED' },
      { ...ending, taskIndex: 4, disposition: 'accepted', taskStatus: 'finished', reason: '' },
    ],
  } as unknown as BrokerChange;
  const make = () => encodeEvents('s', { sequence: 9, at, events: listEvents(change) });
  t.deepEqual(
    make().map(({ subject, headers }) => [headers['ce-id'], subject]),
    [
      ['9', 'mutirao.events.replicas.failed.2'],
      ['9.1', 'mutirao.events.tasks.failed.2'],
      ['9.2', 'mutirao.events.tasks.finished.2'],
    ],
  );
  t.is(new Set(make().map(({ messageId }) => messageId)).size, 3);
  t.deepEqual(make(), make());
});

test('an event of very many tasks comes in several, and a long reason is cut, so that no server finds a message too large', (t) => {
  const taskIndexes = Array.from({ length: 10_000 }, (_, index) => index * 1000);
  const messages = encodeEvents('s', {
    sequence: 9,
    at,
    events: [{ ...started, type: 'tasks.retried', taskIndexes, reason: 'x'.repeat(2_000_000) }],
  });
  t.deepEqual(
    messages.map(({ headers }) => headers['ce-id']),
    ['9', '9.1', '9.2'],
  );
  t.deepEqual(
    messages.flatMap(({ data }) => JobEvent.decode(data).taskIndexes),
    taskIndexes,
  );
  for (const { data } of messages) t.true(data.length < 64 * 1024, `${data.length} bytes`);
});

const facts = {
  machineId: 'site.one/q3.0',
  incarnation: 'i',
  processors: 4,
  attributes: { os: 'linux' },
  until: 9000,
  requestId: 'q3',
};
const request = {
  providerId: 'site.one',
  requestId: 'q3',
  managerRequestId: '77',
  width: 4,
  walltime: 60_000,
  status: 'queued' as const,
  seenAt: 1,
  submittedAt: 1,
  startedAt: 0,
  endedAt: 0,
  reasons: [{ code: 'no-pending-tasks' as const }, { code: 'requeued' as const }],
  heuristic: 'static',
};
const candidates = [{ width: 4, walltime: 60_000, startsAt: 0, throughput: 1, chosen: true }];

test('resources of jobs have events too, with what is known of them', (t) => {
  const changes: BrokerChange[] = [
    { kind: 'ProviderAdded', providerId: 'site.one', address: '127.0.0.1:1' },
    { kind: 'MachineJoined', providerId: 'site.one', facts, at },
    { kind: 'MachineLost', machineId: 'site.one/q3.0', reason: 'MUT_MACHINE_LOST', at },
    {
      kind: 'RequestsChanged',
      providerId: 'site.one',
      requests: [
        { ...request, candidates },
        { ...request, requestId: 'q4', status: 'ended', endedAt: 9 },
      ],
    },
  ];
  const messages = changes.flatMap((change, index) =>
    encodeEvents('s', { sequence: index, at, events: listEvents(change) }),
  );
  t.deepEqual(
    messages.map(({ subject, headers }) => [headers['ce-id'], subject, headers['ce-subject']]),
    [
      ['0', 'mutirao.events.provider.added.site_one', 'providers/site.one'],
      ['1', 'mutirao.events.machine.joined.site_one/q3_0', 'machines/site.one/q3.0'],
      ['2', 'mutirao.events.machine.lost.site_one/q3_0', 'machines/site.one/q3.0'],
      ['3', 'mutirao.events.request.queued.site_one/q3', 'requests/site.one/q3'],
      ['3.1', 'mutirao.events.request.ended.site_one/q4', 'requests/site.one/q4'],
    ],
  );
  const [added, joined, lost, queued, ended] = messages.map(({ data }) => JobEvent.decode(data));
  t.like(added, { jobId: 0, providerId: 'site.one', facts: undefined, request: undefined });
  t.like(joined, {
    providerId: 'site.one',
    machineId: 'site.one/q3.0',
    requestId: 'q3',
    facts: { processors: 4, attributes: { os: 'linux' }, untilUnixMs: 9000 },
  });
  t.like(lost, { machineId: 'site.one/q3.0', reason: 'MUT_MACHINE_LOST' });
  t.like(queued, {
    providerId: 'site.one',
    requestId: 'q3',
    reason: 'No task is pending.',
    request: { widthProcessors: 4, walltimeMs: 60_000, managerRequestId: '77', candidates: [] },
  });
  t.is(
    ended?.reason,
    'The resource manager put the request back into its queue.',
    'why it is over, not why it was made',
  );
});

test('facts that are too large for a message stay behind, and the event comes', (t) => {
  const large = { ...facts, attributes: { note: 'x'.repeat(2_000_000) } };
  const [message] = encodeEvents('s', {
    sequence: 1,
    at,
    events: listEvents({ kind: 'MachineJoined', providerId: 'site.one', facts: large, at }),
  });
  t.true((message?.data.length ?? NaN) < 1000);
  t.like(JobEvent.decode(message?.data ?? new Uint8Array()), { machineId: 'site.one/q3.0', facts: undefined });
});

test('every subject is one that the stream takes, whatever an id is made of', (t) => {
  t.is(eventSubjects, 'mutirao.events.>');
  t.is(eventSubject({ ...started, type: 'job.accepted', jobId: 1 }), 'mutirao.events.job.accepted.1');
  for (const machineId of [
    'lab/a b',
    'lab/*',
    'lab/>',
    'lab/a.b.c',
    'lab/\n\u00e9\u{1f4a5}',
    `lab/${'x'.repeat(10_000)}`,
  ]) {
    const [message] = encodeEvents('s', {
      sequence: 1,
      at,
      events: listEvents({ kind: 'MachineLost', machineId, reason: '', at }),
    });
    t.regex(message?.subject ?? '', /^mutirao\.events\.machine\.lost\.[\w/-]{1,128}$/);
    t.regex(message?.headers['ce-subject'] ?? '', /^machines\/[\x20-\x7e]+$/);
    t.is(JobEvent.decode(message?.data ?? new Uint8Array()).machineId, machineId);
  }
});
