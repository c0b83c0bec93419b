// A journal that lacks changes is not taken for whole.
import { copyFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openJournal, type ChangeCodec, type Journal } from '@mutirao/runtime/journal';
import { temporaryFolder } from '@mutirao/testkit';
import test, { type ExecutionContext } from 'ava';

interface Said {
  readonly text: string;
}
const codec: ChangeCodec<Said> = {
  version: 1,
  encode: (change) => JSON.stringify(change),
  decode: (_version, body) => JSON.parse(body) as Said,
  deriveJob: () => undefined,
  isDurable: ({ text }) => text.startsWith('promise'),
};

/** A folder with a journal of those changes whose process was killed: nothing was copied from its log into its file. */
function killed(
  t: ExecutionContext,
  ...texts: readonly string[]
): { readonly path: string; open(bootId?: number): Journal<Said> } {
  const folder = temporaryFolder(t);
  const [alive, path] = [join(folder, 'alive.sqlite'), join(folder, 'journal.sqlite')];
  const first = openJournal({ path: alive, codec, bootId: 1 });
  first.record([{ text: 'promise 0' }], 1);
  first.keepHost();
  first.close();
  const journal = openJournal({ path: alive, codec, bootId: 1 });
  for (const text of texts) journal.record([{ text }], 1);
  for (const suffix of ['', '-wal', '-last']) copyFileSync(alive + suffix, path + suffix);
  journal.close();
  return { path, open: (bootId = 1) => openJournal({ path, codec, bootId }) };
}

test('a journal with its log is whole', (t) => {
  const { open } = killed(t, 'promise 1', 'a', 'b');
  const journal = open();
  t.is(journal.lastSequence(), 4);
  journal.close();
});

test('a journal whose log was removed is refused, and the message says which changes are missing and what to do', (t) => {
  const { path, open } = killed(t, 'promise 1', 'a', 'b');
  rmSync(`${path}-wal`);
  t.throws(() => open(), {
    code: 'MUT_JOURNAL_CORRUPT',
    message:
      /ends with change 1, and changes 2 to 4 are missing: .*journal\.sqlite-wal .*restore a back-up.*remove .*journal\.sqlite-last/,
  });
  t.throws(() => open(), { code: 'MUT_JOURNAL_CORRUPT' }, 'also when it is tried again');
});

test('a journal whose log is damaged is refused', (t) => {
  const { path, open } = killed(t, 'a', 'b');
  const log = readFileSync(`${path}-wal`);
  log.fill(0x55, log.length - 3000);
  writeFileSync(`${path}-wal`, log);
  t.throws(() => open(), { code: 'MUT_JOURNAL_CORRUPT', message: /change 3 is missing/ });
});

test('an older copy that is put over a journal is refused', (t) => {
  const { path, open } = killed(t, 'a');
  open().close();
  copyFileSync(path, `${path}.old`);
  const journal = open();
  journal.record([{ text: 'b' }], 1);
  journal.close();
  copyFileSync(`${path}.old`, path);
  t.throws(() => open(), { code: 'MUT_JOURNAL_CORRUPT', message: /ends with change 2, and change 3 is missing/ });
});

test('after a fall of the host changes that were not synced may be missing, and no others', (t) => {
  const fallen = killed(t, 'a', 'b');
  rmSync(`${fallen.path}-wal`);
  const journal = fallen.open(2);
  t.deepEqual([journal.lastSequence(), journal.isHostNew, journal.isFileNew], [1, true, true]);
  journal.close();
  const broken = killed(t, 'a', 'promise 1', 'b');
  rmSync(`${broken.path}-wal`);
  t.throws(() => broken.open(2), { code: 'MUT_JOURNAL_CORRUPT', message: /changes 2 to 3 are missing/ });
});

test('after the note is removed, a journal opens without its missing changes, as one that was put back', (t) => {
  const { path, open } = killed(t, 'promise 1');
  rmSync(`${path}-wal`);
  rmSync(`${path}-last`);
  const journal = open();
  t.deepEqual([journal.lastSequence(), journal.isHostNew, journal.isFileNew], [1, true, true]);
  journal.close();
});

test('a note that cannot be kept on the disk stops no journal', (t) => {
  const path = join(temporaryFolder(t), 'journal.sqlite');
  symlinkSync('/dev/full', `${path}-last`);
  const journal = openJournal({ path, codec, bootId: 1 });
  journal.record([{ text: 'promise 1' }], 1);
  t.is(journal.lastSequence(), 1);
  journal.close();
});

test('a journal that was copied is looked at page by page', (t) => {
  const { path, open } = killed(t, ...Array.from({ length: 200 }, (_, n) => `promise ${'x'.repeat(200)} ${n}`));
  open().close();
  const bytes = readFileSync(path);
  bytes.fill(0x77, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 5000);
  writeFileSync(`${path}.copy`, bytes);
  copyFileSync(`${path}-last`, `${path}.copy-last`);
  t.throws(() => openJournal({ path: `${path}.copy`, codec, bootId: 1 }), { code: 'MUT_JOURNAL_CORRUPT' });
});
