import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { findFreshNumber, markPutBack, openJournal, type ChangeCodec } from '@mutirao/runtime/journal';
import { temporaryFolder } from '@mutirao/testkit';
import test, { type ExecutionContext } from 'ava';
import { readFileId } from '../../../src/journal/file-id.ts';

const codec: ChangeCodec<{ readonly n: number }> = {
  version: 1,
  encode: (change) => JSON.stringify(change),
  decode: (_version, body) => JSON.parse(body) as { n: number },
  deriveJob: () => undefined,
  isDurable: () => true,
};

/** Starts an owner of numbers, which gives none. */
function starter(t: ExecutionContext): { readonly path: string; start(next: number, bootId?: number): number } {
  const path = join(temporaryFolder(t), 'journal.sqlite');
  return {
    path,
    start: (next, bootId = 1) => {
      const journal = openJournal({ path, codec, bootId });
      const fresh = findFreshNumber(journal, { name: 'next', next });
      journal.keepHost();
      if (journal.lastSequence() === 0) journal.record([{ n: 1 }], 1);
      journal.close();
      return fresh;
    },
  };
}

/** Puts a journal back from its back-up. */
function putBack(path: string): void {
  copyFileSync(path, `${path}.backup`);
  rmSync(path);
  copyFileSync(`${path}.backup`, path);
}

test('numbers go on where they were while a journal stays in its place', (t) => {
  const { start } = starter(t);
  t.deepEqual([start(1), start(8)], [1, 8]);
});

test('numbers that may have been given since a back-up are passed over, also when none is given before the next start', (t) => {
  const { path, start } = starter(t);
  start(1);
  start(8);
  putBack(path);
  t.deepEqual([start(8), start(8), start(1_000_009)], [1_000_008, 1_000_008, 1_000_009]);
  putBack(path);
  t.is(start(8), 2_000_008);
});

test('however often the host crashes, no number is skipped, and a journal that is put back after a crash is still recognized', (t) => {
  const { path, start } = starter(t);
  t.deepEqual([start(1), start(8), start(9, 2), start(9, 3)], [1, 8, 9, 9]);
  putBack(path);
  t.deepEqual([start(9, 4), start(9, 5)], [1_000_009, 1_000_009]);
});

test('a journal whose restorer says so is put back also where its file looks the same', (t) => {
  const { path, start } = starter(t);
  start(1);
  markPutBack(path);
  t.deepEqual([start(8), start(8, 2)], [1_000_008, 1_000_008]);
});

test('a journal of a release that noted only the run of its host stays in its place after a crash', (t) => {
  const { path, start } = starter(t);
  start(1);
  const database = new DatabaseSync(path);
  database.exec("DELETE FROM meta WHERE name = 'file'");
  database.close();
  t.is(start(8, 2), 8);
});

test('where a file system does not say when a file was made, its inode differs from that of its copies', (t) => {
  const idOf = (ino: bigint, birthtimeNs: bigint): number | undefined =>
    readFileId('journal.sqlite', () => ({ ino, birthtimeNs }));
  t.is(idOf(7n, 0n), idOf(7n, 0n));
  t.not(idOf(7n, 0n), idOf(8n, 0n));
  t.not(idOf(7n, 5n), idOf(7n, 6n));
  t.is(
    readFileId('journal.sqlite', () => undefined),
    undefined,
  );
});
