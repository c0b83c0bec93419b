import type { BrokerId } from '@mutirao/core/machines/provider';
import type { UserId } from '@mutirao/core/shared';

/** Whose broker it is: the owner's is known by its own name alone, any other after its user's. */
export function userOfBroker(brokerId: BrokerId, ownerId: UserId): UserId {
  const slash = brokerId.lastIndexOf('/');
  return slash < 0 ? ownerId : brokerId.slice(0, slash);
}
