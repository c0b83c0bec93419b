export type { ChangeCodec, ProjectionDatabase } from './codec.ts';
export { checkJournal, copyJournal, markPutBack, requireUnused } from './copy-journal.ts';
export { findFreshNumber, type NumberSeries } from './fresh-number.ts';
export { readJournalInstance, requirePosition, type JournalPosition } from './journal-instance.ts';
export {
  openJournal,
  type Journal,
  type JournalEntry,
  type JournalOptions,
  type JournalSelection,
  type Snapshot,
} from './journal.ts';
export { journalError } from './sqlite-errors.ts';
