// The published form of events is a contract: subscribers in other languages read these very bytes.
import test from 'ava';
import { encodeEvents, eventSubject, eventSubjects, JobEvent } from '@mutirao/api/events';
import { eventsOf, type BrokerChange, type JobEvent as CoreEvent } from '@mutirao/core/machines/broker';

const started: CoreEvent = { type: 'tasks.started', jobId: 17, taskIndexes: [0, 300], machineId: 'lab/pc0', reason: '' };
const at = 1_769_860_800_007;

test('an event has these subject, headers and bytes', (t) => {
  t.deepEqual(encodeEvents('/mutirao/brokers/ana/1', { sequence: 5, at, events: [started] }), [{
    subject: 'mutirao.events.tasks.started.17',
    messageId: '/mutirao/brokers/ana/1#5',
    headers: {
      'ce-specversion': '1.0', 'ce-id': '5', 'ce-source': '/mutirao/brokers/ana/1', 'ce-type': 'mutirao.tasks.started', 'ce-subject': 'jobs/17',
      'ce-time': '2026-01-31T12:00:00.007Z', 'ce-datacontenttype': 'application/protobuf', 'content-type': 'application/protobuf',
    },
    data: new Uint8Array(Buffer.from('08051087bcb29fc1331a0d7461736b732e7374617274656420112a0300ac0232076c61622f706330', 'hex')),
  }]);
});

test('the bytes say to a reader what the event says', (t) => {
  const bytes = Buffer.from('08051087bcb29fc1331a0d7461736b732e7374617274656420112a0300ac0232076c61622f706330', 'hex');
  t.deepEqual(JobEvent.decode(bytes), { ...started, sequence: 5, atUnixMs: at, taskIndexes: [0, 300] });
});

test('the events of one change have ids of their own, the same each time they are made', (t) => {
  const ending = { replicaId: 1, taskIndex: 3, processors: 1, placedAt: 0, startedAt: 0, endedAt: 0, outcome: 'failed', exitStatus: 1, detail: '', outputs: [] };
  const change = {
    kind: 'ReplicasEnded', jobId: 2, machineId: 'm',
    endings: [{ ...ending, fate: 'failed', taskStatus: 'failed', reason: 'MUT_TASK_FAILED' }, { ...ending, taskIndex: 4, fate: 'accepted', taskStatus: 'finished', reason: '' }],
  } as unknown as BrokerChange;
  const make = () => encodeEvents('s', { sequence: 9, at, events: eventsOf(change) });
  t.deepEqual(make().map(({ subject, headers }) => [headers['ce-id'], subject]), [
    ['9', 'mutirao.events.replicas.failed.2'], ['9.1', 'mutirao.events.tasks.failed.2'], ['9.2', 'mutirao.events.tasks.finished.2'],
  ]);
  t.is(new Set(make().map(({ messageId }) => messageId)).size, 3);
  t.deepEqual(make(), make());
});

test('an event of very many tasks comes in several, and a long reason is cut, so that no server finds a message too large', (t) => {
  const taskIndexes = Array.from({ length: 10_000 }, (_, index) => index * 1000);
  const messages = encodeEvents('s', { sequence: 9, at, events: [{ ...started, type: 'tasks.retried', taskIndexes, reason: 'x'.repeat(2_000_000) }] });
  t.deepEqual(messages.map(({ headers }) => headers['ce-id']), ['9', '9.1', '9.2']);
  t.deepEqual(messages.flatMap(({ data }) => JobEvent.decode(data).taskIndexes), taskIndexes);
  for (const { data } of messages) t.true(data.length < 64 * 1024, `${data.length} bytes`);
});

test('every subject is one that the stream takes', (t) => {
  t.is(eventSubjects, 'mutirao.events.>');
  t.is(eventSubject('job.accepted', 1), 'mutirao.events.job.accepted.1');
});
