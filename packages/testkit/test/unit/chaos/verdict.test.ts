import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { temporaryFolder } from '../../../src/temporary-folder.ts';
import { judgeJournals, judgeLeftovers } from '../../../src/chaos/verdict.ts';

test('drafts, playpens and folders of agents that nobody needs are found, and what belongs there is not', (t) => {
  const [home, outputs] = [temporaryFolder(t), temporaryFolder(t)];
  const put = (root: string, name: string): void => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), '');
  };
  for (const name of ['broker/journal.sqlite', 'broker/arrivals/t12', 'agents/pc0/contents/ab/abcd', 'providers/lab/token']) put(home, name);
  put(outputs, 'job0/small-1.txt');
  t.deepEqual(judgeLeftovers(home, outputs).wrong, []);
  for (const name of ['broker/arrivals/part-1-2', 'broker/arrivals/r5-0-x', 'agents/pc0/playpens/0/x', 'agents/alpha_q1.0/owner', 'agents/pc0/contents/tmp/3']) put(home, name);
  put(outputs, 'job0/.small-2.txt.t12.part');
  const { wrong } = judgeLeftovers(home, outputs);
  for (const name of ['home/broker/arrivals/part-1-2', 'home/broker/arrivals/r5-0-x', 'home/agents/pc0/playpens/0', 'home/agents/alpha_q1.0', 'home/agents/pc0/contents/tmp/3', 'outputs/job0/.small-2.txt.t12.part']) {
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
  writeFileSync(path.join(home, 'damaged', 'journal.sqlite'), 'no database at all, but long enough for a header of one'.repeat(20));
  const { wrong } = judgeJournals(home);
  held.close();
  t.deepEqual(wrong.map((line) => line.split('/')[0]).sort(), ['damaged', 'gap', 'held']);
});
