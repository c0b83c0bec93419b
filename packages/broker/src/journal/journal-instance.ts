import type { JobId } from '@mutirao/core/shared';
import { readJournalInstance, type Journal } from '@mutirao/runtime/journal';

/** Identifies a journal among those before it and the one that it is a back-up of. */
export interface JournalInstance {
  /** Random. */
  readonly name: string;
  /** Jobs from this one on were submitted under it; those before under others, as a back-up keeps them. */
  readonly firstJobId: JobId;
}

/** Name, in the journal, of the first job of its instance. */
const firstJobName = 'instance_first_job';

/**
 * The instance of a journal: another one where the journal is new, or was put back from a back-up, since ids come again
 * then. A host that has started again keeps it: ids that may have been given are passed over, and what providers did in
 * the meantime is still this journal's.
 *
 * Before `keepHost`, with which it gets to the disk.
 */
export function readInstance(
  journal: Pick<Journal<unknown>, 'findNumber' | 'keepNumber' | 'isFileNew'>,
  nextJobId: JobId,
): JournalInstance {
  const { name, isNew } = readJournalInstance(journal);
  if (!isNew) return { name, firstJobId: journal.findNumber(firstJobName) ?? 1 };
  journal.keepNumber(firstJobName, nextJobId);
  return { name, firstJobId: nextJobId };
}
