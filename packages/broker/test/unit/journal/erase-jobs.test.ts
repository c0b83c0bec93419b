import { statSync } from 'node:fs';
import { join } from 'node:path';

import test, { type ExecutionContext } from 'ava';
import type { BrokerChange, BrokerJob, ReplicaEnding } from '@mutirao/core/machines/broker';
import { openJournal, type Journal } from '@mutirao/runtime/journal';
import { temporaryFolder } from '@mutirao/testkit';

import { changeCodec } from '../../../src/journal/change-codec.ts';
import { JobEraser } from '../../../src/journal/erase-jobs.ts';
import { JournalRecords } from '../../../src/journal/records.ts';

const tasks = 2000;
const nothing = new Uint8Array(0);

interface Bench {
  readonly path: string;
  readonly journal: Journal<BrokerChange>;
  readonly jobs: Map<number, BrokerJob>;
  readonly troubles: unknown[];
  /** Erases with at most so many turns. */
  erase(turnsMax?: number): void;
}

function prepare(t: ExecutionContext): Bench {
  const path = join(temporaryFolder(t), 'journal.sqlite');
  const journal = openJournal({ path, codec: changeCodec });
  t.teardown(() => {
    journal.close();
  });
  for (const jobId of [1, 2]) {
    for (let taskIndex = 0; taskIndex < tasks; taskIndex += 10)
      journal.record([endOf(jobId, taskIndex)], 1000 + taskIndex);
  }
  const jobs = new Map([1, 2].map((jobId) => [jobId, { jobId } as unknown as BrokerJob]));
  const troubles: unknown[] = [];
  const erase = (turnsMax = Infinity): void => {
    const due: (() => void)[] = [];
    let now = 0;
    const eraser = new JobEraser({
      journal,
      state: { jobs },
      timers: { start: (_delay, run) => due.push(run), cancel: () => undefined },
      // Each look at the clock is late: one piece of work in each turn.
      clock: { now: () => (now += 11) },
      takeSnapshot: () => {
        journal.writeSnapshot(journal.lastSequence(), '{}');
        return journal.lastSequence();
      },
      onTrouble: (error) => troubles.push(error),
    });
    eraser.start();
    for (let turn = 0; turn < turnsMax && due.length > 0; turn++) due.shift()?.();
    eraser.stop();
  };
  return { path, journal, jobs, troubles, erase };
}

function anEnding(changes: Partial<ReplicaEnding> = {}): ReplicaEnding {
  return {
    replicaId: 7,
    taskIndex: 3,
    disposition: 'accepted',
    taskStatus: 'finished',
    outcome: 'succeeded',
    exitStatus: 0,
    dispatchedAt: 100,
    startedAt: 110,
    endedAt: 120,
    reason: '',
    detail: '',
    standardOutput: nothing,
    standardError: nothing,
    outputTruncated: false,
    outputs: [],
    ...changes,
  };
}

function endOf(jobId: number, first: number): BrokerChange {
  const endings = Array.from({ length: 10 }, (_, index) => ({
    ...anEnding({ replicaId: jobId * 100_000 + first + index, taskIndex: first + index }),
    standardOutput: Buffer.alloc(500, 'x'),
  }));
  return { kind: 'ReplicasEnded', machineId: 'lab/a', jobId, endings, at: 1000 };
}

function countLines(journal: Journal<BrokerChange>, jobId: number): number {
  const count = (table: string): number =>
    Number(journal.database.prepare(`SELECT count(*) AS count FROM ${table} WHERE job = ?`).get(jobId)?.['count']);
  return count('changes') + count('replica_batches') + count('replica_outputs');
}

test('a forgotten job leaves the journal with its outputs, its space goes back to the disk, and others stay', (t) => {
  const { path, journal, jobs, troubles, erase } = prepare(t);
  journal.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const before = statSync(path).size;
  const kept = countLines(journal, 2);
  jobs.delete(1);
  erase();
  t.deepEqual(troubles, []);
  t.is(countLines(journal, 1), 0);
  t.is(countLines(journal, 2), kept);
  t.true(statSync(path).size < 0.6 * before, `${statSync(path).size} of ${before} bytes are left`);
  t.is(new JournalRecords(journal).endingsOf(2, 0, tasks).size, tasks);
});

test('an interrupted search is continued by the next broker, and nothing is looked for twice', (t) => {
  const { journal, jobs, troubles, erase } = prepare(t);
  jobs.delete(1);
  erase(3);
  const left = countLines(journal, 1);
  t.true(left > 0 && left < countLines(journal, 2));
  erase();
  t.is(countLines(journal, 1), 0);
  t.deepEqual(troubles, []);
});

test('lines behind the snapshot are not erased: a restart replays them', (t) => {
  const { journal, jobs } = prepare(t);
  jobs.delete(1);
  const due: (() => void)[] = [];
  const last = journal.lastSequence();
  const eraser = new JobEraser({
    journal,
    state: { jobs },
    timers: { start: (_delay, run) => due.push(run), cancel: () => undefined },
    clock: { now: () => 0 },
    takeSnapshot: () => {
      journal.record([{ kind: 'JobClosed', jobId: 1, at: 5 }], 5);
      return last;
    },
    onTrouble: (error) => {
      t.fail(String(error));
    },
  });
  eraser.start();
  due.shift()?.();
  t.deepEqual(
    journal.read({ after: 0, job: 1, limit: 10 }).map(({ change }) => change.kind),
    ['JobClosed'],
  );
});
