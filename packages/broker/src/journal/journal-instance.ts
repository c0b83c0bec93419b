import { randomInt } from 'node:crypto';

import type { JobId } from '@mutirao/core/shared';
import type { Journal } from '@mutirao/runtime/journal';

/** What tells a journal from those before it, and from the one that it is a back-up of. */
export interface JournalInstance {
  /** Random. */
  readonly name: string;
  /** Jobs from this one on were submitted under it; those before under others, as a back-up keeps them. */
  readonly firstJobId: JobId;
}

/** Names, in the journal, of its instance and of the first job of that. */
const instanceName = 'instance';
const firstJobName = 'instance_first_job';

/**
 * The instance of a journal: another one where the journal is new, or was put back from a back-up, since ids come again then. A host that has started
 * anew keeps it: ids that may have been given are passed over, and what providers did in the meantime is still this journal's.
 *
 * Before `keepHost`, with which it gets to the disk.
 */
export function readInstance(journal: Pick<Journal<unknown>, 'findNumber' | 'keepNumber' | 'isFileNew'>, nextJobId: JobId): JournalInstance {
  const known = journal.isFileNew ? undefined : journal.findNumber(instanceName);
  if (known !== undefined) return { name: known.toString(36), firstJobId: journal.findNumber(firstJobName) ?? 1 };
  const drawn = randomInt(2 ** 47);
  journal.keepNumber(firstJobName, nextJobId);
  journal.keepNumber(instanceName, drawn);
  return { name: drawn.toString(36), firstJobId: nextJobId };
}
