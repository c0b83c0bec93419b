import type { ChangeOf, ReplicaDisposition } from '@mutirao/core/machines/broker';
import type { MachineFacts } from '@mutirao/core/messages';
import { invariant, type MachineId, type ReplicaId } from '@mutirao/core/shared';
import type { JobPlan } from '../scenario.ts';
import { isVoted } from '../truth.ts';
import { believeMachine, believeResult } from './belief.ts';

/** A run as the journal describes it. */
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

/** What was decided of a task, by the credit of before. */
interface WrittenDecision {
  readonly digest: string;
  readonly credibility: number;
  readonly agreeing: number;
  readonly outvoted: ReadonlySet<string>;
}

/** As the broker's defaults. */
const rules = { certainty: 0.99, evidenceMax: 3, credibleVotesMax: 15 };
/** Sums in another order differ by up to this. */
const rounding = 1e-9;

/** Counts the votes of a journal once more, by its own rules. */
export class VoteOracle {
  readonly #identities = new Map<MachineId, string>();
  readonly #quarantined = new Set<string>();
  /** By identity: results that another confirmed. */
  readonly #passes = new Map<string, number>();
  /** By identity and kind: pieces of evidence. */
  readonly #evidence = new Map<string, Map<string, number>>();
  readonly #runs = new Map<ReplicaId, WrittenRun & { readonly identity: string }>();
  readonly #votes = new Map<string, WrittenVote[]>();
  /** By task: the most votes that it may have, including those of siblings beyond the wanted runs. */
  readonly #votesMax = new Map<string, number>();
  readonly #decisions = new Map<string, WrittenDecision>();

  onJoined({ machineId, identity = machineId }: MachineFacts): void {
    this.#identities.set(machineId, identity);
  }

  /**
   * A convicted machine deserves it, by the credit from before the vote or by the number of times, and one that
   * deserves it is convicted.
   */
  onEvidence({ identity, isQuarantined, evidence }: ChangeOf<'EvidenceNoted'>): void {
    const counts = this.#evidence.get(identity) ?? new Map<string, number>();
    this.#evidence.set(identity, counts);
    const count = (counts.get(evidence.kind) ?? 0) + 1;
    counts.set(evidence.kind, count);
    const certainty = this.#certaintyOf(identity, evidence);
    if (Math.abs(certainty - rules.certainty) > rounding) {
      const isDeserved = certainty >= rules.certainty || count >= rules.evidenceMax;
      invariant(
        isQuarantined === isDeserved,
        `${identity} is ${isQuarantined ? '' : 'not '}caught with certainty ${certainty} and ${count} pieces of ` +
          `evidence (${evidence.kind})`,
      );
    }
    if (isQuarantined) this.#quarantined.add(identity);
  }

  /** Of what speaks against a machine; of votes it is what they said by the credit of before. */
  #certaintyOf(
    identity: string,
    { kind, jobId, taskIndex, digest, acceptedDigest }: ChangeOf<'EvidenceNoted'>['evidence'],
  ): number {
    if (kind !== 'outvoted') return kind === 'word' ? 1 : 0;
    const decision = this.#decisions.get(`${jobId}.${taskIndex}`);
    invariant(digest !== acceptedDigest, `${identity} is said to have lied where it agreed`);
    invariant(
      decision?.digest === acceptedDigest && decision.outvoted.has(identity),
      `${identity} is said to be outvoted on task ${taskIndex} of job ${jobId}, and was not`,
    );
    return decision.agreeing > 1 ? decision.credibility : 0;
  }

  /** It begins as an unknown machine. */
  resetTrust(identity: string): void {
    this.#quarantined.delete(identity);
    this.#passes.delete(identity);
    this.#evidence.delete(identity);
  }

  /** Nothing goes to a machine that was caught, under whatever name. */
  onPlaced(
    replicaId: ReplicaId,
    run: WrittenRun,
    { replicasMax, isAdopted }: { readonly replicasMax: number; readonly isAdopted: boolean },
  ): void {
    const identity = this.#identities.get(run.machineId) ?? run.machineId;
    invariant(!this.#quarantined.has(identity), `r${replicaId} is placed on ${run.machineId}, which was caught`);
    if (!isVoted(run.plan)) return;
    this.#runs.set(replicaId, { ...run, identity });
    const { voteCount = 0, credibility = 0 } = run.plan;
    const most =
      this.#votesMax.get(run.task) ?? (credibility > 0 ? rules.credibleVotesMax : 2 * voteCount + 1) + replicasMax - 1;
    this.#votesMax.set(run.task, isAdopted ? most + 1 : most);
  }

  /** Each machine has one vote, and there are not more of them than are wanted. */
  onVote(replicaId: ReplicaId, digest: string): void {
    const run = this.#runs.get(replicaId);
    invariant(run, `r${replicaId} votes, and was not placed for a task that is voted on`);
    const votes = this.#votes.get(run.task) ?? [];
    this.#votes.set(run.task, votes);
    invariant(
      votes.every(({ identity }) => identity !== run.identity),
      `${run.identity} votes twice on task ${run.task}`,
    );
    votes.push({ replicaId, identity: run.identity, digest });
    const most = this.#votesMax.get(run.task) ?? 0;
    invariant(votes.length <= most, `task ${run.task} has ${votes.length} votes, of ${most}`);
  }

  /**
   * All machines that are said to agree do; those that disagree are recorded; and only then those that agree are
   * credited.
   */
  onDecided({ jobId, taskIndex, voters, outvotedCount }: ChangeOf<'TaskDecided'>): void {
    const task = `${jobId}.${taskIndex}`;
    const votes = this.#votes.get(task) ?? [];
    const digest = votes.find(({ identity }) => identity === voters[0])?.digest;
    invariant(digest !== undefined, `task ${task} is decided by ${voters.join(', ')}, who never voted on it`);
    const agreeing = votes.filter((vote) => vote.digest === digest).map(({ identity }) => identity);
    const outvoted = new Set(votes.filter((vote) => vote.digest !== digest).map(({ identity }) => identity));
    invariant(
      agreeing.toSorted().join() === voters.toSorted().join() && outvoted.size === outvotedCount,
      `task ${task} is decided by ${voters.join(', ')}; ${agreeing.join(', ')} agree`,
    );
    const credibility = believeResult(votes, digest, (identity) => believeMachine(this.#passes.get(identity) ?? 0));
    this.#decisions.set(task, { digest, credibility, agreeing: agreeing.length, outvoted });
    if (agreeing.length > 1)
      for (const identity of agreeing) this.#passes.set(identity, (this.#passes.get(identity) ?? 0) + 1);
  }

  /** An accepted result was decided on, has its majority or its credibility, and is not that of a caught machine. */
  onEnded(replicaId: ReplicaId, disposition: ReplicaDisposition): void {
    const run = this.#runs.get(replicaId);
    if (run === undefined) return;
    const votes = this.#votes.get(run.task) ?? [];
    const own = votes.find((vote) => vote.replicaId === replicaId);
    if (disposition === 'accepted') this.#checkTaken(`r${replicaId}`, run, own?.digest);
    this.#runs.delete(replicaId);
    this.#votes.set(
      run.task,
      votes.filter((vote) => vote !== own),
    );
  }

  #checkTaken(
    name: string,
    { task, identity, plan: { voteCount = 0, credibility: wanted = 0 } }: WrittenRun & { readonly identity: string },
    digest: string | undefined,
  ): void {
    const decision = this.#decisions.get(task);
    invariant(
      digest !== undefined && decision?.digest === digest,
      `${name} is taken, and its result was not decided on`,
    );
    const { agreeing, credibility } = decision;
    if (wanted > 0)
      invariant(
        credibility >= wanted - rounding,
        `${name} is taken with credibility ${credibility}, and ${wanted} is wanted`,
      );
    else
      invariant(agreeing >= Math.floor(voteCount / 2) + 1, `${name} is taken with ${agreeing} of ${voteCount} votes`);
    invariant(!this.#quarantined.has(identity), `${name} of ${identity}, which was caught, is taken`);
  }
}
