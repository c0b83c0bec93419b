import test from 'ava';
import type { JobRow } from '@mutirao/web/schema';
import { getJobState, sayRest } from '../../../client/src/model/job-state.ts';
import { groupReasons } from '../../../client/src/model/reason-groups.ts';
import { sayToGo } from '../../../client/src/model/words.ts';

const noTasks = { waiting: 0, ready: 0, running: 0, verifying: 0, finished: 0, failed: 0, cancelled: 0 };

function row(given: Partial<JobRow> = {}): JobRow {
  return {
    job_id: 1,
    label: '',
    user_id: 'ana',
    status: 'running',
    submitted_unix_ms: 1000,
    ended_unix_ms: null,
    task_count: 10,
    replica_count: 0,
    is_blocked: false,
    waiting: null,
    held_count: 0,
    priority: 0,
    running_max: null,
    is_open: false,
    cancel_reason: null,
    doubtful_count: 0,
    tasks: { ...noTasks, ready: 10 },
    remaining_ms_min: null,
    remaining_ms_max: null,
    planned_end_unix_ms: null,
    ...given,
  };
}

const waiting = { code: 'no-machine-matches', parameters: {}, text: 'No machine suits.' };

test('a job whose tasks no machine can take is blocked, and says why in place of how long it takes', (t) => {
  const job = row({ is_blocked: true, waiting });
  t.is(getJobState(job), 'blocked');
  t.is(sayRest(job, 0), 'No machine suits.');
  t.is(getJobState(row({ waiting })), 'running');
  t.is(getJobState(row({ ...job, status: 'cancelled' })), 'cancelled');
});

test('a job is held where all that is left of it is', (t) => {
  const held = (waitingCount: number, ready: number): JobRow =>
    row({ held_count: 3, tasks: { ...noTasks, waiting: waitingCount, ready } });
  t.is(getJobState(held(3, 0)), 'held');
  t.is(sayRest(held(3, 0), 0), 'held until it is released');
  t.is(getJobState(held(3, 1)), 'running');
  t.is(getJobState(held(4, 0)), 'running');
});

test('a job that has ended says how long it took, and one that is open for more that it is', (t) => {
  t.is(sayRest(row({ status: 'finished', ended_unix_ms: 4000 }), 9000), 'took 3.0 s, ended 5.0 s ago');
  t.is(sayRest(row({ is_open: true, tasks: { ...noTasks, finished: 3 } }), 0), 'open for more tasks');
  t.is(sayRest(row({ remaining_ms_max: 60_000, waiting }), 0), 'about 1 min');
});

test('all together takes as long as the longest that is known, and says of how many it is not', (t) => {
  const say = (most: number | null, unknown: number): string =>
    sayToGo({ remaining_ms_max: most, remaining_unknown_count: unknown });
  t.is(say(553_000, 0), 'tasks; up to 9 min 13 s to go');
  t.is(say(553_000, 2), 'tasks; up to 9 min 13 s to go, unknown for 2 jobs');
  t.is(say(null, 1), 'tasks; remaining time unknown');
  t.is(say(null, 0), 'tasks finished');
});

test('reasons that are alike are folded, and what has no code is not', (t) => {
  const reason = (code: string, text: string) => ({ code, parameters: {}, text });
  const groups = groupReasons([
    reason('a', '1'),
    reason('b', 'm1'),
    reason('b', 'm2'),
    reason('b', 'm3'),
    reason('a', '2'),
    reason('a', '3'),
    reason('', 'x'),
    reason('', 'y'),
    reason('', 'z'),
  ]);
  t.deepEqual(
    groups.map(({ first, others }) => [first.text, others.length]),
    [
      ['1', 0],
      ['m1', 2],
      ['2', 0],
      ['3', 0],
      ['x', 0],
      ['y', 0],
      ['z', 0],
    ],
  );
});
