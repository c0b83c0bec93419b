import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { openJournal, type ChangeCodec } from '@mutirao/runtime/journal';
import test, { type TestFn } from 'ava';

interface Change {
  readonly job: number | undefined;
  readonly text: string;
}

const codec: ChangeCodec<Change> = {
  version: 2,
  encode: (change) => JSON.stringify(change),
  decode: (version, body) => {
    const { job, text } = JSON.parse(body) as Change;
    return { job, text: version === 1 ? text.toUpperCase() : text };
  },
  deriveJob: ({ job }) => job,
  isDurable: ({ text }) => text.startsWith('promise'),
  schema: ['CREATE TABLE IF NOT EXISTS words (text TEXT PRIMARY KEY, seq INTEGER)'],
  project: (database, sequence, { text }) => {
    database.prepare('INSERT INTO words (text, seq) VALUES (?, ?)').run(text, sequence);
  },
};

const suite = test as TestFn<{ folder: string; path: string }>;
suite.beforeEach((t) => {
  t.context.folder = mkdtempSync(join(tmpdir(), 'mutirao-journal-'));
  t.context.path = join(t.context.folder, 'deep', 'journal.sqlite');
});
suite.afterEach.always((t) => {
  rmSync(t.context.folder, { recursive: true, force: true });
});

const change = (text: string, job?: number): Change => ({ job, text });

/** A copy of a journal that is still open, as a killed process would leave it: the file and its write-ahead log. */
function leftBehind(path: string): string {
  const copy = `${path}.copy`;
  for (const suffix of ['', '-wal']) if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
  return copy;
}

function words(path: string): unknown[] {
  const journal = openJournal({ path, codec });
  const rows = journal.database
    .prepare('SELECT text, seq FROM words ORDER BY seq')
    .all()
    .map((row) => [row['text'], row['seq']]);
  journal.close();
  return rows;
}

suite('changes are numbered from 1 without a gap, and replayed in order', (t) => {
  const journal = openJournal({ path: t.context.path, codec });
  t.is(journal.lastSequence(), 0);
  t.is(journal.record([change('a'), change('b')], 10), 1);
  t.is(journal.record([change('c')], 20), 3);
  const seen: unknown[] = [];
  journal.replay(1, (sequence, { text }) => {
    seen.push([sequence, text]);
  });
  t.deepEqual(seen, [
    [2, 'b'],
    [3, 'c'],
  ]);
  t.is(journal.lastSequence(), 3);
  journal.close();
});

suite('what was recorded is there after the process was killed, projections and all', (t) => {
  const journal = openJournal({ path: t.context.path, codec });
  journal.record([change('a'), change('promise b')], 10);
  journal.record([change('c')], 20);
  t.deepEqual(words(leftBehind(t.context.path)), [
    ['a', 1],
    ['promise b', 2],
    ['c', 3],
  ]);
  journal.close();
});

suite('changes of one turn are written all or none', (t) => {
  const journal = openJournal({ path: t.context.path, codec });
  journal.record([change('a')], 10);
  const error = t.throws(() => journal.record([change('b'), change('a')], 20), {
    instanceOf: MutiraoError,
    code: 'MUT_JOURNAL_FAILED',
  });
  t.regex(error.message, /UNIQUE/);
  t.is(journal.record([change('c')], 30), 2);
  journal.close();
  t.deepEqual(words(t.context.path), [
    ['a', 1],
    ['c', 2],
  ]);
});

suite('reading selects by job and sequence, and is bounded', (t) => {
  const journal = openJournal({ path: t.context.path, codec });
  journal.record([change('a', 1), change('b', 2), change('c', 1), change('d'), change('e', 1)], 10);
  t.deepEqual(
    journal.read({ after: 1, job: 1, limit: 9 }).map(({ sequence }) => sequence),
    [3, 5],
  );
  t.deepEqual(journal.read({ after: 1, limit: 2 }), [
    { sequence: 2, at: 10, change: change('b', 2) },
    { sequence: 3, at: 10, change: change('c', 1) },
  ]);
  journal.close();
});

suite('the latest snapshot is found again, and old ones go', (t) => {
  const journal = openJournal({ path: t.context.path, codec });
  t.is(journal.latestSnapshot(), undefined);
  for (const sequence of [3, 5, 9]) journal.writeSnapshot(sequence, `state ${sequence}`);
  t.deepEqual(journal.latestSnapshot(), { sequence: 9, body: 'state 9' });
  t.is(journal.database.prepare('SELECT count(*) AS count FROM snapshots').get()?.['count'], 2);
  journal.close();
});

suite('changes of an earlier version are read as such', (t) => {
  const before = openJournal({ path: t.context.path, codec: { ...codec, version: 1 } });
  before.record([change('old')], 10);
  before.close();
  const journal = openJournal({ path: t.context.path, codec });
  journal.record([change('new')], 20);
  t.deepEqual(
    journal.read({ after: 0, limit: 9 }).map((entry) => entry.change.text),
    ['OLD', 'new'],
  );
  journal.close();
});

suite('a journal of a later release is refused', (t) => {
  openJournal({ path: t.context.path, codec: { ...codec, version: 3 } }).close();
  const error = t.throws(() => openJournal({ path: t.context.path, codec }), {
    instanceOf: MutiraoError,
    code: 'MUT_JOURNAL_NEWER',
  });
  t.regex(error.message, /change_version 3; this release knows 2/);
});

suite('a journal that is open is refused to a second opener', (t) => {
  const journal = openJournal({ path: t.context.path, codec });
  t.throws(() => openJournal({ path: t.context.path, codec }), { code: 'MUT_ALREADY_RUNNING' });
  journal.close();
  openJournal({ path: t.context.path, codec }).close();
});

suite('a file that is no journal is refused', (t) => {
  mkdirSync(dirname(t.context.path));
  writeFileSync(t.context.path, 'dear diary, '.repeat(1000));
  t.throws(() => openJournal({ path: t.context.path, codec }), { code: 'MUT_JOURNAL_CORRUPT' });
});

suite('a journal that was cut short is reported as damaged', (t) => {
  const journal = openJournal({ path: t.context.path, codec });
  journal.record(
    Array.from({ length: 2000 }, (_, index) => change(`word ${index}`)),
    10,
  );
  journal.close();
  truncateSync(t.context.path, 40_960);
  t.throws(
    () => {
      const cut = openJournal({ path: t.context.path, codec });
      cut.replay(0, () => undefined);
    },
    { code: 'MUT_JOURNAL_CORRUPT' },
  );
});

suite('a change that makes no sense is named by its sequence', (t) => {
  const journal = openJournal({ path: t.context.path, codec });
  journal.record([change('a'), change('b')], 10);
  journal.database.exec("UPDATE changes SET body = '{\"job' WHERE seq = 2");
  const error = t.throws(
    () => {
      journal.replay(0, () => undefined);
    },
    { instanceOf: MutiraoError, code: 'MUT_JOURNAL_CORRUPT' },
  );
  t.regex(error.message, /change 2 \(version 2\)/);
  journal.close();
});

suite('only a turn with a promise waits for the disk', (t) => {
  const journal = openJournal({ path: t.context.path, codec });
  const level = (): unknown => journal.database.prepare('PRAGMA synchronous').get()?.['synchronous'];
  journal.record([change('a')], 10);
  t.is(level(), 1);
  journal.record([change('b'), change('promise c')], 10);
  t.is(level(), 2);
  journal.record([change('d')], 10);
  t.is(level(), 1);
  journal.close();
});

suite('a folder that cannot be made fails the journal with its path', (t) => {
  writeFileSync(join(t.context.folder, 'deep'), '');
  t.throws(() => openJournal({ path: t.context.path, codec }), { code: 'MUT_JOURNAL_FAILED' });
});

suite('a disk that is full fails the turn and loses nothing of those before it', (t) => {
  const journal = openJournal({ path: t.context.path, codec });
  journal.record([change('a')], 10);
  const pages = Number(journal.database.prepare('PRAGMA page_count').get()?.['page_count']);
  journal.database.exec(`PRAGMA max_page_count = ${pages + 2}`);
  const error = t.throws(() => journal.record([change('b'), change('x'.repeat(100_000))], 20), {
    instanceOf: MutiraoError,
    code: 'MUT_DISK_FULL',
  });
  t.regex(error.message, /full/);
  journal.database.exec('PRAGMA max_page_count = 1000000');
  t.is(journal.record([change('c')], 30), 2);
  t.deepEqual(words(leftBehind(t.context.path)), [
    ['a', 1],
    ['c', 2],
  ]);
  journal.close();
});

suite('a journal knows when its host has started again since it was dealt with, and a new one has nothing to forget', (t) => {
  const { path } = t.context;
  const open = (bootId: number | undefined, isDealtWith: boolean): boolean => {
    const journal = openJournal({ path, codec, bootId });
    const { isHostNew, isFileNew } = journal;
    if (journal.lastSequence() === 0) journal.record([change('word')], 1);
    else t.false(isFileNew, 'it is the same file, whatever the host');
    if (isDealtWith) journal.keepHost();
    journal.close();
    return isHostNew;
  };
  t.false(open(5, true));
  t.false(open(5, true));
  t.true(open(6, false));
  t.true(open(6, true));
  t.false(open(6, true));
  t.true(open(undefined, true));
});

suite(
  'a journal that was put back from a back-up knows that it may have forgotten, once, and so does none that stays ' +
    'where it is',
  (t) => {
    const { path } = t.context;
    const open = (): boolean => {
      const journal = openJournal({ path, codec, bootId: 5 });
      const { isHostNew, isFileNew } = journal;
      if (journal.lastSequence() === 0) journal.record([change('word')], 1);
      else t.is(isFileNew, isHostNew);
      journal.keepHost();
      journal.close();
      return isHostNew;
    };
    t.false(open());
    copyFileSync(path, `${path}.backup`);
    t.false(open());
    rmSync(path);
    copyFileSync(`${path}.backup`, path);
    t.true(open());
    t.false(open());
  },
);

suite('a number that was kept is there again, also for a process that comes after a kill, and none is where none was', (t) => {
  const { path } = t.context;
  const journal = openJournal({ path, codec });
  t.is(journal.findNumber('place'), undefined);
  journal.keepNumber('place', 5);
  journal.keepNumber('place', 2 ** 47 + 1);
  journal.keepNumber('schema_version', 77);
  const copy = leftBehind(path);
  journal.close();
  const next = openJournal({ path: copy, codec });
  t.is(next.findNumber('place'), 2 ** 47 + 1);
  next.close();
});

suite(
  'a journal and the files beside it are for its account alone, also where an earlier release made them otherwise ' +
    'and whatever the umask',
  (t) => {
    const modes = (): number[] =>
      readdirSync(dirname(t.context.path)).map((name) => statSync(join(dirname(t.context.path), name)).mode & 0o077);
    const mask = process.umask(0);
    try {
      let journal = openJournal({ path: t.context.path, codec });
      journal.record([change('promise one')], 1);
      t.true(modes().length >= 2);
      t.deepEqual(new Set(modes()), new Set([0]));
      journal.close();
      chmodSync(t.context.path, 0o644);
      journal = openJournal({ path: t.context.path, codec });
      journal.record([change('promise two')], 2);
      t.deepEqual(new Set(modes()), new Set([0]));
      t.throws(() => openJournal({ path: t.context.path, codec }), { code: 'MUT_ALREADY_RUNNING' });
      t.throws(() => openJournal({ path: t.context.path, codec }), { code: 'MUT_ALREADY_RUNNING' });
      journal.close();
    } finally {
      process.umask(mask);
    }
  },
);
