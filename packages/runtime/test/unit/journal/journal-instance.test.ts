import test from 'ava';
import { readJournalInstance, requirePosition } from '@mutirao/runtime/journal';

/** What a journal keeps of its instance. */
function kept(isFileNew: boolean, numbers = new Map<string, number>()) {
  return {
    isFileNew,
    findNumber: (name: string) => numbers.get(name),
    keepNumber: (name: string, value: number) => {
      numbers.set(name, value);
    },
    numbers,
  };
}

test('a journal has one instance for as long as it is the same file', (t) => {
  const first = kept(true);
  const { name, isNew } = readJournalInstance(first);
  t.true(isNew);
  t.deepEqual(readJournalInstance(kept(false, first.numbers)), { name, isNew: false });
  t.not(
    readJournalInstance(kept(true, new Map(first.numbers))).name,
    name,
    'a file that was put back is another journal',
  );
});

test('a position belongs to its journal, and lies within it', (t) => {
  const journal = { lastSequence: () => 2 };
  for (const position of [{ afterSequence: 0 }, { afterSequence: 2 }, { afterSequence: 2, journalInstance: 'a' }])
    t.notThrows(() => {
      requirePosition(position, journal, 'a');
    });
  for (const position of [
    { afterSequence: 3 },
    { afterSequence: 0, journalInstance: 'b' },
    { afterSequence: 3, journalInstance: 'a' },
  ])
    t.throws(
      () => {
        requirePosition(position, journal, 'a');
      },
      { code: 'MUT_JOURNAL_POSITION' },
    );
});
