// Bars of machines: lanes, and what is under the pointer.
import test from 'ava';
import type { Gantt } from '@mutirao/web/schema';
import { findBar, laneBars, sumKinds } from '../../../client/src/model/gantt.ts';

const bars = { row: [0, 0, 0, 1], start_unix_ms: [0, 5, 10, 0], end_unix_ms: [10, 15, 20, 4], kind: [1, 1, 2, 0], task_index: [7, 8, 9, 7], replica_id: [1, 2, 3, 4] };
const gantt: Gantt = {
  job_id: 1, from_unix_ms: 0, until_unix_ms: 20, job_from_unix_ms: 0, job_until_unix_ms: 20, kinds: ['inputs', 'accepted', 'loser'], rows: [{ machine_id: 'a', provider_id: 'p' }, { machine_id: 'b', provider_id: 'p' }], rows_left_out: 0, bars, cells: null, bin_ms: 1, read_task_count: 3, task_count: 3,
};

test('bars of one machine that overlap are in lanes of their own, and a lane is used again', (t) => t.deepEqual(laneBars(bars, 2), { lane: [0, 1, 0, 0], laneCounts: [2, 1] }));

test('the bar under the pointer is found by its row, lane and time', (t) => {
  const lanes = laneBars(bars, 2);
  t.like(findBar(gantt, lanes, { row: 0, instant: 7, share: 0.2 }), { taskIndex: 7, kind: 'accepted' });
  t.like(findBar(gantt, lanes, { row: 0, instant: 7, share: 0.9 }), { taskIndex: 8 });
  t.is(findBar(gantt, lanes, { row: 1, instant: 4, share: 0.5 }), undefined);
});

test('times of a kind add up, of bars and of cells', (t) => {
  t.deepEqual(sumKinds(gantt), [4, 20, 10]);
  t.deepEqual(sumKinds({ ...gantt, bars: null, cells: { row: [0, 0], bin: [0, 1], kind: [1, 1], busy_ms: [3, 4] } }), [0, 7, 0]);
});
