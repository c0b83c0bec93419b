import {
  agentMachine,
  createAgentState,
  listHeldReplicas,
  type AgentCommand,
  type AgentInput,
  type AgentState,
  type HeldReplica,
  type Verdict,
} from '@mutirao/core/machines/agent';
import type { Content, MachineFacts } from '@mutirao/core/messages';
import { movedBy, unreachable, type Duration, type Instant, type Prng } from '@mutirao/core/shared';
import { Life, type Host } from './host.ts';
import { Link } from './link.ts';
import { MachineProcess } from './machine-process.ts';
import type { FromAgent, ToAgent } from './messages.ts';
import type { StreamEnd } from './network.ts';
import { drawTime } from './pace.ts';
import type { LabMachinePlan, SabotagePlan } from './scenario.ts';
import type { Surroundings } from './surroundings.ts';
import { isVoted, leftByFailed } from './truth.ts';

/** What an agent's process is started with. */
export interface AgentSetup {
  readonly world: Surroundings;
  readonly host: Host;
  /** As its turns name it. */
  readonly name: string;
  readonly facts: MachineFacts;
  /** What it really has in addition to processors; left out for nothing. */
  readonly has?: LabMachinePlan['has'] | undefined;
  readonly speed: number;
  readonly isLiar: boolean;
  readonly sabotage?: SabotagePlan | undefined;
  readonly rng: Prng;
  dial(life: Life): StreamEnd<FromAgent, ToAgent>;
  /** The process has ended. */
  onEnd(exitStatus: number): void;
}

type WorkCommand = Exclude<AgentCommand, { readonly kind: 'Reply' | 'WakeAt' }>;

/** As in the live agent. */
const orphanTimeout: Duration = 600_000;
const finalCodes = new Set([
  'MUT_UNAUTHENTICATED',
  'MUT_ALLOCATION_ENDED',
  'MUT_WALLTIME_ENDED',
  'MUT_RELEASED',
  'MUT_MACHINE_NAME_TAKEN_OVER',
]);
const killGrace: Duration = 5000;
/**
 * Between the signals of a manager to the tasks of an agent and to the agent itself; shorter than ends are held back.
 */
const signalSpread: Duration = 200;
/** What an agent says of a replica whose files had no room. */
const tooGreedy: Verdict = { outcome: 'limited', reason: 'MUT_MEMORY_MAX', detail: 'too much simulated memory' };
const noSpace: Verdict = { outcome: 'broken', reason: 'MUT_NO_SPACE', detail: 'no space left on the simulated disk' };

/** One run of an agent, with the tasks that it runs. */
export class AgentProcess {
  readonly life: Life;
  readonly #setup: AgentSetup;
  readonly #process: MachineProcess<AgentState, AgentInput, never, AgentCommand>;
  readonly #link: Link<FromAgent, ToAgent>;
  /** Contents that are here. */
  readonly #stored = new Set<string>();
  /** Contents that replicas need. */
  readonly #pinned = new Set<string>();
  readonly #choreRng: Prng;
  readonly #running = new Map<number, { readonly replica: HeldReplica; finish(): void }>();
  #orphanedSince: number;
  /** When its allocation ends, by its own clock. */
  #until: Instant | undefined;
  /** Of a process that falls; another one where it ends by itself. */
  #exitStatus = 137;

  constructor(setup: AgentSetup) {
    this.#setup = setup;
    const { world, host, facts, rng } = setup;
    const { kernel } = world;
    this.#choreRng = rng.fork('chores');
    this.#until = facts.until;
    this.life = new Life(host);
    this.life.holds(() => {
      world.truth.endAllRuns(facts.incarnation);
      setup.onEnd(this.#exitStatus);
    });
    this.#orphanedSince = kernel.now;
    this.#process = this.#openProcess();
    this.#link = this.#openLink();
    this.#watchOrphanage();
    this.#link.open();
  }

  get state(): AgentState {
    return this.#process.state;
  }

  get process(): MachineProcess<AgentState, AgentInput, never, AgentCommand> {
    return this.#process;
  }

  /** SIGTERM. */
  stop(): void {
    this.#process.deliver({ kind: 'StopRequested', reason: 'the agent was asked to stop' });
    const { kernel, pace } = this.#setup.world;
    kernel.after(pace.stopGrace, () => {
      this.end(0);
    });
  }

  /** SIGKILL to every process at once, by a manager that needs the processors for another request. */
  preempt(): void {
    const { world, facts } = this.#setup;
    for (const {
      replica: { start, template },
    } of this.#running.values())
      world.truth.noteSignalled(
        { label: template.environment['SIMULATED_JOB'] ?? '', replicaId: start.replicaId },
        facts.incarnation,
      );
    this.life.end();
  }

  /** SIGTERM to every process at once: the tasks have it first, and many of them end as if they had done their work. */
  stopAfterTasks(): void {
    const { world, rng } = this.#setup;
    for (const { replica } of [...this.#running.values()]) {
      const disposition = rng.fork(`signal to r${replica.start.replicaId}`).fraction();
      if (disposition < 0.8) this.#finish(replica, disposition < 0.5 ? 0 : 143, { isSignalled: true });
    }
    world.kernel.after(drawTime(rng, signalSpread), () => {
      if (!this.life.isOver) this.stop();
    });
  }

  /** The process ends, and all that it runs with it. */
  end(exitStatus: number): void {
    if (this.life.isOver) return;
    this.#exitStatus = exitStatus;
    if (exitStatus === 0) this.#link.close();
    this.life.end();
  }

  #openProcess(): MachineProcess<AgentState, AgentInput, never, AgentCommand> {
    const { world, host, facts, rng, name } = this.#setup;
    return new MachineProcess<AgentState, AgentInput, never, AgentCommand>({
      name,
      kernel: world.kernel,
      life: this.life,
      clock: host.openClock(),
      machine: agentMachine,
      disk: undefined,
      isDurable: () => false,
      state: createAgentState({
        processors: facts.processors,
        ...(facts.capacity === undefined ? {} : { capacity: facts.capacity }),
        unacknowledgedMax: 100,
        unacknowledgedBytesMax: 2 ** 20,
        killGrace,
        endHold: { longest: world.pace.endHold, isForAll: facts.requestId !== '' },
        startedDelay: 10,
        reportInterval: 50,
        contentBytesMax: 2 ** 20,
        prefetchMax: facts.processors + 16,
      }),
      rng: rng.fork('turns'),
      turnDelayMax: world.turnDelayMax,
      onTurn: (turn) => {
        world.onTurn(turn);
      },
      onClockStepped: (by) => {
        if (this.#until === undefined) return;
        this.#until = movedBy(this.#until, by);
        this.#link.redial();
      },
      perform: (command) => {
        this.#perform(command);
      },
      onFatal: (error) => {
        world.endOrFail(this.life, error);
      },
      onFall: () => {
        this.life.end();
      },
    });
  }

  #openLink(): Link<FromAgent, ToAgent> {
    const { world, facts, rng } = this.#setup;
    const { kernel } = world;
    return new Link<FromAgent, ToAgent>({
      kernel,
      life: this.life,
      rng: rng.fork('link'),
      backOff: { first: 100, longest: 5000 },
      dial: () => this.#setup.dial(this.life),
      hello: () => {
        this.#process.settle();
        return {
          kind: 'hello',
          facts: { ...facts, until: this.#until },
          heldReplicaIds: listHeldReplicas(this.#process.state),
          credential: facts.requestId,
        };
      },
      onConnected: () => {
        this.#orphanedSince = 0;
        this.#process.deliver({ kind: 'ProviderAttached' });
      },
      onMessage: (message) => {
        this.#receive(message);
      },
      onLost: () => {
        this.#orphanedSince = kernel.now;
        this.#watchOrphanage();
        this.#process.deliver({ kind: 'ProviderLost' });
      },
      isFinal: (code) => finalCodes.has(code),
      onGone: () => {
        this.end(1);
      },
    });
  }

  #watchOrphanage(): void {
    const since = this.#orphanedSince;
    this.#setup.world.kernel.after(orphanTimeout, () => {
      if (since > 0 && this.#orphanedSince === since) this.end(1);
    });
  }

  #receive(message: ToAgent): void {
    switch (message.kind) {
      case 'hello':
        break;
      case 'start':
        this.#process.deliver({ kind: 'ReplicasDispatched', batch: message.batch });
        break;
      case 'cancel':
        this.#process.deliver({ ...message, kind: 'ReplicasCancelled' });
        break;
      case 'acknowledged':
        this.#process.deliver({ kind: 'ReportAcknowledged', sequence: message.sequence });
        break;
      case 'content':
        this.#takeContent(message.content, message.isThere);
        break;
      case 'startGang':
        this.#process.deliver({ kind: 'GangStarted', start: message.start });
        break;
      case 'drain':
        this.#process.deliver({ kind: 'DrainRequested' });
        break;
      default:
        unreachable(message);
    }
  }

  #perform(command: WorkCommand): void {
    switch (command.kind) {
      case 'AskContents':
        this.#askContents(command.contents);
        break;
      case 'ReleaseContents':
        for (const key of command.contentKeys) this.#pinned.delete(key);
        break;
      case 'StageIn':
        this.#later(() => {
          this.#stage(command.replica);
        });
        break;
      case 'HoldMember':
        this.#later(() => {
          this.#hold(command.replica);
        });
        break;
      case 'ReleaseMember':
        break;
      case 'LaunchTask':
        this.#launch(command.replica);
        break;
      case 'KillTask':
        this.#kill(command.replica, command.signal);
        break;
      case 'CollectOutputs':
        this.#later(() => {
          this.#collect(command.replica);
        });
        break;
      case 'RemovePlaypen':
      case 'EndRunner':
        break;
      case 'SendReport':
        this.#link.send({ kind: 'report', report: command.report });
        break;
      case 'Leave':
        this.#setup.world.kernel.after(1, () => {
          this.end(0);
        });
        break;
      default:
        unreachable(command);
    }
  }

  /** Does a chore of this process a little later, if it still lives. */
  #later(chore: () => void): void {
    const { world, rng } = this.#setup;
    world.kernel.after(drawTime(rng, world.pace.choreMax), () => {
      if (!this.life.isOver) chore();
    });
  }

  #failsChore(): boolean {
    const { choreFailureProbability } = this.#setup.world;
    return choreFailureProbability > 0 && this.#choreRng.fraction() < choreFailureProbability;
  }

  #askContents(contents: readonly Content[]): void {
    const missing: Content[] = [];
    for (const content of contents) {
      this.#pinned.add(content.sha256);
      if (this.#stored.has(content.sha256))
        this.#process.deliver({ kind: 'ContentArrived', contentKey: content.sha256 });
      else missing.push(content);
    }
    if (missing.length > 0) this.#link.send({ kind: 'blobRequest', contents: missing });
  }

  #takeContent({ sha256 }: Content, isThere: boolean): void {
    if (!this.#pinned.has(sha256)) return;
    if (isThere) this.#stored.add(sha256);
    this.#process.deliver(
      isThere
        ? { kind: 'ContentArrived', contentKey: sha256 }
        : { kind: 'ContentRefused', contentKey: sha256, reason: 'MUT_CONTENT_NOT_FOUND', detail: 'gone from home' },
    );
  }

  #stage({ start }: HeldReplica): void {
    const { replicaId } = start;
    if (this.#failsChore()) {
      this.#process.deliver({ kind: 'StagingFailed', replicaId, verdict: noSpace });
      return;
    }
    const missing = start.inputs.find(({ content }) => !this.#stored.has(content.sha256));
    if (missing === undefined) this.#process.deliver({ kind: 'InputsStaged', replicaId });
    else
      this.#process.deliver({
        kind: 'StagingFailed',
        replicaId,
        verdict: { outcome: 'broken', reason: 'MUT_STAGING_FAILED', detail: `${missing.path} is not stored` },
      });
  }

  #hold(replica: HeldReplica): void {
    const {
      world,
      facts: { machineId },
    } = this.#setup;
    const { replicaId } = replica.start;
    const fails = this.#failsChore();
    if (!fails) world.truth.noteHeld(replica);
    this.#process.deliver(
      fails
        ? { kind: 'HoldFailed', replicaId, verdict: noSpace }
        : { kind: 'MemberListening', held: { replicaId, name: `sim@${machineId}`, addresses: [machineId] } },
    );
  }

  #launch(replica: HeldReplica): void {
    const { world, facts, speed } = this.#setup;
    const { replicaId } = replica.start;
    const disposition = world.truth.beginRun(
      { incarnation: facts.incarnation, machine: facts.machineId, speed, has: this.#setup.has },
      replica,
    );
    const finish = (): void => {
      if (replica.verdict !== undefined && this.#isStuck(replicaId)) return;
      this.#finish(replica, disposition.exitStatus, { verdict: disposition.isTooGreedy ? tooGreedy : undefined });
    };
    this.#running.set(replicaId, { replica, finish });
    // A member of another rank runs nothing of its own, and lasts until it is ended.
    if ((replica.start.gang?.rank ?? 0) > 0) return;
    world.kernel.after(disposition.time, () => {
      if (this.#running.get(replicaId)?.finish === finish) finish();
    });
  }

  #kill({ start: { replicaId } }: HeldReplica, signal: 'SIGTERM' | 'SIGKILL'): void {
    const running = this.#running.get(replicaId);
    if (running === undefined) return;
    // One task in four shrugs off the polite signal.
    if (signal === 'SIGTERM' && replicaId % 4 === 0) return;
    // It waits in the kernel, as for a file server that is away: no signal ends it before the storm is over.
    if (this.#isStuck(replicaId)) return;
    this.#later(() => {
      if (this.#running.get(replicaId) === running) this.#finish(running.replica, signal === 'SIGTERM' ? 143 : 137);
    });
  }

  #isStuck(replicaId: number): boolean {
    const { world, rng } = this.#setup;
    const { stuckTaskProbability } = world;
    return stuckTaskProbability > 0 && rng.fork(`stuck r${replicaId}`).fraction() < stuckTaskProbability;
  }

  #finish(
    replica: HeldReplica,
    exitStatus: number,
    { isSignalled = false, verdict }: { readonly isSignalled?: boolean; readonly verdict?: Verdict | undefined } = {},
  ): void {
    const { world, facts } = this.#setup;
    const { replicaId } = replica.start;
    if (this.life.isOver) return;
    this.#running.delete(replicaId);
    world.truth.endRun(facts.incarnation, replica.slots);
    world.truth.endUse(facts.incarnation, replica);
    if (isSignalled)
      world.truth.noteSignalled(
        { label: replica.template.environment['SIMULATED_JOB'] ?? '', replicaId },
        facts.incarnation,
      );
    if (exitStatus === 0) this.#noteResult(replica);
    const noBytes = new Uint8Array(0);
    this.#process.deliver({
      kind: 'ProcessEnded',
      replicaId,
      verdict,
      result: { exitStatus, standardOutput: noBytes, standardError: noBytes, outputTruncated: false, outputBytes: 0 },
    });
  }

  /** The digest of the run: a saboteur spoils it by chance, a liar always; with votes, only during the storm. */
  #noteResult({ start: { replicaId, taskIndex }, template }: HeldReplica): void {
    const { world, isLiar, facts } = this.#setup;
    const label = template.environment['SIMULATED_JOB'] ?? '';
    const lies = isLiar && (world.isStormy || !isVoted(world.truth.planOf(label)));
    const digest = lies ? 'bad' : this.#spoil(replicaId);
    world.truth.noteResult(replicaId, {
      label,
      taskIndex,
      identity: facts.identity ?? facts.machineId,
      digest: digest.padEnd(64, '0'),
    });
  }

  #spoil(replicaId: number): string {
    const { world, sabotage, rng } = this.#setup;
    if (
      sabotage === undefined ||
      !world.isStormy ||
      rng.fork(`result of r${replicaId}`).fraction() >= sabotage.probability
    )
      return 'f00';
    return sabotage.colludes ? 'bad' : `bad${replicaId}x`;
  }

  #collect({ start, template, verdict }: HeldReplica): void {
    if (this.#failsChore()) {
      this.#process.deliver({ kind: 'CollectionFailed', replicaId: start.replicaId, verdict: noSpace });
      return;
    }
    const label = template.environment['SIMULATED_JOB'] ?? '';
    // What a failed run left is brought too, and must never be taken for a result.
    const digest =
      verdict === undefined ? this.#setup.world.truth.writtenBy({ label, replicaId: start.replicaId }) : leftByFailed;
    // A stored output, which other tasks read, gets a content of its own for each task.
    const keptAs = `${digest.slice(0, 32)} of ${label} ${start.taskIndex}`;
    const isKept = verdict === undefined && start.outputs.some(({ keep }) => keep === true);
    const content = { sha256: isKept ? keptAs : digest, size: 1 };
    if (isKept) this.#stored.add(keptAs);
    this.#process.deliver({
      kind: 'OutputsCollected',
      replicaId: start.replicaId,
      outputs: start.outputs.map((_output, outputIndex) => ({
        outputIndex,
        path: '',
        content,
        mode: 0o644,
        inline: undefined,
        transferId: `r${start.replicaId}`,
      })),
    });
  }
}
