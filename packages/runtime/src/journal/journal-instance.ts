import { randomInt } from 'node:crypto';
import { MutiraoError } from '@mutirao/api/errors';
import type { Journal } from './journal.ts';

/** Name of the instance in the journal. */
const instanceName = 'instance';

/**
 * The instance of a journal: another one where the journal is new, or was put back from a back-up, since sequences and
 * ids come again then. A host that has started again keeps it.
 *
 * Before `keepHost`, with which it gets to the disk.
 *
 * @returns a random name, and whether it was drawn now.
 */
export function readJournalInstance(journal: Pick<Journal<unknown>, 'findNumber' | 'keepNumber' | 'isFileNew'>): {
  readonly name: string;
  readonly isNew: boolean;
} {
  const known = journal.isFileNew ? undefined : journal.findNumber(instanceName);
  const number = known ?? randomInt(2 ** 47);
  if (known === undefined) journal.keepNumber(instanceName, number);
  return { name: number.toString(36), isNew: known === undefined };
}

/** Where a watcher wants to go on. */
export interface JournalPosition {
  readonly afterSequence: number;
  /** The journal instance that the sequence belongs to; if left out, only the sequence is compared. */
  readonly journalInstance?: string | undefined;
}

/**
 * Refuses a position in another journal or beyond the end of this one: its watcher would receive nothing, or mistake
 * other changes for the rest.
 *
 * @throws {MutiraoError} MUT_JOURNAL_POSITION
 */
export function requirePosition(
  { afterSequence, journalInstance: known }: JournalPosition,
  journal: Pick<Journal<unknown>, 'lastSequence'>,
  instance: string,
): void {
  const last = journal.lastSequence();
  if (known !== undefined && known !== instance)
    throw new MutiraoError(
      'MUT_JOURNAL_POSITION',
      `sequence ${afterSequence} is of journal ${known}; this one is ${instance}, with ${last} changes`,
    );
  if (afterSequence > last)
    throw new MutiraoError(
      'MUT_JOURNAL_POSITION',
      `sequence ${afterSequence} is beyond the end of journal ${instance}, which has ${last} changes`,
    );
}
