import { credibilityOfGroups } from './credibility.ts';
import { groupVotes, type Vote } from './vote.ts';

/** When a machine is caught. */
export interface ConvictionRules {
  /** Credibility of what outvoted it from which on one is enough. */
  readonly certainty: number;
  /** Pieces of evidence of one kind that convict a machine, however weak each is. */
  readonly evidenceMax: number;
}

/** The broker's default rules. */
export const defaultConvictionRules: ConvictionRules = { certainty: 0.99, evidenceMax: 3 };

/** What an accepted result says of the machines that brought another one. */
export interface Verdict {
  /** The probability that what is taken is right. */
  readonly certainty: number;
  /** Whether that alone convicts them. */
  readonly isCertain: boolean;
}

/**
 * Judges the machines that disagree with an accepted result.
 *
 * The word of one machine, however trusted, never convicts another.
 *
 * @param by.getCredibility the credibility of each voter before this vote: the credit that the vote gives must not
 *   speak for itself.
 */
export function judgeOutvoted(
  votes: readonly Vote[],
  taken: string,
  by: { readonly rules: ConvictionRules; getCredibility(voter: string): number },
): Verdict {
  const groups = groupVotes(votes);
  const index = groups.findIndex(({ digest }) => digest === taken);
  const certainty = credibilityOfGroups(groups, by.getCredibility)[index] ?? 0;
  const voterCount = groups[index]?.voters.length ?? 0;
  return { certainty, isCertain: voterCount > 1 && certainty >= by.rules.certainty };
}

/** Whether evidence convicts a machine: because it is certain, or because enough of its kind has accumulated. */
export function isConvicted(
  { isCertain, evidenceCount }: { readonly isCertain: boolean; readonly evidenceCount: number },
  { evidenceMax }: ConvictionRules,
): boolean {
  return isCertain || evidenceCount >= evidenceMax;
}
