import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findFreshNumber, openJournal, type ChangeCodec } from '@mutirao/runtime/journal';
import { temporaryFolder } from '@mutirao/testkit';
import test, { type ExecutionContext } from 'ava';

const codec: ChangeCodec<{ readonly n: number }> = { version: 1, encode: (change) => JSON.stringify(change), decode: (_version, body) => JSON.parse(body) as { n: number }, jobOf: () => undefined, isDurable: () => true };

/** Starts an owner of numbers, which gives none. */
function starter(t: ExecutionContext, isLostWithHost: boolean): { readonly path: string; start(next: number, bootId?: number): number } {
  const path = join(temporaryFolder(t), 'journal.sqlite');
  return {
    path,
    start: (next, bootId = 1) => {
      const journal = openJournal({ path, codec, bootId });
      const fresh = findFreshNumber(journal, { name: 'next', next, isLostWithHost });
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
  const { start } = starter(t, false);
  t.deepEqual([start(1), start(8), start(9, 2)], [1, 8, 9]);
});

test('numbers that may have been given since a back-up are passed over, also when none is given before the next start', (t) => {
  const { path, start } = starter(t, false);
  start(1);
  start(8);
  putBack(path);
  t.deepEqual([start(8), start(8), start(1_000_009)], [1_000_008, 1_000_008, 1_000_009]);
  putBack(path);
  t.is(start(8), 2_000_008);
});

test('numbers that may be lost with a fall of the host are passed over after its start', (t) => {
  const { start } = starter(t, true);
  t.deepEqual([start(1), start(8), start(8, 2), start(8, 2)], [1, 8, 1_000_008, 1_000_008]);
});
