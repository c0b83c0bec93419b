import {
  type BrokerChange,
  type BrokerCommand,
  type BrokerInput,
  brokerMachine,
  type BrokerOptions,
  type BrokerState,
  createBrokerState,
  findLedger,
  findJobLedger,
  type LedgerRow,
  restore,
  resume,
  snapshot,
} from '@mutirao/core/machines/broker';
import type { JobSpec, MachineFacts, Outcome } from '@mutirao/core/messages';
import { BrokerAgent } from './broker-agent.ts';
import { dumpBroker } from './broker-dump.ts';

const providerId = 'p';

/**
 * A broker with one provider and faked agents, which keeps its own truth and checks the broker's after each step:
 * its
 * invariants, that a task finishes once and for ever, that the ledger adds up, and that a replay of its changes and its
 * snapshots give the same state.
 */
export class BrokerWorld {
  state: BrokerState;
  now = 1_000_000;
  readonly agents = new Map<string, BrokerAgent>();
  readonly changes: BrokerChange[] = [];
  readonly replies: unknown[] = [];
  /** Results that the broker wants brought home. */
  readonly accepting: number[] = [];
  isConnected = false;
  readonly #options: Partial<BrokerOptions>;
  #replayed: BrokerState;
  readonly #finished = new Set<string>();
  #incarnations = 0;
  #isDying = false;
  #checks = 0;

  constructor(options: Partial<BrokerOptions> = {}) {
    this.#options = options;
    this.state = createBrokerState(options);
    this.#replayed = createBrokerState(options);
    this.step({ kind: 'ProviderAdded', replyTo: 0, providerId, address: 'h:1' });
    this.connect();
  }

  /** Takes one step of the broker, does what it commands as far as messages get through, and checks everything. */
  step(...inputs: BrokerInput[]): BrokerCommand[] {
    const { changes, commands } = brokerMachine.step(this.state, inputs, this.now);
    for (const change of changes) this.#note(change);
    for (const command of this.#isDying ? [] : commands) this.#perform(command);
    this.check();
    return commands;
  }

  submit(spec: JobSpec, clientJobId = ''): void {
    this.step({ kind: 'JobSubmitted', replyTo: 1, userId: 'ann', clientJobId, spec });
  }

  join(facts: MachineFacts, clockError = 0): void {
    const agent = new BrokerAgent({ ...facts, incarnation: `i${++this.#incarnations}` }, clockError);
    this.agents.set(facts.machineId, agent);
    if (this.isConnected) this.#report(agent);
  }

  /** The agent goes away with all that it has. */
  lose(machineId: string): void {
    if (this.agents.delete(machineId) && this.isConnected)
      this.step({ kind: 'MachineLost', machineId, reason: 'MUT_MACHINE_LOST' });
  }

  connect(): void {
    if (this.isConnected) return;
    this.isConnected = true;
    this.step({ kind: 'ProviderConnected', providerId });
    for (const agent of this.agents.values()) this.#report(agent);
    this.step({ kind: 'ProviderSynced', providerId });
    for (const agent of this.agents.values()) this.resend(agent.facts.machineId);
  }

  disconnect(): void {
    this.isConnected = false;
    this.step({ kind: 'ProviderDisconnected', providerId, reason: 'gone' });
  }

  /** The broker dies and comes back, from its changes alone or from a snapshot. */
  restart(fromSnapshot: boolean): void {
    this.state = fromSnapshot ? restore(snapshot(this.state), this.#options) : this.#replayed;
    if (!fromSnapshot) {
      this.#replayed = createBrokerState(this.#options);
      for (const change of this.changes) brokerMachine.apply(this.#replayed, change);
    }
    this.isConnected = false;
    this.accepting.length = 0;
    for (const command of resume(this.state, this.now)) this.#perform(command);
  }

  /** The agent reports, and the broker dies after it journaled what follows and before it did anything of it. */
  crashAfterReport(machineId: string, fromSnapshot: boolean): void {
    const report = this.agents.get(machineId)?.report();
    if (report === undefined || !this.isConnected) return;
    this.#isDying = true;
    this.step({ kind: 'MachineReported', machineId, report });
    this.#isDying = false;
    this.restart(fromSnapshot);
  }

  /** Ends a running replica of the agent. */
  end(machineId: string, replicaId: number, outcome: Outcome): void {
    this.agents.get(machineId)?.end(replicaId, outcome, this.now);
  }

  /** The agent reports what is new. */
  report(machineId: string): void {
    const report = this.agents.get(machineId)?.report();
    if (report !== undefined && this.isConnected) this.step({ kind: 'MachineReported', machineId, report });
  }

  /** The agent sends what is not acknowledged once more. */
  resend(machineId: string): void {
    for (const report of [...(this.agents.get(machineId)?.reports ?? [])]) {
      if (this.isConnected) this.step({ kind: 'MachineReported', machineId, report });
    }
  }

  /**
   * Checks all that can be checked from outside, the dearest part now and then. @throws Error at the first
   * contradiction.
   */
  check(): void {
    brokerMachine.checkInvariants(this.state);
    this.#checkLedger();
    if (++this.#checks % 8 === 0) this.checkCopies();
  }

  /** Checks that a replay of the changes and a snapshot promise what the state does; the dearest check. */
  checkCopies(): void {
    const truth = dumpBroker(this.state);
    same(dumpBroker(this.#replayed), truth, 'a replay of the changes gives another state');
    const restored = restore(snapshot(this.state), this.#options);
    brokerMachine.checkInvariants(restored);
    same(dumpBroker(restored), truth, 'a restored snapshot gives another state');
  }

  #checkLedger(): void {
    const rows = findLedger(this.state, this.now);
    for (const row of rows) checkRow(row);
    const shares = [...this.state.jobs.keys()].flatMap((jobId) => findJobLedger(this.state, jobId, this.now) ?? []);
    for (const column of ['used', 'losers', 'killed'] as const) {
      const [whole, parts] = [rows, shares].map((some) => some.reduce((sum, row) => sum + row[column], 0));
      if (whole !== parts) throw new Error(`the jobs' shares of ${column} are ${parts}, the allocations' ${whole}`);
    }
  }

  #report(agent: BrokerAgent): void {
    this.step({ kind: 'MachineJoined', providerId, facts: agent.facts, heldReplicaIds: agent.heldReplicaIds() });
  }

  #note(change: BrokerChange): void {
    this.changes.push(change);
    brokerMachine.apply(this.#replayed, change);
    if (change.kind === 'ReplicasDispatched') {
      for (const index of change.taskIndexes) {
        if (this.#finished.has(`${change.jobId}.${index}`))
          throw new Error(`task ${index} of job ${change.jobId} runs again after it finished`);
      }
    }
    if (change.kind !== 'ReplicasEnded') return;
    for (const { disposition, taskIndex } of change.endings) {
      const task = `${change.jobId}.${taskIndex}`;
      if (disposition !== 'accepted') continue;
      if (this.#finished.has(task)) throw new Error(`task ${taskIndex} of job ${change.jobId} finished twice`);
      this.#finished.add(task);
    }
  }

  #perform(command: BrokerCommand): void {
    if (command.kind === 'Reply') this.replies.push(command.reply);
    if (command.kind === 'AcceptResult') this.accepting.push(command.replicaId);
    if (command.kind === 'StartReplicas' && !this.isConnected)
      throw new Error(`replicas are started on ${command.machineId}, which is out of reach`);
    if ('machineId' in command && this.isConnected) this.#pass(command, this.agents.get(command.machineId));
  }

  /** What the provider passes on to an agent. */
  #pass(command: BrokerCommand, agent: BrokerAgent | undefined): void {
    if (command.kind === 'StartReplicas')
      agent?.start(
        command.starts.map((start) => start.replicaId),
        this.now,
      );
    if (command.kind === 'CancelReplicas') agent?.cancel(command.replicaIds, command.onlyWaiting, this.now);
    if (command.kind === 'AcknowledgeReport') agent?.acknowledge(command.sequence);
  }
}

function same(actual: string, expected: string, message: string): void {
  if (actual !== expected) throw new Error(`${message}:\n${actual}\nnot\n${expected}`);
}

function checkRow(row: LedgerRow): void {
  const { held, used, losers, killed, idle } = row;
  const adds = held === used + losers + killed + idle && Math.min(used, losers, killed, idle) >= 0;
  if (!adds) throw new Error(`the ledger does not add up: ${JSON.stringify(row)}`);
}
