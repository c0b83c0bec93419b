import type { BrokerChange } from '@mutirao/core/machines/broker';
import { invariant, type JobId, type ReplicaId, type TaskIndex } from '@mutirao/core/shared';
import type { SimulatedDisk } from './disk.ts';
import { JournalOracle } from './checks/journal-oracle.ts';
import type { Truth } from './truth.ts';

/** What was said to users, kept by the world: no fall may take it back. */
export class Promises {
  readonly #truth: Truth;
  /** Job ids that were reported to users, by label. */
  readonly #reported = new Map<string, JobId>();
  readonly #labels = new Map<JobId, string>();
  /** Accepted results, by task, as the journal states them. */
  #accepted = new Map<string, ReplicaId>();
  /** Replicas whose results were taken and then doubted, so that another one may be. */
  #doubted: ReplicaId[] = [];
  readonly #ended = new Set<JobId>();
  #book: JournalOracle;

  constructor(truth: Truth) {
    this.#truth = truth;
    this.#book = new JournalOracle(truth);
  }

  /** The user was answered. @throws {InvariantError} when the same submission made another job. */
  reportAccepted(label: string, jobId: JobId): void {
    const before = this.#reported.get(label);
    invariant(
      before === undefined || before === jobId,
      `job "${label}" was accepted as ${before ?? 0} and again as ${jobId}`,
    );
    this.#reported.set(label, jobId);
  }

  jobIdOf(label: string): JobId | undefined {
    return this.#reported.get(label);
  }

  /** The broker's journal is gone, and with it all that was promised. */
  forget(): void {
    this.#reported.clear();
    this.#labels.clear();
    this.#accepted.clear();
    this.#doubted = [];
    this.#ended.clear();
    this.#book = new JournalOracle(this.#truth);
  }

  /** The broker journaled changes; what follows from them may be known outside from now on. */
  receive(changes: readonly BrokerChange[]): void {
    for (const change of changes) this.#onOne(change);
  }

  #onOne(change: BrokerChange): void {
    this.#book.read(change);
    if (change.kind === 'JobAccepted') this.#labels.set(change.jobId, change.clientJobId);
    if (change.kind === 'JobEnded') this.#ended.add(change.jobId);
    if (change.kind === 'ResultsDoubted') this.#doubt(change.jobId, change.taskIndexes);
    if (change.kind !== 'ReplicasEnded') return;
    for (const { replicaId, taskIndex, disposition, outputs } of change.endings) {
      if (disposition !== 'accepted') continue;
      this.#accept(change.jobId, taskIndex, replicaId);
      this.#truth.checkAccepted({
        label: this.#labels.get(change.jobId) ?? '',
        taskIndex,
        replicaId,
        sha256: outputs[0]?.content.sha256,
      });
    }
  }

  #accept(jobId: JobId, taskIndex: TaskIndex, replicaId: ReplicaId): void {
    const key = `${jobId}.${taskIndex}`;
    const before = this.#accepted.get(key);
    invariant(
      before === undefined,
      `task ${taskIndex} of job ${jobId} was accepted from r${before ?? 0} and again from r${replicaId}`,
    );
    this.#accepted.set(key, replicaId);
  }

  /**
   * A broker starts from this disk: promises must be on it. Results that were accepted and not synced may be gone, and
   * their tasks then run again.
   */
  checkDisk(disk: SimulatedDisk<BrokerChange>): void {
    const kept = { jobs: new Set<JobId>(), ended: new Set<JobId>() };
    this.#accepted = new Map();
    this.#doubted = [];
    this.#book = new JournalOracle(this.#truth);
    disk.visitAll((change) => {
      this.#book.read(change);
      if (change.kind === 'JobAccepted') kept.jobs.add(change.jobId);
      if (change.kind === 'JobEnded') kept.ended.add(change.jobId);
      if (change.kind === 'ResultsDoubted') this.#doubt(change.jobId, change.taskIndexes);
      if (change.kind !== 'ReplicasEnded') return;
      for (const { replicaId, taskIndex, disposition } of change.endings)
        if (disposition === 'accepted') this.#accept(change.jobId, taskIndex, replicaId);
    });
    for (const [label, jobId] of this.#reported)
      invariant(kept.jobs.has(jobId), `job ${jobId} ("${label}") was promised and is not in the journal`);
    for (const jobId of this.#ended) invariant(kept.ended.has(jobId), `job ${jobId} had ended and is open again`);
  }

  #doubt(jobId: JobId, taskIndexes: readonly TaskIndex[]): void {
    for (const index of taskIndexes) {
      const replicaId = this.#accepted.get(`${jobId}.${index}`);
      invariant(replicaId !== undefined, `task ${index} of job ${jobId} is doubted, and no result of it was taken`);
      this.#accepted.delete(`${jobId}.${index}`);
      this.#doubted.push(replicaId);
    }
  }

  /** Replicas whose results were ever taken. */
  acceptedReplicaIds(): Iterable<ReplicaId> {
    return [...this.#accepted.values(), ...this.#doubted];
  }

  /** Results that the journal has, doubted ones included. */
  get acceptedCount(): number {
    return this.#accepted.size + this.#doubted.length;
  }
}
