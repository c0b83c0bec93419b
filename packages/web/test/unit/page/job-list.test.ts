// The list of all jobs: what the address says of it, which are shown in what order, and what is kept of what is read.
import fc from 'fast-check';
import test from 'ava';
import type { JobRow } from '@mutirao/web/schema';
import {
  arrangeJobs,
  countStates,
  jobSorts,
  jobsToAsk,
  plainSpec,
  getQuery,
  readJobSpec,
  rowBeside,
  sortBy,
  takeJobs,
  type JobSpec,
} from '../../../client/src/model/job-list.ts';

import { jobStates } from '../../../client/src/model/job-state.ts';

function row(jobId: number, fields: Partial<JobRow> = {}): JobRow {
  return {
    job_id: jobId,
    label: '',
    user_id: 'ana',
    status: 'finished',
    submitted_unix_ms: jobId * 1000,
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
    tasks: { waiting: 0, ready: 0, running: 0, verifying: 0, finished: 10, failed: 0, cancelled: 0 },
    remaining_ms_min: null,
    remaining_ms_max: null,
    planned_end_unix_ms: null,
    ...fields,
  };
}

const finished = (count: number): Pick<JobRow, 'tasks'> => ({ tasks: { ...row(1).tasks, finished: count } });
const listIds = (jobs: readonly JobRow[], spec: Partial<JobSpec>): number[] =>
  arrangeJobs(jobs, { ...plainSpec, ...spec }).map(({ job_id: jobId }) => jobId);
const anySpec = fc.record({
  search: fc.string({ maxLength: 20 }),
  state: fc.constantFrom(undefined, ...jobStates),
  sort: fc.constantFrom(...jobSorts),
  isAscending: fc.boolean(),
});

test('an address keeps what is requested for, and one that makes no sense specs for all', (t) => {
  fc.assert(
    fc.property(anySpec, (spec) => {
      t.deepEqual(readJobSpec(getQuery(spec)), spec);
    }),
    { seed: 5, numRuns: 300 },
  );
  t.is(getQuery(plainSpec), '');
  t.is(
    getQuery({ ...plainSpec, search: 'a&b', state: 'failed', sort: 'tasks' }),
    '?search=a%26b&state=failed&sort=tasks',
  );
  t.deepEqual(readJobSpec('?state=odd&sort=__proto__&order=up'), { ...plainSpec });
});

test('the newest come first; a column sorts in its own first order, and pressed again the other way round', (t) => {
  const jobs = [
    row(1, { label: 'b 10', task_count: 5 }),
    row(2, { label: 'b 9', task_count: 7 }),
    row(3, { label: 'a', task_count: 7 }),
  ];
  t.deepEqual(listIds(jobs, {}), [3, 2, 1]);
  t.deepEqual(listIds(jobs, sortBy(plainSpec, 'label')), [3, 2, 1]);
  t.deepEqual(listIds(jobs, sortBy(sortBy(plainSpec, 'label'), 'label')), [1, 2, 3]);
  t.deepEqual(listIds(jobs, sortBy(plainSpec, 'tasks')), [3, 2, 1], 'of equal ones the newest first');
  t.deepEqual(listIds(jobs, sortBy(plainSpec, 'job')), [1, 2, 3]);
  t.deepEqual(
    listIds([row(1, finished(3)), row(2, finished(9)), row(3, finished(1))], sortBy(plainSpec, 'done')),
    [2, 1, 3],
  );
  t.deepEqual(
    listIds(
      [row(1, { status: 'failed' }), row(2, { status: 'running' }), row(3, { status: 'cancelled' })],
      sortBy(plainSpec, 'status'),
    ),
    [2, 1, 3],
  );
});

test('of jobs by their remaining time those of which it is not known are last either way', (t) => {
  const status = 'running';
  const jobs = [
    row(1, { status, remaining_ms_max: 5 }),
    row(2, { status }),
    row(3, { status, remaining_ms_max: 9 }),
    row(4, { status }),
  ];
  t.deepEqual(listIds(jobs, { sort: 'remaining', isAscending: true }), [1, 3, 4, 2]);
  t.deepEqual(listIds(jobs, { sort: 'remaining', isAscending: false }), [3, 1, 4, 2]);
});

test('of jobs by their remaining time those that have ended come after all that run', (t) => {
  const status = 'running';
  const jobs = [row(1, { remaining_ms_max: 0 }), row(2, { status }), row(3, { status, remaining_ms_max: 9 })];
  for (const isAscending of [true, false]) t.deepEqual(listIds(jobs, { sort: 'remaining', isAscending }), [3, 2, 1]);
});

test('all words are looked for, in labels and users in any case, or a number is', (t) => {
  const jobs = [
    row(41, { label: 'Protein docking' }),
    row(4, { label: 'docking 41' }),
    row(7, { label: 'x', user_id: 'Rosa' }),
    row(8, { label: '.*' }),
  ];
  t.deepEqual(listIds(jobs, { search: ' DOCKING  prot' }), [41]);
  t.deepEqual(listIds(jobs, { search: '41' }), [41, 4]);
  t.deepEqual(listIds(jobs, { search: '#41' }), [41]);
  t.deepEqual(listIds(jobs, { search: 'rosa' }), [7]);
  t.deepEqual(listIds(jobs, { search: '.*' }), [8]);
  t.deepEqual(listIds([row(1, { status: 'failed' }), row(2)], { state: 'failed' }), [1]);
  t.deepEqual(countStates([row(1, { status: 'failed' }), row(2), row(3)]), {
    running: 0,
    blocked: 0,
    held: 0,
    finished: 2,
    failed: 1,
    cancelled: 0,
  });
});

test('a row that says nothing new changes nothing; what was known of the rest is kept while nobody asked again', (t) => {
  const known = row(1, { status: 'running', remaining_ms_min: 5, remaining_ms_max: 9 });
  const book = takeJobs(new Map(), [known, row(2)]);
  t.is(takeJobs(book, [row(2)]), book);
  t.is(takeJobs(book, [{ ...known, remaining_ms_min: null, remaining_ms_max: null }]), book);
  const further = takeJobs(book, [{ ...known, remaining_ms_min: null, remaining_ms_max: null, ...finished(4) }]);
  t.like(further.get(1), { remaining_ms_max: 9, tasks: { finished: 4 } });
  t.is(
    takeJobs(book, [{ ...known, remaining_ms_min: null, remaining_ms_max: null }], true).get(1)?.remaining_ms_max,
    null,
    'asked, and not known any more',
  );
  t.is(takeJobs(book, [row(1)]).get(1)?.remaining_ms_max, null, 'it has ended');
  t.is(book.get(1), known);
});

test('arrow keys go from row to row and stay in the list', (t) => {
  const lead = (index: number, key: string): number | undefined => rowBeside(index, 100, { key, page: 10 });
  t.deepEqual(
    [
      lead(5, 'ArrowDown'),
      lead(5, 'ArrowUp'),
      lead(5, 'PageDown'),
      lead(5, 'PageUp'),
      lead(5, 'Home'),
      lead(5, 'End'),
      lead(99, 'ArrowDown'),
      lead(5, 'a'),
    ],
    [6, 4, 15, 0, 0, 99, 99, undefined],
  );
  t.is(rowBeside(0, 0, { key: 'End', page: 1 }), undefined);
});

test('running jobs are asked about in turn, also those of which it stays unknown how long they take, and then as they stand', (t) => {
  const jobs = [row(9), ...Array.from({ length: 5 }, (_, index) => row(index + 1, { status: 'running' }))].reverse();
  const asked = new Set<number>();
  const ask = (): number[] => {
    const ids = jobsToAsk(jobs, asked, 2);
    for (const id of ids) asked.add(id);
    return ids;
  };
  t.deepEqual(
    [ask(), ask(), ask(), ask()],
    [
      [4, 5],
      [2, 3],
      [1, 5],
      [4, 5],
    ],
  );
});
