// The reason why a run took longer than the others follows from measurements: of its files, its machine, its siblings,
// or itself.
import test from 'ava';
import { Outcome } from '@mutirao/api/machine';

import { findStragglers } from '../../../src/server/analysis/stragglers.ts';
import type { ReplicaRow } from '../../../src/server/analysis/replica-rows.ts';

function aRow(fields: Partial<ReplicaRow>): ReplicaRow {
  return {
    taskIndex: 7,
    replicaId: 70,
    machineId: 'lab/pc3',
    dispatchedAt: 0,
    startedAt: 1000,
    endedAt: 11_000,
    kind: 'accepted',
    staging: undefined,
    outcome: Outcome.SUCCEEDED,
    exitStatus: 0,
    reason: '',
    detail: undefined,
    ...fields,
  };
}

const usual = { half: 1000, byMachine: new Map([['lab/pc3', [900, 1000, 1100, 10_000]]]) };

function findWhy(rows: readonly ReplicaRow[], given = usual, now = 20_000): string | undefined {
  return findStragglers(rows, given, now).stragglers[0]?.why;
}

test('outputs that were long on their way are the cause', (t) => {
  const staging = { inputsAskedAt: 0, inputsHereAt: 0, inputsPlacingAt: 0, commandEndedAt: 2000 };
  t.is(findWhy([aRow({ staging })]), 'Its outputs took 9 s to come home; its command took 1 s.');
});

test('a machine on which the others are slow too is the cause, the straggler itself not counted', (t) => {
  const slow = { half: 1000, byMachine: new Map([['lab/pc3', [1600, 1800, 10_000]]]) };
  t.is(
    findWhy([aRow({})], slow),
    'lab/pc3 is slow: half of its 2 other runs took 1.6 s or more, half of all take 1 s.',
  );
  t.regex(findWhy([aRow({})]) ?? '', /^Other runs on lab\/pc3 take 1 s: it is the task itself/);
  t.is(
    findWhy([aRow({})], { half: 1000, byMachine: new Map([['lab/pc3', [10_000]]]) }),
    'Nothing else ran on lab/pc3 to compare it with.',
  );
});

test('a sibling shows whether it is the task', (t) => {
  t.regex(
    findWhy([aRow({}), aRow({ replicaId: 71, machineId: 'lab/pc4', kind: 'loser', endedAt: 10_900 })]) ?? '',
    /^It took as long on lab\/pc4, for 9\.9 s .* the task itself\.$/,
  );
  t.regex(
    findWhy([
      aRow({ kind: 'running', endedAt: 0 }),
      aRow({ replicaId: 71, machineId: 'lab/pc4', kind: 'running', startedAt: 15_000, endedAt: 0 }),
    ]) ?? '',
    /^It runs on lab\/pc4 too, for 5 s so far\.$/,
  );
});

test('stragglers are counted beyond the listed ones, with what failed before', (t) => {
  const rows = Array.from({ length: 60 }, (_, index) =>
    aRow({ taskIndex: index, replicaId: index, endedAt: 11_000 + index }),
  );
  rows.push(aRow({ taskIndex: 59, replicaId: 900, kind: 'failed', startedAt: 100, endedAt: 900 }));
  const { stragglers, straggler_count: count } = findStragglers(rows, usual, 20_000);
  t.deepEqual([stragglers.length, count], [50, 60]);
  t.like(stragglers[0], {
    task_index: 59,
    took_ms: 10_059,
    times_half: 10.1,
    failures_before: 1,
    started_unix_ms: 1000,
  });
});

test('a running task counts as long as it has run, and a run that nobody waits for any more does not count', (t) => {
  const { stragglers } = findStragglers(
    [
      aRow({ kind: 'running', endedAt: 0 }),
      aRow({ replicaId: 71, kind: 'failed' }),
      aRow({ replicaId: 72, startedAt: 0, kind: 'running', endedAt: 0 }),
    ],
    usual,
    20_000,
  );
  t.deepEqual(
    stragglers.map(({ replica_id: id, is_running: runs, took_ms: took }) => [id, runs, took]),
    [[70, true, 19_000]],
  );
});
