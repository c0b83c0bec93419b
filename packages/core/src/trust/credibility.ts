import { type Decision, groupVotes, type Vote, type VoteGroup } from './vote.ts';

/** Euler's number, to which no logarithm or power is taken here. */
const euler = 2.718281828459045;

/** How results are believed. */
export interface CredibilityRules {
  /** Share of machines that may bring wrong results, at most; in (0, 0.5). */
  readonly faultyShareMax: number;
  /** Whether a machine that was caught brings no further results. */
  readonly quarantines: boolean;
  /** Votes after which a task is given up. */
  readonly votesMax: number;
}

/** The broker's default rules. */
export const defaultCredibilityRules: CredibilityRules = { faultyShareMax: 0.2, quarantines: true, votesMax: 15 };

/**
 * The lower bound of the probability that a result of a machine is right, after it passed `passes` checks and failed
 * none.
 *
 * @source Sarmenta 2002 (see `decideByMajority`), credibility of a worker P that passed k spot-checks:
 * CrP(P, k) = 1 - f / ((1 - f) k e) where those that fail one are blacklisted, CrP(P, k) = 1 - f / k where they are
 * not, and
 * CrP(P, 0) = 1 - f. Symbols: f = `faultyShareMax`, k = `passes`, e = Euler's number.
 * Departs from the source: no. With f < 0.5 neither bound is below CrP(P, 0) at any k >= 1.
 * @returns in [1 - f, 1), not falling as `passes` grows.
 */
export function credibilityOfMachine(passes: number, { faultyShareMax, quarantines }: CredibilityRules): number {
  if (passes < 1) return 1 - faultyShareMax;
  const doubt = quarantines ? faultyShareMax / ((1 - faultyShareMax) * passes * euler) : faultyShareMax / passes;
  return 1 - doubt;
}

/**
 * The probability of each group of equal results to be the right one, given that these are the results.
 *
 * @source Sarmenta 2002 (see `decideByMajority`), credibility of a result group G_a:
 * CrG(G_a) = P(G_a good) prod_(i != a) P(G_i bad) / (prod_j P(G_j bad) + sum_j P(G_j good) prod_(i != j) P(G_i bad)),
 * with
 * P(G good) = prod CrR and P(G bad) = prod (1 - CrR) over its results; CrR of a result is the credibility of its
 * machine.
 * Departs from the source: no.
 * @returns in the order of `groups`.
 */
export function credibilityOfGroups(groups: readonly VoteGroup[], getCredibility: (voter: string) => number): number[] {
  const parts = groups.map(({ voters }) => {
    let good = 1;
    let bad = 1;
    for (const voter of voters) {
      const credibility = getCredibility(voter);
      good *= credibility;
      bad *= 1 - credibility;
    }
    return { good, bad };
  });
  const onlyRight = parts.map(({ good }, index) =>
    parts.reduce((product, { bad }, other) => (other === index ? product : product * bad), good),
  );
  const total = onlyRight.reduce(
    (sum, value) => sum + value,
    parts.reduce((product, { bad }) => product * bad, 1),
  );
  return onlyRight.map((value) => (total > 0 ? value / total : 0));
}

/** The greatest credibility of a result from unknown machines: when all that may vote agree. */
export function getCredibilityMax(rules: CredibilityRules): number {
  const voters = Array.from({ length: rules.votesMax }, (_, index) => `m${index}`);
  const [most = 0] = credibilityOfGroups([{ digest: '', voters }], () => credibilityOfMachine(0, rules));
  return most;
}

/** What is wanted of a task's result. */
export interface CredibilityWanted {
  /** In (0, 1); the share of wrong results is meant to stay below the rest to 1. */
  readonly threshold: number;
  /** Equal votes that it takes at least: 2 where the task checks its machines. */
  readonly votesMin: number;
}

/**
 * Accepts the result whose credibility reaches the threshold.
 *
 * @source Sarmenta 2002 (see `decideByMajority`), credibility-based fault tolerance: a work entry is done when the
 *   credibility of its best result group reaches 1 - the acceptable error rate.
 * Departs from the source: enough further runs are asked for at once to decide if unknown machines bring the best
 * result again, so that a task does not wait for one run after the other.
 */
export function decideByCredibility(
  votes: readonly Vote[],
  wanted: CredibilityWanted,
  by: { readonly rules: CredibilityRules; getCredibility(voter: string): number },
): Decision {
  const groups = groupVotes(votes);
  const best = findBest(groups, by.getCredibility);
  if (best !== undefined && best.credibility >= wanted.threshold && best.group.voters.length >= wanted.votesMin) {
    return { kind: 'accepted', digest: best.group.digest };
  }
  if (votes.length >= by.rules.votesMax) return { kind: 'deadlocked' };
  return { kind: 'open', votesMissing: countMissing(groups, best?.group, { wanted, by }) };
}

function findBest(
  groups: readonly VoteGroup[],
  getCredibility: (voter: string) => number,
): { readonly group: VoteGroup; readonly credibility: number } | undefined {
  const credibilities = credibilityOfGroups(groups, getCredibility);
  let best: { readonly group: VoteGroup; readonly credibility: number } | undefined;
  for (const [index, group] of groups.entries()) {
    const credibility = credibilities[index] ?? 0;
    if (best === undefined || credibility > best.credibility) best = { group, credibility };
  }
  return best;
}

interface Ballot {
  readonly wanted: CredibilityWanted;
  readonly by: { readonly rules: CredibilityRules; getCredibility(voter: string): number };
}

/** One before the first vote, which may come from a machine that is believed at once. */
function countMissing(groups: readonly VoteGroup[], best: VoteGroup | undefined, { wanted, by }: Ballot): number {
  if (best === undefined) return 1;
  const unknown = credibilityOfMachine(0, by.rules);
  const newcomers: string[] = [];
  const getCredibility = (voter: string): number => (newcomers.includes(voter) ? unknown : by.getCredibility(voter));
  const voted = groups.reduce((sum, { voters }) => sum + voters.length, 0);
  while (voted + newcomers.length < by.rules.votesMax) {
    newcomers.push(`\n${newcomers.length}`);
    const imagined = groups.map((group) =>
      group === best ? { ...group, voters: [...group.voters, ...newcomers] } : group,
    );
    const found = credibilityOfGroups(imagined, getCredibility)[groups.indexOf(best)] ?? 0;
    if (found >= wanted.threshold && best.voters.length + newcomers.length >= wanted.votesMin) break;
  }
  return newcomers.length;
}
