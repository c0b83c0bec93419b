import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { renderGatheredOwner, renderGatheredResult } from '@mutirao/runtime/files';
import test from 'ava';
import { temporaryFolder } from '../../../src/temporary-folder.ts';
import { isOwnEnd } from '../../../src/chaos/kept-program.ts';
import { readGathered } from '../../../src/chaos/read-gathered.ts';
import { aReplica, aTask } from '../../../src/broker-records.ts';
import { findTwice, judgeCrashes, judgeJournals, judgeLeftovers } from '../../../src/chaos/verdict.ts';

test('drafts, playpens and folders of agents that nobody needs are found, and what belongs there is not', (t) => {
  const [home, outputs] = [temporaryFolder(t), temporaryFolder(t)];
  const put = (root: string, name: string): void => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), '');
  };
  for (const name of [
    'broker/journal.sqlite',
    'broker/arrivals/t12',
    'agents/pc0/contents/ab/abcd',
    'agents/.contents/near-31',
    'providers/lab/token',
  ])
    put(home, name);
  put(outputs, 'job0/small-1.txt');
  t.deepEqual(judgeLeftovers(home, outputs).wrong, []);
  for (const name of [
    'broker/arrivals/part-1-2',
    'broker/arrivals/r5-0-x',
    'agents/pc0/playpens/0/x',
    'agents/alpha_q1.0/owner',
    'agents/pc0/contents/tmp/3',
  ])
    put(home, name);
  put(outputs, 'job0/.small-2.txt.t12.part');
  const { wrong } = judgeLeftovers(home, outputs);
  for (const name of [
    'home/broker/arrivals/part-1-2',
    'home/broker/arrivals/r5-0-x',
    'home/agents/pc0/playpens/0',
    'home/agents/alpha_q1.0',
    'home/agents/pc0/contents/tmp/3',
    'outputs/job0/.small-2.txt.t12.part',
  ]) {
    t.true(wrong.includes(name), name);
  }
});

test('a journal with a gap, one that is held and one that is damaged are found', (t) => {
  const home = temporaryFolder(t);
  const journal = (name: string, sequences: readonly number[]): DatabaseSync => {
    mkdirSync(path.join(home, name));
    const database = new DatabaseSync(path.join(home, name, 'journal.sqlite'));
    database.exec('CREATE TABLE changes (seq INTEGER PRIMARY KEY)');
    for (const sequence of sequences) database.prepare('INSERT INTO changes VALUES (?)').run(sequence);
    return database;
  };
  journal('whole', [1, 2, 3]).close();
  t.deepEqual(judgeJournals(home).wrong, []);
  journal('gap', [1, 3]).close();
  const held = journal('held', [1]);
  held.exec('BEGIN EXCLUSIVE');
  mkdirSync(path.join(home, 'damaged'));
  writeFileSync(
    path.join(home, 'damaged', 'journal.sqlite'),
    'no database at all, but long enough for a header of one'.repeat(20),
  );
  const { wrong } = judgeJournals(home);
  held.close();
  t.deepEqual(wrong.map((line) => line.split('/')[0]).sort(), ['damaged', 'gap', 'held']);
});

test('a process that ended by itself is found, by its end or by the dump that it left; one that was killed, or found no room to begin, is not', (t) => {
  const end = {
    name: 'broker',
    exitCode: 70,
    signal: undefined,
    code: undefined,
    hadListened: true,
    lastLines: [],
  } as const;
  t.true(isOwnEnd(end));
  t.true(isOwnEnd({ ...end, exitCode: 0 }));
  t.true(isOwnEnd({ ...end, exitCode: undefined, signal: 'SIGSEGV' }));
  t.false(isOwnEnd({ ...end, exitCode: undefined, signal: 'SIGKILL' }));
  t.false(isOwnEnd({ ...end, exitCode: 3, code: 'MUT_DISK_FULL', hadListened: false }));
  t.true(isOwnEnd({ ...end, exitCode: 3, code: 'MUT_DISK_FULL' }), 'a full disk ends no process that runs');
  const home = temporaryFolder(t);
  t.deepEqual(judgeCrashes(home, []).wrong, []);
  mkdirSync(path.join(home, 'crashes'));
  writeFileSync(
    path.join(home, 'crashes', 'agent-1.txt'),
    '== program\nagent\n\n== error\nInvariantError: two and two is five\n    at x\n',
  );
  t.deepEqual(judgeCrashes(home, ['broker ended']).wrong, [
    'broker ended',
    'agent-1.txt: InvariantError: two and two is five',
  ]);
});

test('volumes are held against their index: a file that only one of them has is found', async (t) => {
  const folder = temporaryFolder(t);
  const folders = { inputs: '', outputs: folder, runs: path.join(folder, 'runs') };
  const job = { jobId: 7, label: 'job0', counts: [], way: { isGathered: true, disposition: 'left' } } as const;
  const gathered = path.join(folder, 'job0-gathered');
  mkdirSync(gathered);
  mkdirSync(path.join(folder, 'job0'));
  for (const name of ['a', 'b']) writeFileSync(path.join(folder, 'job0', name), name);
  execFileSync('tar', ['-cf', path.join(gathered, 'job-7.000.tar'), '-C', folder, 'job0/a', 'job0/b']);
  const report = (...names: string[]): void => {
    writeFileSync(
      path.join(gathered, 'job-7.index.jsonl'),
      renderGatheredOwner({ jobId: 7, brokerId: 'b', instance: 'i' }) +
        names
          .map((name, taskIndex) =>
            renderGatheredResult([
              {
                taskIndex,
                replicaId: taskIndex + 1,
                path: `job0/${name}`,
                volume: 'job-7.000.tar',
                offset: 0,
                size: 1,
                mode: 0o644,
                sha256: 'x',
              },
            ]),
          )
          .join(''),
    );
  };
  report('a', 'b');
  t.like(await readGathered(job, folders), { members: ['job0/a', 'job0/b'], wrong: [], foreigners: [] });
  report('a');
  t.regex((await readGathered(job, folders)).wrong.join(), /lists 1 files, its volumes hold 2: job0\/b/);
  report('a', 'b', 'a');
  t.regex((await readGathered(job, folders)).wrong.join(), /twice/);
  writeFileSync(path.join(gathered, 'stray'), '');
  t.deepEqual((await readGathered(job, folders)).foreigners, ['job0-gathered/stray']);
});

test('a result is gathered once, but for one of a machine that was caught before it was accepted', (t) => {
  const quarantined = aReplica({ replicaId: 3, accepted: false, reason: 'MUT_MACHINE_QUARANTINED' });
  const lost = aReplica({ replicaId: 4, accepted: false, reason: 'MUT_MACHINE_LOST' });
  const tasks = [aTask({ taskIndex: 0, replicas: [quarantined, lost, aReplica({ replicaId: 5, accepted: true })] })];
  const report = (...replicaIds: number[]): string[] =>
    findTwice(
      tasks,
      replicaIds.map((replicaId) => ({ taskIndex: 0, replicaId })),
    );
  t.deepEqual(report(5), []);
  t.deepEqual(report(3, 5), []);
  t.is(report(4, 5).length, 1, 'one that was lost is there too');
  t.is(report(5, 5).length, 1, 'the accepted one is there twice');
  t.true(report(5, 3).length > 0, 'the one that was caught counts');
});
