import type { Verification } from '@mutirao/core/messages';
import {
  credibilityOfMachine,
  decideByCredibility,
  decideByMajority,
  defaultConvictionRules,
  defaultCredibilityRules,
  isConvicted,
  isSpotCheck,
  judgeOutvoted,
  type Decision,
  type Vote,
} from '@mutirao/core/trust';

/** As the broker's default. */
const spotCheckRate = 0.05;

/** A task as votes see it. */
export interface VotedTask {
  readonly index: number;
  votes: Vote[];
  /** Empty while it is open. */
  accepted: string;
  /** Runs under way. */
  running: number;
}

/** What a bag's machines have done for their trust: votes, records and convictions, as the broker keeps them. */
export class BagVotes {
  readonly quarantined = new Set<string>();
  readonly #verification: Verification;
  readonly #seed: string;
  readonly #passes = new Map<string, number>();
  readonly #evidence = new Map<string, number>();

  constructor(verification: Verification, seed: string) {
    this.#verification = verification;
    this.#seed = seed;
  }

  /** What a task's votes say. */
  decide(task: VotedTask, votes: readonly Vote[] = task.votes): Decision {
    if (this.#verification.kind === 'vote') return decideByMajority(votes, this.#verification.count);
    if (this.#verification.kind !== 'credibility')
      return votes[0] === undefined ? { kind: 'open', votesMissing: 1 } : { kind: 'accepted', digest: votes[0].digest };
    const votesMin = isSpotCheck({ jobId: 1, taskIndex: task.index }, { rate: spotCheckRate, secret: this.#seed })
      ? 2
      : 1;
    return decideByCredibility(
      votes,
      { threshold: this.#verification.threshold, votesMin },
      { rules: defaultCredibilityRules, getCredibility: (voter) => this.#getCredibility(voter) },
    );
  }

  /** Accepts a result: confirms the machines that brought it, and judges the others. Returns the caught ones. */
  accept(task: VotedTask, digest: string): string[] {
    task.accepted = digest;
    const { isCertain } = judgeOutvoted(task.votes, digest, {
      rules: defaultConvictionRules,
      getCredibility: (voter) => this.#getCredibility(voter),
    });
    const voters = task.votes.filter((vote) => vote.digest === digest).map(({ voter }) => voter);
    if (voters.length > 1) for (const voter of voters) this.#passes.set(voter, (this.#passes.get(voter) ?? 0) + 1);
    const outvoted = task.votes.filter((vote) => vote.digest !== digest).map(({ voter }) => voter);
    return outvoted.filter((voter) => this.#hold(voter, isCertain));
  }

  #hold(voter: string, isCertain: boolean): boolean {
    const evidenceCount = (this.#evidence.get(voter) ?? 0) + 1;
    this.#evidence.set(voter, evidenceCount);
    if (this.quarantined.has(voter) || !isConvicted({ isCertain, evidenceCount }, defaultConvictionRules)) return false;
    this.quarantined.add(voter);
    return true;
  }

  #getCredibility(voter: string): number {
    return credibilityOfMachine(this.#passes.get(voter) ?? 0, defaultCredibilityRules);
  }
}
