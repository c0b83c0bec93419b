// A broker's journal has another instance than those before it, and than its back-ups.
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { openJournal } from '@mutirao/runtime/journal';
import { aJob, temporaryFolder } from '@mutirao/testkit';
import { changeCodec } from '../../../src/journal/change-codec.ts';
import type { JournalInstance } from '../../../src/journal/journal-instance.ts';
import { restoreState } from '../../../src/process/restore-state.ts';

test('a journal keeps its instance, whatever becomes of its host; a new one, and one that is put back from a back-up, have others', (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'journal.sqlite');
  const start = (bootId: number): JournalInstance => {
    const journal = openJournal({ path, codec: changeCodec, bootId });
    const { instance } = restoreState(journal, {});
    journal.close();
    return instance;
  };
  const first = start(1);
  t.deepEqual(start(1), first);
  const journal = openJournal({ path, codec: changeCodec, bootId: 1 });
  journal.record([{ kind: 'JobAccepted', jobId: 4, userId: 'ana', clientJobId: '', spec: aJob(), at: 1 }], 1);
  journal.close();
  t.deepEqual(
    start(2),
    first,
    'ids that may have been given are passed over after a fall of the host: it speaks for the same jobs',
  );
  copyFileSync(path, `${path}.backup`);
  rmSync(path);
  copyFileSync(`${path}.backup`, path);
  const second = start(2);
  t.not(second.name, first.name);
  t.deepEqual(
    [first.firstJobId, second.firstJobId],
    [1, 1_000_005],
    'numbers of jobs that were submitted since the back-up are not given again',
  );
  t.deepEqual(start(2), second);
  rmSync(path);
  t.false([first.name, second.name].includes(start(2).name));
});
