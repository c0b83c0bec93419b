// What happened, as a sentence.
import test from 'ava';
import type { GridEvent } from '@mutirao/web/schema';
import { foldEvents, isTrouble, sayEvent } from '../../../client/src/model/events.ts';

const event = (fields: Partial<GridEvent>): GridEvent => ({
  sequence: 1,
  at_unix_ms: 0,
  type: '',
  job_id: null,
  task_indexes: [],
  task_count: 0,
  machine_id: '',
  provider_id: '',
  request_id: '',
  reason: '',
  why: '',
  ...fields,
});
const said = (fields: Partial<GridEvent>): string => {
  const { subject, fact } = sayEvent(event(fields));
  return `${subject} ${fact}`;
};

test('an event says what happened to what', (t) => {
  t.is(
    said({ type: 'tasks.finished', job_id: 42, task_indexes: [7, 8, 9], task_count: 3, machine_id: 'alpha-n1' }),
    '3 tasks of job 42 finished',
  );
  t.is(said({ type: 'tasks.started', job_id: 42, task_indexes: [7], task_count: 1 }), 'task 7 of job 42 started');
  t.is(said({ type: 'job.submitted', job_id: 42 }), 'job 42 submitted');
  t.is(said({ type: 'machine.joined', machine_id: 'alpha-n1', provider_id: 'alpha' }), 'alpha-n1 joined');
  t.is(said({ type: 'request.queued', request_id: 'alpha/q3', provider_id: 'alpha' }), 'alpha/q3 queued');
  t.is(said({ type: 'provider.added', provider_id: 'lab' }), 'lab added');
  t.is(said({ type: 'odd' }), 'odd ');
  t.is(said({ type: 'request.given_up', provider_id: 'lab' }), 'request given up');
});

test('each names what may be asked about, and where it happened unless that is its subject', (t) => {
  t.like(
    sayEvent(
      event({
        type: 'tasks.failed',
        job_id: 42,
        task_indexes: [7],
        task_count: 1,
        machine_id: 'alpha-n1',
        provider_id: 'alpha',
        reason: 'MUT_COMMAND_FAILED',
        why: 'exit status 2',
      }),
    ),
    { topic: { kind: 'task', jobId: 42, taskIndex: 7 }, machineId: 'alpha-n1', more: 'alpha · exit status 2' },
  );
  t.like(sayEvent(event({ type: 'tasks.finished', job_id: 42, task_indexes: [7, 8], task_count: 2 })), {
    topic: { kind: 'job', jobId: 42 },
  });
  t.like(sayEvent(event({ type: 'machine.lost', machine_id: 'alpha-n1', provider_id: 'alpha', job_id: null })), {
    topic: { kind: 'machine', machineId: 'alpha-n1' },
    machineId: '',
    more: 'alpha',
  });
  t.like(sayEvent(event({ type: 'request.queued', request_id: 'alpha/q3', provider_id: 'alpha' })), {
    topic: { kind: 'request', request: 'alpha/q3' },
    more: '',
  });
  t.like(sayEvent(event({ type: 'provider.added', provider_id: 'lab' })), { topic: undefined, more: '' });
});

test('of each task the newest event is shown alone, and the newest first', (t) => {
  const of = (sequence: number, type: string, indexes: readonly number[], count = indexes.length): GridEvent =>
    event({ sequence, type, job_id: 1, task_indexes: [...indexes], task_count: count });
  const events = [
    of(1, 'tasks.started', [7]),
    of(2, 'tasks.verifying', [7, 8]),
    event({ sequence: 3, type: 'machine.joined', machine_id: 'lab/m1' }),
    of(4, 'tasks.started', [8, 9]),
    of(5, 'tasks.finished', [7, 8]),
    of(6, 'tasks.started', [1, 2], 900),
  ];
  const shown = (most: number): number[] => foldEvents(events, most).map(({ sequence }) => sequence);
  t.deepEqual(shown(9), [6, 5, 4, 3]);
  t.deepEqual(shown(2), [6, 5]);
});

test('failures are distinguished from other events', (t) => {
  const troubles = ['tasks.failed', 'machine.lost', 'machine.quarantined', 'job.failed', 'request.rejected'];
  for (const type of troubles) t.true(isTrouble(event({ type })), type);
  for (const type of ['tasks.finished', 'tasks.started', 'machine.joined', 'job.finished'])
    t.false(isTrouble(event({ type })), type);
});
