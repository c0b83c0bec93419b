import type { Journal } from '@mutirao/runtime/journal';

/** The same journal, with timed writes: `observe` receives the seconds of each. */
export function timeJournal<Change>(journal: Journal<Change>, observe: (seconds: number) => void): Journal<Change> {
  return {
    record: (changes, at) => {
      const began = performance.now();
      const sequence = journal.record(changes, at);
      observe((performance.now() - began) / 1000);
      return sequence;
    },
    replay: (after, visit) => {
      journal.replay(after, visit);
    },
    read: (selection) => journal.read(selection),
    lastSequence: () => journal.lastSequence(),
    writeSnapshot: (sequence, body) => {
      journal.writeSnapshot(sequence, body);
    },
    latestSnapshot: () => journal.latestSnapshot(),
    database: journal.database,
    isHostNew: journal.isHostNew,
    isFileNew: journal.isFileNew,
    keepHost: () => {
      journal.keepHost();
    },
    findNumber: (name) => journal.findNumber(name),
    keepNumber: (name, value) => {
      journal.keepNumber(name, value);
    },
    close: () => {
      journal.close();
    },
  };
}
