import {
  invariant,
  type ClockStepped,
  type DriverCommand,
  type Duration,
  type Instant,
  type Machine,
  type Prng,
  type Reply,
} from '@mutirao/core/shared';
import { DiskFullError, type SimulatedDisk } from './disk.ts';
import type { HostClock, Life } from './host.ts';
import type { Kernel } from './kernel.ts';

/** One turn of one process, as it was. */
export interface WorldTurn {
  /** True time. */
  readonly at: Instant;
  readonly process: string;
  readonly inputs: readonly { readonly kind: string }[];
  readonly changes: readonly { readonly kind: string }[];
  readonly commands: readonly { readonly kind: string }[];
}

/**
 * Where a process falls in its next turn: before its changes are written, after, or with some of its commands
 * performed.
 */
export type FallPoint = 'before-write' | 'after-write' | 'amid-commands';

/** What a simulated driver needs. */
export interface MachineProcessSetup<State, Input, Change, Command> {
  readonly name: string;
  readonly kernel: Kernel;
  readonly life: Life;
  readonly clock: HostClock;
  readonly machine: Machine<State, Input, Change, Command>;
  readonly state: State;
  /** Undefined for a machine that promises nothing. */
  readonly disk: SimulatedDisk<Change> | undefined;
  /** Whether a change is on the disk for good before anything follows from it. */
  isDurable(change: Change): boolean;
  readonly rng: Prng;
  /** Longest time from an input to its turn. */
  readonly turnDelayMax: number;
  perform(command: Exclude<Command, DriverCommand>): void;
  onTurn(turn: WorldTurn): void;
  onCommitted?(changes: readonly Change[]): void;
  /** Called when its clock was set, after the state machine has followed it. */
  onClockStepped?(by: Duration): void;
  /** Called with an error that ends the process: a broken invariant. */
  onFatal(error: unknown): void;
  /** The process falls. */
  onFall(): void;
}

/** Time between two tries to write what found no room, as the live driver has it. */
const retryAfter = 500;

/** Longest time until a process notices that its clock was set, as the live driver has it. */
const noticeMax = 1000;

/**
 * Runs a machine in virtual time as the live driver runs it: one inbox, and in each turn a step, one write, then the
 * commands in order.
 */
export class MachineProcess<
  State,
  Input extends { readonly kind: string },
  Change extends { readonly kind: string },
  Command extends { readonly kind: string },
> {
  readonly state: State;
  readonly #setup: MachineProcessSetup<State, Input, Change, Command>;
  readonly #askers = new Map<number, (reply: Reply) => void>();
  #inbox: Input[] = [];
  #isTurnDue = false;
  #askCount = 0;
  #wakeAt: Instant | undefined;
  /** By how much its clock had been set when the state machine was last notified. */
  #stepped: Duration = 0;
  #fallPoint: FallPoint | undefined;
  /** A decision that is not written for lack of space; nothing follows from it, and no other turn is taken. */
  #undone: { readonly changes: readonly Change[]; readonly commands: readonly Command[] } | undefined;

  constructor(setup: MachineProcessSetup<State, Input, Change, Command>) {
    this.#setup = setup;
    this.state = setup.state;
    const { clock, kernel, life, rng } = setup;
    const noticing = rng.fork('clock');
    clock.watch(life, () => {
      kernel.after(noticing.below(noticeMax), () => {
        this.#noticeStep();
      });
    });
  }

  /** What its clock shows. */
  get now(): Instant {
    return this.#setup.clock.now();
  }

  /** As its turns name it. */
  get name(): string {
    return this.#setup.name;
  }

  /** Whether its state is ahead of its disk, which is full. */
  get isStalled(): boolean {
    return this.#undone !== undefined;
  }

  /** Inputs that wait for their turn. */
  get waitingCount(): number {
    return this.#inbox.length;
  }

  /** Puts an input at the end of the inbox; dropped after the process has ended. */
  deliver(input: Input): void {
    if (this.#setup.life.isOver) return;
    this.#inbox.push(input);
    if (!this.#isTurnDue) this.#scheduleTurn();
  }

  /** Takes what waits through a turn now, as the live driver does before a greeting. */
  settle(): void {
    if (this.#inbox.length > 0 && !this.#setup.life.isOver && this.#undone === undefined) this.#takeInbox();
  }

  /** Performs what a restarted machine begins with, before any input. */
  performFirst(commands: readonly Command[]): void {
    for (const command of commands) this.#perform(command);
  }

  /** Delivers an input that carries `replyTo`; `answer` gets the reply, unless the process ends before. */
  ask(make: (replyTo: number) => Input, answer: (reply: Reply) => void): void {
    if (this.#undone !== undefined) {
      answer({ ok: false, code: 'MUT_DISK_FULL', fault: { code: 'disk-full' } });
      return;
    }
    const replyTo = ++this.#askCount;
    this.#askers.set(replyTo, answer);
    this.deliver(make(replyTo));
  }

  /**
   * Wakes it without a reason, unless a turn is due anyway.
   *
   * @param mayDo whether an action is allowed nevertheless, given all its actions.
   * @throws {InvariantError} when it then finds something to do: it forgot to ask to be woken for it.
   */
  wakeForNothing(
    mayDo: (action: { readonly kind: string }, actions: readonly { readonly kind: string }[]) => boolean,
  ): void {
    const { life, kernel, clock, name } = this.#setup;
    const isDue = this.#isTurnDue || (this.#wakeAt !== undefined && clock.trueInstantOf(this.#wakeAt) <= kernel.now);
    if (
      life.isOver ||
      isDue ||
      this.#undone !== undefined ||
      life.pausedUntil > kernel.now ||
      clock.stepped !== this.#stepped
    )
      return;
    this.#takeTurn([{ kind: 'TimerFired' } as unknown as Input], (actions) => {
      const needful = actions.filter((action) => action.kind !== 'WakeAt' && !mayDo(action, actions));
      invariant(needful.length === 0, `${name} slept through ${needful.map(({ kind }) => kind).join(', ')}`);
    });
  }

  /** The process falls in its next turn that changes something; undefined takes that back. */
  fallAt(point: FallPoint | undefined): void {
    this.#fallPoint = point;
  }

  readonly #runTurn = (): void => {
    const { life, kernel } = this.#setup;
    if (life.isOver) return;
    if (life.pausedUntil > kernel.now) {
      kernel.at(life.pausedUntil, this.#runTurn);
      return;
    }
    this.#isTurnDue = false;
    if (this.#inbox.length > 0 && this.#undone === undefined) this.#takeInbox();
  };

  #takeInbox(): void {
    const batch = this.#inbox;
    this.#inbox = [];
    this.#takeTurn(batch, () => undefined);
  }

  #takeTurn(inputs: readonly Input[], check: (actions: readonly { readonly kind: string }[]) => void): void {
    try {
      this.#step(inputs, check);
    } catch (error) {
      this.#setup.onFatal(error);
    }
  }

  #noticeStep(): void {
    if (this.#setup.clock.stepped !== this.#stepped) this.deliver({ kind: 'TimerFired' } as unknown as Input);
  }

  /** The inputs, preceded by the step of the clock since the state machine was last notified, if there was one. */
  #withClockStep(arrived: readonly Input[], by: Duration): readonly Input[] {
    if (by === 0) return arrived;
    this.#stepped += by;
    this.#wakeAt = undefined;
    const step: ClockStepped = { kind: 'ClockStepped', by };
    return [step as unknown as Input, ...arrived];
  }

  #step(arrived: readonly Input[], check: (actions: readonly { readonly kind: string }[]) => void): void {
    const { machine, clock, kernel, name, onTurn, onClockStepped } = this.#setup;
    const by = clock.stepped - this.#stepped;
    const inputs = this.#withClockStep(arrived, by);
    const { changes, commands } = machine.step(this.state, inputs, clock.now());
    onTurn({ at: kernel.now, process: name, inputs, changes, commands });
    check([...changes, ...commands]);
    machine.checkInvariants(this.state);
    this.#carryOut({ changes, commands });
    if (by !== 0 && !this.#setup.life.isOver) onClockStepped?.(by);
  }

  #carryOut(decided: { readonly changes: readonly Change[]; readonly commands: readonly Command[] }): void {
    const { changes, commands } = decided;
    if (changes.length > 0) {
      if (this.#falls('before-write')) return;
      if (!this.#write(changes)) {
        this.#undone = decided;
        this.#setup.kernel.after(retryAfter, this.#retry);
        return;
      }
      this.#undone = undefined;
      this.#setup.onCommitted?.(changes);
      if (this.#falls('after-write')) return;
    }
    this.#performAll(commands);
  }

  readonly #retry = (): void => {
    const { life, kernel, onFatal } = this.#setup;
    if (life.isOver || this.#undone === undefined) return;
    if (life.pausedUntil > kernel.now) {
      kernel.at(life.pausedUntil, this.#retry);
      return;
    }
    try {
      this.#carryOut(this.#undone);
    } catch (error) {
      onFatal(error);
      return;
    }
    if (this.#undone === undefined && this.#inbox.length > 0 && !this.#isTurnDue) this.#scheduleTurn();
  };

  #scheduleTurn(): void {
    const { kernel, rng, turnDelayMax } = this.#setup;
    this.#isTurnDue = true;
    kernel.after(turnDelayMax === 0 ? 0 : rng.below(turnDelayMax + 1), this.#runTurn);
  }

  #performAll(commands: readonly Command[]): void {
    const { rng, life } = this.#setup;
    const fallsBefore = this.#fallPoint === 'amid-commands' && commands.length > 0 ? rng.below(commands.length) : -1;
    for (const [index, command] of commands.entries()) {
      if (index === fallsBefore && this.#falls('amid-commands')) return;
      if (life.isOver) return;
      this.#perform(command);
    }
  }

  /** False where there is no room. */
  #write(changes: readonly Change[]): boolean {
    const { disk, isDurable } = this.#setup;
    try {
      disk?.write(changes, changes.some(isDurable));
      return true;
    } catch (error) {
      if (!(error instanceof DiskFullError)) throw error;
      return false;
    }
  }

  #falls(point: FallPoint): boolean {
    if (this.#fallPoint !== point) return false;
    this.#setup.onFall();
    return true;
  }

  #perform(command: Command): void {
    const known = command as unknown as DriverCommand;
    switch (known.kind) {
      case 'Reply':
        this.#answer(known.replyTo, known.reply);
        break;
      case 'WakeAt':
        this.#setAlarm(known.at);
        break;
      default:
        this.#setup.perform(command as Exclude<Command, DriverCommand>);
    }
  }

  #answer(replyTo: number, reply: Reply): void {
    if (replyTo === 0) return;
    const answer = this.#askers.get(replyTo);
    invariant(answer, `a reply to question ${replyTo}, which is not open`);
    this.#askers.delete(replyTo);
    answer(reply);
  }

  #setAlarm(at: Instant): void {
    if (at === this.#wakeAt) return;
    this.#wakeAt = at;
    const { kernel, clock } = this.#setup;
    const { stepped } = clock;
    kernel.at(clock.trueInstantOf(at), () => {
      // Set since, the process has not noticed it, or asked to be woken by the clock as it is now.
      if (this.#wakeAt !== at || clock.stepped !== stepped) return;
      this.#wakeAt = undefined;
      this.deliver({ kind: 'TimerFired' } as unknown as Input);
    });
  }
}
