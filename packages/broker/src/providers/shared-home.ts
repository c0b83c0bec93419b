import type { MachineFacts } from '@mutirao/core/messages';
import type { HomeProver } from '@mutirao/runtime/files';

/** The attribute of machines that share the file system and the account of the broker's home folder. */
export const sharedHomeAttribute = 'sharedhome';

/**
 * States in a machine's attributes whether it has the key of our home folder; nothing else that the machine says of
 * that is believed. Its marks are kept in no record.
 */
export function stateSharedHome(reported: MachineFacts, prover: Pick<HomeProver, 'isMarked'>): MachineFacts {
  const isShared = prover.isMarked(reported);
  const { homeMarks: _marks, ...facts } = reported;
  const { [sharedHomeAttribute]: _said, ...attributes } = facts.attributes;
  return { ...facts, attributes: isShared ? { ...attributes, [sharedHomeAttribute]: 'yes' } : attributes };
}
