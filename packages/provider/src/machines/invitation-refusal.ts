import type { Instant } from '@mutirao/core/shared';

/** An invitation as it is remembered after its end. */
export interface EndedInvitation {
  readonly name: string;
  readonly expiresAt: Instant;
  /** Undefined while nothing but time has ended it. */
  readonly endedAt: Instant | undefined;
  readonly endedBy: 'used' | 'replaced' | 'removed' | undefined;
}

/**
 * Says in a sentence why an invitation is refused. @param invitation undefined for one that this provider has not made,
 * or has forgotten.
 */
export function describeRefusal(invitation: EndedInvitation | undefined): string {
  if (invitation === undefined) return 'this provider has made no such invitation, or it ended more than 90 days ago';
  const { name, expiresAt, endedAt, endedBy } = invitation;
  const at = showInstant(endedAt ?? expiresAt);
  switch (endedBy) {
    case 'used':
      return `the invitation of machine ${name} was used at ${at}; an invitation is good once`;
    case 'replaced':
      return `the invitation of machine ${name} is void since ${at}, when another one was made for it`;
    case 'removed':
      return `the invitation of machine ${name} was withdrawn at ${at}`;
    case undefined:
      return `the invitation of machine ${name} expired at ${at}`;
  }
}

function showInstant(instant: Instant): string {
  return new Date(instant).toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
}
