import { MutiraoError } from '@mutirao/api/errors';
import { conservativeBackfilling, easyBackfilling, firstComeFirstServed, type QueuePolicy } from '@mutirao/core/queue';
import { readWord } from './numbers.ts';

/** Makes the queue policy that the user names. @throws {MutiraoError} MUT_BAD_REQUEST for an unknown one. */
export function findPolicy(policy: string, variant: string | undefined): QueuePolicy {
  const name = readWord('--policy', policy, ['fcfs', 'easy', 'conservative']);
  if (name !== 'conservative' && variant !== undefined) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--variant is "${variant}"; expected none with --policy ${name}, which compresses nothing`,
    );
  }
  switch (name) {
    case 'fcfs':
      return firstComeFirstServed;
    case 'easy':
      return easyBackfilling;
    case 'conservative':
      return conservativeBackfilling(readWord('--variant', variant ?? 'start-now', ['start-now', 'reinsert']));
  }
}
