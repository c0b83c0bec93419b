import type { MachineFacts } from '@mutirao/core/messages';

/** The attribute of machines that share the file system and the account of the broker's home folder. */
export const sharedHomeAttribute = 'sharedhome';

/** States in a machine's attributes whether it has found the token of our home folder; nothing that the machine says of that itself is believed. */
export function stateSharedHome(facts: MachineFacts, homeToken: string): MachineFacts {
  const isShared = homeToken !== '' && facts.sharedTokens?.includes(homeToken) === true;
  const { [sharedHomeAttribute]: _said, ...attributes } = facts.attributes;
  return { ...facts, attributes: isShared ? { ...attributes, [sharedHomeAttribute]: 'yes' } : attributes };
}
