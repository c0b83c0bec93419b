import type { ChangeOf, ReplicaFate } from '@mutirao/core/machines/broker';
import type { MachineFacts } from '@mutirao/core/messages';
import { invariant, type MachineId, type ReplicaId } from '@mutirao/core/shared';
import type { JobPlan } from '../scenario.ts';
import { isVoted } from '../truth.ts';

/** A run as the journal tells of it. */
interface WrittenRun {
  readonly machineId: MachineId;
  /** Job and index. */
  readonly task: string;
  readonly plan: JobPlan;
}

interface WrittenVote {
  readonly replicaId: ReplicaId;
  readonly identity: string;
  readonly digest: string;
}

/** Votes that a task may have beyond those that decide it: of runs that were under way. */
const lateVotesMax = 8;

/** Counts the votes of a journal once more, by its own rules. */
export class VoteBook {
  readonly #identities = new Map<MachineId, string>();
  readonly #caught = new Set<string>();
  readonly #runs = new Map<ReplicaId, WrittenRun & { readonly identity: string }>();
  readonly #votes = new Map<string, WrittenVote[]>();

  hearJoined({ machineId, identity = machineId }: MachineFacts): void {
    this.#identities.set(machineId, identity);
  }

  hearEvidence({ identity, isCaught, evidence }: ChangeOf<'EvidenceNoted'>): void {
    if (isCaught) this.#caught.add(identity);
    invariant(evidence.kind !== 'outvoted' || evidence.digest !== evidence.acceptedDigest, `${identity} is said to have lied where it agreed`);
  }

  pardon(identity: string): void {
    this.#caught.delete(identity);
  }

  /** Nothing goes to a machine that was caught, under whatever name. */
  hearPlaced(replicaId: ReplicaId, run: WrittenRun): void {
    const identity = this.#identities.get(run.machineId) ?? run.machineId;
    invariant(!this.#caught.has(identity), `r${replicaId} is placed on ${run.machineId}, which was caught`);
    if (isVoted(run.plan)) this.#runs.set(replicaId, { ...run, identity });
  }

  /** Each machine has one vote, and there are not more of them than are wanted. */
  hearVote(replicaId: ReplicaId, digest: string): void {
    const run = this.#runs.get(replicaId);
    invariant(run, `r${replicaId} votes, and was not placed for a task that is voted on`);
    const votes = this.#votes.get(run.task) ?? [];
    this.#votes.set(run.task, votes);
    invariant(votes.every(({ identity }) => identity !== run.identity), `${run.identity} votes twice on task ${run.task}`);
    votes.push({ replicaId, identity: run.identity, digest });
    const { voteCount = 0, credibility = 0 } = run.plan;
    const most = (credibility > 0 ? 15 : 2 * voteCount + 1) + lateVotesMax;
    invariant(votes.length <= most, `task ${run.task} has ${votes.length} votes, of ${most}`);
  }

  /** What is taken has a majority, and is not the word of one that was caught. */
  hearEnded(replicaId: ReplicaId, fate: ReplicaFate): void {
    const run = this.#runs.get(replicaId);
    if (run === undefined) return;
    const votes = this.#votes.get(run.task) ?? [];
    const own = votes.find((vote) => vote.replicaId === replicaId);
    if (fate === 'accepted') {
      const { voteCount = 0, credibility = 0 } = run.plan;
      const equal = votes.filter(({ digest }) => digest === own?.digest).length;
      const wanted = credibility > 0 ? 1 : Math.floor(voteCount / 2) + 1;
      invariant(own !== undefined && equal >= wanted, `r${replicaId} is taken with ${equal} votes, and ${wanted} are wanted`);
      invariant(!this.#caught.has(run.identity), `r${replicaId} of ${run.identity}, which was caught, is taken`);
    }
    this.#runs.delete(replicaId);
    this.#votes.set(run.task, votes.filter((vote) => vote !== own));
  }
}
