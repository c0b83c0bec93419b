import type { MachineFacts, MachineReport, Outcome, ReplicaEnd } from '@mutirao/core/messages';
import { anEnd } from './broker.ts';

interface HeldReplica {
  startedAt: number;
}

/** A faked agent: it keeps its own truth of what it runs, by a clock of its own. */
export class BrokerAgent {
  readonly facts: MachineFacts;
  /** Waiting and running, in the order in which they came. */
  readonly replicas = new Map<number, HeldReplica>();
  /** Ended, and perhaps in a report that is not acknowledged. */
  readonly reports: MachineReport[] = [];
  readonly #clockError: number;
  #started: { replicaId: number; startedAt: number }[] = [];
  #ended: ReplicaEnd[] = [];
  #sequence = 0;

  constructor(facts: MachineFacts, clockError = 0) {
    this.facts = facts;
    this.#clockError = clockError;
  }

  /** Takes replicas in and starts what fits. */
  start(replicaIds: readonly number[], now: number): void {
    for (const replicaId of replicaIds) this.replicas.set(replicaId, { startedAt: 0 });
    this.#startFitting(now);
  }

  /** Drops replicas, those that run only unless `onlyWaiting`. */
  cancel(replicaIds: readonly number[], onlyWaiting: boolean, now: number): void {
    for (const replicaId of replicaIds) {
      const replica = this.replicas.get(replicaId);
      if (replica !== undefined && !(onlyWaiting && replica.startedAt !== 0)) this.end(replicaId, 'cancelled', now);
    }
  }

  /** Ends a replica, which may be one that waits only if it is cancelled or broken. */
  end(replicaId: number, outcome: Outcome, now: number): void {
    const replica = this.replicas.get(replicaId);
    if (replica === undefined) return;
    this.replicas.delete(replicaId);
    this.#ended.push(anEnd(replicaId, outcome, { startedAt: replica.startedAt, endedAt: this.#clock(now) }));
    this.#startFitting(now);
  }

  /** The next report, which is kept until it is acknowledged; undefined without news. */
  report(): MachineReport | undefined {
    const started = this.#started.filter(({ replicaId }) => this.replicas.has(replicaId));
    if (started.length === 0 && this.#ended.length === 0) return undefined;
    const report = { sequence: ++this.#sequence, started, ended: this.#ended };
    this.#started = [];
    this.#ended = [];
    this.reports.push(report);
    return report;
  }

  /** Forgets the reports up to that one. */
  acknowledge(sequence: number): void {
    while (this.reports[0] !== undefined && this.reports[0].sequence <= sequence) this.reports.shift();
  }

  /** Waiting, running, or ended and not acknowledged. */
  heldReplicaIds(): number[] {
    const reported = this.reports.flatMap((report) => report.ended.map((end) => end.replicaId));
    return [...this.replicas.keys(), ...this.#ended.map((end) => end.replicaId), ...reported];
  }

  /** Those that run, in the order in which they came. */
  runningIds(): number[] {
    return [...this.replicas].filter(([, replica]) => replica.startedAt !== 0).map(([replicaId]) => replicaId);
  }

  #startFitting(now: number): void {
    let free = this.facts.processors - this.runningIds().length;
    for (const [replicaId, replica] of this.replicas) {
      if (free <= 0) break;
      if (replica.startedAt !== 0) continue;
      replica.startedAt = this.#clock(now);
      this.#started.push({ replicaId, startedAt: replica.startedAt });
      free--;
    }
  }

  /** 1 at least: 0 means that a thing never happened. */
  #clock(now: number): number {
    return Math.max(1, now + this.#clockError);
  }
}
