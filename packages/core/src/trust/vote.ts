/** One result of a task: the machine that brought it, and the digest. */
export interface Vote {
  /** Identity of the machine; votes of one task have different ones. */
  readonly voter: string;
  /** Equal for results that are the same. */
  readonly digest: string;
}

/** What the votes of a task say so far. */
export type Decision =
  /** A digest is the task's result. */
  | { readonly kind: 'accepted'; readonly digest: string }
  /** At least this many further votes are needed, 1 or more. */
  | { readonly kind: 'open'; readonly votesMissing: number }
  /** The limit of votes is reached, and no further ones are asked for. */
  | { readonly kind: 'deadlocked' };

/** Results that are the same. */
export interface VoteGroup {
  readonly digest: string;
  /** In the order of their votes. */
  readonly voters: readonly string[];
}

/** Gathers equal results, in the order in which each digest was first brought. */
export function groupVotes(votes: readonly Vote[]): VoteGroup[] {
  const groups = new Map<string, string[]>();
  for (const { voter, digest } of votes) {
    const voters = groups.get(digest);
    if (voters === undefined) groups.set(digest, [voter]);
    else voters.push(voter);
  }
  return [...groups].map(([digest, voters]) => ({ digest, voters }));
}

/** Equal votes that a majority of `voteCount` takes. @param voteCount 1 or more. */
export function getMajority(voteCount: number): number {
  return Math.floor(voteCount / 2) + 1;
}

/** Votes after which a task without a majority is given up: twice as many as were asked for, and one. */
export function getVotesMax(voteCount: number): number {
  return 2 * voteCount + 1;
}

/**
 * Accepts what more than half of `voteCount` results agree on, as soon as they do.
 *
 * @source Sarmenta, "Sabotage-tolerance mechanisms for volunteer computing systems", Future Generation Computer Systems
 * 18 (2002),
 * section on voting: m-first voting, which accepts the first m results that match, m = floor(voteCount / 2) + 1.
 * Departs from the source: runs that cannot make a majority are not begun, and a task ends as soon as none can be made
 * within `getVotesMax`.
 */
export function decideByMajority(votes: readonly Vote[], voteCount: number): Decision {
  const majority = getMajority(voteCount);
  let most = 0;
  for (const { digest, voters } of groupVotes(votes)) {
    if (voters.length >= majority) return { kind: 'accepted', digest };
    most = Math.max(most, voters.length);
  }
  if (majority - most > getVotesMax(voteCount) - votes.length) return { kind: 'deadlocked' };
  return { kind: 'open', votesMissing: majority - most };
}
