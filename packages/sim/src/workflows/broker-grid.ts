import {
  type BrokerCommand,
  type BrokerInput,
  brokerMachine,
  type BrokerOptions,
  type BrokerState,
  createBrokerState,
} from '@mutirao/core/machines/broker';
import type { JobSpec, MachineFacts, Outcome } from '@mutirao/core/messages';
import {
  invariant,
  type Bytes,
  type Duration,
  type Instant,
  type MachineId,
  type ProcessorCount,
  type ReplicaId,
  type TaskIndex,
} from '@mutirao/core/shared';
import { Kernel } from '../world/kernel.ts';

/** A machine of a simulated grid. */
export interface SimulatedMachine {
  readonly machineId: MachineId;
  readonly processors: ProcessorCount;
  /** Work that it does in a time, above 0; not known to the broker. */
  readonly speed: number;
  /** End of its allocation; left out, it stays. */
  readonly until?: Instant;
}

/**
 * A simulated grid: the broker's own machine, and machines that take as long as they take. Nothing fails but by
 * {@link BrokerGrid.lose}.
 */
export interface BrokerGridSetup {
  readonly machines: readonly SimulatedMachine[];
  /** How long a task takes at speed 1. */
  readonly workOf: (jobId: number, index: TaskIndex) => Duration;
  /** Exit status of a run of a task, 0 by default. */
  readonly statusOf?: (run: {
    readonly jobId: number;
    readonly index: TaskIndex;
    readonly machineId: MachineId;
  }) => number;
  readonly options?: Partial<BrokerOptions>;
  /** Bytes that machines send each other in a millisecond, and what each transfer takes before. */
  readonly bytesPerMilli?: Bytes;
  readonly startUp?: Duration;
}

/** A run of a task, as it was. */
export interface SimulatedRun {
  readonly jobId: number;
  readonly index: TaskIndex;
  readonly machineId: MachineId;
  readonly start: Instant;
  readonly end: Instant;
  readonly outcome: Outcome;
}

interface Replica {
  readonly replicaId: ReplicaId;
  readonly jobId: number;
  readonly index: TaskIndex;
  readonly processors: ProcessorCount;
  startedAt: Instant;
  isOver: boolean;
}

interface Agent {
  readonly facts: MachineFacts;
  readonly speed: number;
  readonly waiting: Replica[];
  readonly running: Map<ReplicaId, Replica>;
  sequence: number;
  isHere: boolean;
}

const provider = 'p';

/**
 * Runs jobs through the broker's state machine in virtual time, without network, journal or faults, so that two
 * schedulers are compared on their decisions alone. A run holds its processors while its inputs are sent from other
 * machines; a machine keeps its outputs.
 */
export class BrokerGrid {
  readonly state: BrokerState;
  readonly kernel = new Kernel(1_000_000);
  readonly runs: SimulatedRun[] = [];
  readonly #setup: BrokerGridSetup;
  readonly #agents = new Map<MachineId, Agent>();
  readonly #specs = new Map<number, JobSpec>();
  /** Where each task that ended well did, by `job.index`. */
  readonly #writtenOn = new Map<string, MachineId>();
  /** Bytes by `job.from.to`. */
  readonly #incoming = new Map<number, { readonly from: TaskIndex; readonly data: Bytes }[][]>();
  readonly #pending: BrokerInput[] = [];
  #isTurnDue = false;
  /** Real time spent in the broker's steps, in milliseconds; the caller's clock adds to it. */
  stepCount = 0;

  constructor(setup: BrokerGridSetup) {
    this.#setup = setup;
    this.state = createBrokerState(setup.options ?? {});
    this.#deliver(
      { kind: 'ProviderAdded', replyTo: 0, providerId: provider, address: 'h:1' },
      { kind: 'ProviderConnected', providerId: provider },
      { kind: 'ProviderSynced', providerId: provider },
    );
    for (const machine of setup.machines) this.join(machine);
  }

  get now(): Instant {
    return this.kernel.now;
  }

  /** A machine comes. */
  join({ machineId, processors, speed, until }: SimulatedMachine): void {
    const facts: MachineFacts = {
      machineId: `${provider}/${machineId}`,
      incarnation: `${this.now}`,
      processors,
      attributes: {},
      until,
      requestId: until === undefined ? '' : 'q1',
    };
    this.#agents.set(facts.machineId, { facts, speed, waiting: [], running: new Map(), sequence: 0, isHere: true });
    this.#deliver({ kind: 'MachineJoined', providerId: provider, facts, heldReplicaIds: [] });
    if (until !== undefined)
      this.kernel.at(until, () => {
        this.lose(machineId);
      });
  }

  /** A machine leaves, with what it runs. */
  lose(machineId: string): void {
    const agent = this.#agents.get(`${provider}/${machineId}`);
    if (agent?.isHere !== true) return;
    agent.isHere = false;
    for (const replica of agent.running.values()) replica.isOver = true;
    agent.running.clear();
    agent.waiting.length = 0;
    this.#deliver({ kind: 'MachineLost', machineId: agent.facts.machineId, reason: 'MUT_MACHINE_LOST' });
  }

  /** A job arrives. */
  submit(spec: JobSpec): void {
    const jobId = this.state.nextJobId + this.#pending.filter(({ kind }) => kind === 'JobSubmitted').length;
    this.#specs.set(jobId, spec);
    const incoming: { from: TaskIndex; data: Bytes }[][] = [];
    for (const { from, to, data = 0 } of spec.edges ?? []) (incoming[to] ??= []).push({ from, data });
    this.#incoming.set(jobId, incoming);
    this.#deliver({ kind: 'JobSubmitted', replyTo: 0, userId: 'ann', clientJobId: '', spec });
  }

  /** Delivers any other input. */
  receive(input: BrokerInput): void {
    this.#deliver(input);
  }

  /** Goes on until all jobs have ended, or `end`. */
  run(end: Instant = 1e13): void {
    while (this.now < end) {
      this.kernel.runUntil(Math.min(end, this.now + 3_600_000));
      if (this.state.openJobs.size === 0 && this.#pending.length === 0) return;
    }
  }

  #deliver(...inputs: BrokerInput[]): void {
    this.#pending.push(...inputs);
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    this.kernel.after(0, () => {
      this.#turn();
    });
  }

  #turn(): void {
    this.#isTurnDue = false;
    this.stepCount += 1;
    const { commands } = brokerMachine.step(this.state, this.#pending.splice(0), this.now);
    for (const command of commands) this.#perform(command);
  }

  #perform(command: BrokerCommand): void {
    switch (command.kind) {
      case 'Reply':
        invariant(command.reply.ok, `the broker refuses: ${command.reply.ok ? '' : command.reply.fault.code}`);
        break;
      case 'WakeAt':
        this.kernel.at(command.at, () => {
          this.#deliver({ kind: 'TimerFired' });
        });
        break;
      case 'StartReplicas':
        this.#start(command);
        break;
      case 'CancelReplicas':
        for (const id of command.replicaIds) this.#cancel(this.#agents.get(command.machineId), id, command.onlyWaiting);
        break;
      case 'AcceptResult':
        this.#deliver({ kind: 'ResultAccepted', replicaId: command.replicaId });
        break;
      default:
        break;
    }
  }

  #start({ machineId, jobId, starts }: Extract<BrokerCommand, { kind: 'StartReplicas' }>): void {
    const agent = this.#agents.get(machineId);
    if (agent?.isHere !== true) return;
    const { processors = 1 } = this.#specs.get(jobId) ?? {};
    for (const { replicaId, taskIndex } of starts)
      agent.waiting.push({ replicaId, jobId, index: taskIndex, processors, startedAt: 0, isOver: false });
    this.#fill(agent);
  }

  /** Starts what there are processors for, in order. */
  #fill(agent: Agent): void {
    const started: { replicaId: ReplicaId; startedAt: Instant }[] = [];
    for (let next = agent.waiting[0]; next !== undefined; next = agent.waiting[0]) {
      let held = next.processors;
      for (const { processors } of agent.running.values()) held += processors;
      if (held > agent.facts.processors) break;
      const replica = next;
      agent.waiting.shift();
      agent.running.set(replica.replicaId, replica);
      replica.startedAt = this.now;
      started.push({ replicaId: replica.replicaId, startedAt: this.now });
      const time =
        this.#stagingTime(agent, replica) + Math.ceil(this.#setup.workOf(replica.jobId, replica.index) / agent.speed);
      const status =
        this.#setup.statusOf?.({ jobId: replica.jobId, index: replica.index, machineId: agent.facts.machineId }) ?? 0;
      this.kernel.after(time, () => {
        if (!replica.isOver) this.#end(agent, replica, status === 0 ? 'succeeded' : 'failed');
      });
    }
    if (started.length > 0) this.#report(agent, { started, ended: [] });
  }

  #stagingTime({ facts: { machineId } }: Agent, { jobId, index }: Replica): Duration {
    const { bytesPerMilli = 125_000, startUp = 10 } = this.#setup;
    let time = 0;
    for (const { from, data } of this.#incoming.get(jobId)?.[index] ?? []) {
      if (data > 0 && this.#writtenOn.get(`${jobId}.${from}`) !== machineId) time += startUp + data / bytesPerMilli;
    }
    return Math.ceil(time);
  }

  #cancel(agent: Agent | undefined, replicaId: ReplicaId, onlyWaiting: boolean): void {
    if (agent?.isHere !== true) return;
    const waiting = agent.waiting.findIndex((replica) => replica.replicaId === replicaId);
    const [replica] = waiting >= 0 ? agent.waiting.splice(waiting, 1) : [agent.running.get(replicaId)];
    if (replica !== undefined && (waiting >= 0 || !onlyWaiting)) this.#end(agent, replica, 'cancelled');
  }

  #end(agent: Agent, replica: Replica, outcome: Outcome): void {
    const { replicaId, jobId, index, startedAt } = replica;
    replica.isOver = true;
    agent.running.delete(replicaId);
    if (startedAt > 0)
      this.runs.push({ jobId, index, machineId: agent.facts.machineId, start: startedAt, end: this.now, outcome });
    if (outcome === 'succeeded') this.#writtenOn.set(`${jobId}.${index}`, agent.facts.machineId);
    this.#report(agent, {
      started: [],
      ended: [
        {
          replicaId,
          outcome,
          exitStatus: outcome === 'succeeded' ? 0 : 1,
          startedAt,
          endedAt: this.now,
          reason: outcome === 'failed' ? 'MUT_TASK_FAILED' : outcome === 'cancelled' ? 'MUT_CANCELLED' : '',
          detail: '',
          standardOutput: new Uint8Array(0),
          standardError: new Uint8Array(0),
          outputTruncated: false,
          outputs: [],
        },
      ],
    });
    this.#fill(agent);
  }

  #report(
    agent: Agent,
    { started, ended }: Pick<Extract<BrokerInput, { kind: 'MachineReported' }>['report'], 'started' | 'ended'>,
  ): void {
    agent.sequence += 1;
    this.#deliver({
      kind: 'MachineReported',
      machineId: agent.facts.machineId,
      report: { sequence: agent.sequence, started, ended },
    });
  }
}
