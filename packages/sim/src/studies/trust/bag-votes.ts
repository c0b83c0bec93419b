import type { Verification } from '@mutirao/core/messages';
import {
  credibilityOfGroups, credibilityOfMachine, decideByCredibility, decideByMajority, defaultCredibilityRules, groupVotes, isSpotCheck, type Decision, type Vote,
} from '@mutirao/core/trust';

/** As the broker's defaults. */
const spotCheckRate = 0.05;
const certainty = 0.99;
const evidenceMax = 3;

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
  readonly caught = new Set<string>();
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
    if (this.#verification.kind !== 'credibility') return votes[0] === undefined ? { kind: 'open', votesMissing: 1 } : { kind: 'accepted', digest: votes[0].digest };
    const votesMin = isSpotCheck({ jobId: 1, taskIndex: task.index }, { rate: spotCheckRate, secret: this.#seed }) ? 2 : 1;
    return decideByCredibility(votes, { threshold: this.#verification.threshold, votesMin }, { rules: defaultCredibilityRules, credibilityOf: (voter) => this.#credibilityOf(voter) });
  }

  /** Takes a result: who brought it is confirmed, and who did not is held to account. Returns who is caught. */
  accept(task: VotedTask, digest: string): string[] {
    task.accepted = digest;
    const groups = groupVotes(task.votes);
    const [taken, credibility = 0] = [groups.findIndex((group) => group.digest === digest), this.#credibilityOfTaken(groups, digest)];
    const voters = groups[taken]?.voters ?? [];
    if (voters.length > 1) for (const voter of voters) this.#passes.set(voter, (this.#passes.get(voter) ?? 0) + 1);
    const outvoted = groups.filter((group) => group.digest !== digest).flatMap((group) => group.voters);
    return outvoted.filter((voter) => this.#hold(voter, voters.length > 1 && credibility >= certainty));
  }

  #credibilityOfTaken(groups: ReturnType<typeof groupVotes>, digest: string): number | undefined {
    return credibilityOfGroups(groups, (voter) => this.#credibilityOf(voter))[groups.findIndex((group) => group.digest === digest)];
  }

  #hold(voter: string, isCertain: boolean): boolean {
    const count = (this.#evidence.get(voter) ?? 0) + 1;
    this.#evidence.set(voter, count);
    if (this.caught.has(voter) || !(isCertain || count >= evidenceMax)) return false;
    this.caught.add(voter);
    return true;
  }

  #credibilityOf(voter: string): number {
    return credibilityOfMachine(this.#passes.get(voter) ?? 0, defaultCredibilityRules);
  }
}
