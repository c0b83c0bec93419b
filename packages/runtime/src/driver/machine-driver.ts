import { errorOfRefusal, MutiraoError } from '@mutirao/api/errors';
import {
  invariant,
  type ClockStepped,
  type DriverCommand,
  type Duration,
  type Machine,
  type Reply,
} from '@mutirao/core/shared';
import type { Journal } from '../journal/journal.ts';
import type { Clock } from './clock.ts';
import { systemTimers, type Timers } from './timers.ts';
import type { TurnTrace } from './turn-trace.ts';
import { WakeTimer } from './wake-timer.ts';

/** A change and its place in the journal. */
export interface CommittedChange<Change> {
  readonly sequence: number;
  readonly change: Change;
}

/** What a driver needs. */
export interface MachineDriverOptions<State, Input, Change, Command> {
  readonly machine: Machine<State, Input, Change, Command>;
  /** From now on the driver owns it. */
  readonly state: State;
  /** Undefined for a machine that promises nothing. */
  readonly journal: Journal<Change> | undefined;
  /** Its steps reach the machine as ClockStepped, before all other inputs of the turn that comes next. */
  readonly clock: Clock;
  /**
   * Carries out one command, at once or by starting it; what comes of it is delivered as an input. Throws only for a
   * bug.
   */
  perform(command: Exclude<Command, DriverCommand>): void;
  /** Receives changes after they are in the journal and before any command of their turn is performed. */
  onCommitted?(entries: readonly CommittedChange<Change>[]): void;
  /** What `WakeAt` delivers; `{ kind: 'TimerFired' }` when left out. */
  readonly timerInput?: Input;
  /** Receives the error that ended the driver, once. */
  onFatal(error: unknown): void;
  /** Most inputs of one step. 1024 when left out. */
  readonly batchMax?: number;
  /** Checks the machine's invariants every this many turns; 0, the default, for never. */
  readonly checkEvery?: number;
  /** Inputs waiting from which on `ask` refuses; `deliver` never does. 65,536 when left out. */
  readonly waitingMax?: number;
  readonly timers?: Timers;
  /** Pause before the journal is tried again after there was no room for it; half a second when left out. */
  readonly retryAfter?: number;
  /** Called with an error when the journal has no room, and with undefined when it has room again. */
  onStalled?(error: MutiraoError | undefined): void;
  /** Called after the clock was set and the machine has followed it. */
  onClockStepped?(by: Duration): void;
  /** Receives every turn; undefined, the default, costs nothing. */
  readonly trace?: TurnTrace | undefined;
}

/** A decision that is not in the journal yet. */
interface Undone<Change, Command> {
  readonly changes: readonly Change[];
  readonly commands: readonly Command[];
  readonly now: number;
  /** Why not. */
  readonly error: MutiraoError;
}

interface Asker {
  readonly resolve: (value: never) => void;
  readonly reject: (error: MutiraoError) => void;
}

/**
 * Runs a machine: one inbox, and in each turn of the event loop one step over what has arrived, then one write of its
 * changes to the journal, then its commands in order.
 *
 * Nothing is performed, and no asker is answered, before the changes of its turn are in the journal. Where the disk has
 * no room for them the driver stalls: what was decided waits and is tried again, what arrives waits behind it,
 * questions are refused. Any other error ends the driver: it does nothing more, and the process should start again from
 * the journal.
 */
export class MachineDriver<State, Input, Change, Command extends { readonly kind: string }> {
  readonly state: State;
  readonly #options: MachineDriverOptions<State, Input, Change, Command>;
  readonly #batchMax: number;
  readonly #checkEvery: number;
  readonly #waitingMax: number;
  readonly #wakeTimer: WakeTimer;
  readonly #endClockWatch: (() => void) | undefined;
  /** The total of the clock steps that the machine has received. */
  #stepped: Duration;
  readonly #askers = new Map<number, Asker>();
  #inbox: Input[] = [];
  #turnTimer: NodeJS.Immediate | undefined;
  #isOpen = true;
  #undone: Undone<Change, Command> | undefined;
  #retryTimer: unknown;
  #askCount = 0;
  #turnCount = 0;
  /** Sequence of the last change where there is no journal. */
  #unjournaled = 0;

  constructor(options: MachineDriverOptions<State, Input, Change, Command>) {
    this.state = options.state;
    this.#options = options;
    this.#batchMax = options.batchMax ?? 1024;
    this.#checkEvery = options.checkEvery ?? 0;
    this.#waitingMax = options.waitingMax ?? 65_536;
    const timerInput = options.timerInput ?? ({ kind: 'TimerFired' } as Input);
    this.#stepped = options.clock.stepped ?? 0;
    this.#endClockWatch = options.clock.onStep?.(() => {
      this.#noticeStep(timerInput);
    });
    this.#wakeTimer = new WakeTimer(options.clock, options.timers ?? systemTimers, () => {
      this.deliver(timerInput);
    });
  }

  /** Inputs that wait for their turn; those who feed the driver from a stream pause it while there are many. */
  get waitingCount(): number {
    return this.#inbox.length;
  }

  /** Why the journal cannot be written now; undefined while it can. */
  get stalledBy(): MutiraoError | undefined {
    return this.#undone?.error;
  }

  /** Puts an input at the end of the inbox. After the end of the driver it is dropped. */
  deliver(input: Input): void {
    if (!this.#isOpen) return;
    this.#inbox.push(input);
    this.#turnTimer ??= setImmediate(this.#runTurn);
  }

  /**
   * Delivers an input that carries `replyTo` and resolves to the value of the machine's reply, after it is in the
   * journal.
   *
   * @throws {MutiraoError} the machine's refusal; MUT_DISK_FULL while it is stalled; MUT_OVERLOADED when too much
   * waits; MUT_STOPPING when the driver ended first.
   */
  ask<T>(make: (replyTo: number) => Input): Promise<T> {
    if (!this.#isOpen) return Promise.reject(new MutiraoError('MUT_STOPPING', 'the process is stopping'));
    if (this.#undone !== undefined) return Promise.reject(this.#undone.error);
    if (this.#inbox.length >= this.#waitingMax) {
      return Promise.reject(
        new MutiraoError(
          'MUT_OVERLOADED',
          `${this.#inbox.length} inputs wait; expected fewer than ${this.#waitingMax}`,
        ),
      );
    }
    const replyTo = ++this.#askCount;
    return new Promise<T>((resolve, reject) => {
      this.#askers.set(replyTo, { resolve, reject });
      this.deliver(make(replyTo));
    });
  }

  /** Checks the machine's invariants now. @throws {InvariantError} */
  check(): void {
    this.#options.machine.checkInvariants(this.state);
  }

  /**
   * Runs turns now until the inbox is empty, so that the state reflects every delivered input. Must not be called while
   * a command is performed.
   */
  settle(): void {
    // Commands may deliver further inputs at once. This many more turns let them settle, and end two sides that
    // keep answering each other.
    for (
      let turnsLeft = Math.ceil(this.#inbox.length / this.#batchMax) + 16;
      this.#inbox.length > 0 && turnsLeft > 0;
      turnsLeft--
    )
      this.#runTurn();
  }

  /**
   * Takes what waits through its turns, then ends: timers are off, later inputs are dropped, open questions refused.
   */
  async stop(): Promise<void> {
    if (this.#undone !== undefined) this.#retry();
    this.settle();
    this.#close('the process is stopping');
    await Promise.resolve();
  }

  /** An arrow function, so that setImmediate gets it without a closure per turn. */
  readonly #runTurn = (): void => {
    if (this.#turnTimer !== undefined) clearImmediate(this.#turnTimer);
    this.#turnTimer = undefined;
    if (!this.#isOpen || this.#inbox.length === 0 || this.#undone !== undefined) return;
    const batch = this.#takeBatch();
    try {
      this.#step(batch);
    } catch (error) {
      this.#close('the process failed', error);
      this.#options.onFatal(error);
    }
  };

  #takeBatch(): Input[] {
    const waiting = this.#inbox;
    if (waiting.length <= this.#batchMax) {
      this.#inbox = [];
      return waiting;
    }
    const batch = waiting.slice(0, this.#batchMax);
    this.#inbox = waiting.slice(this.#batchMax);
    this.#turnTimer = setImmediate(this.#runTurn);
    return batch;
  }

  /** The host was asleep, or its clock was set: alarms were set by the time that had passed before. */
  #noticeStep(timerInput: Input): void {
    if (!this.#isOpen) return;
    this.#wakeTimer.arm();
    if (this.#options.clock.stepped !== this.#stepped) this.deliver(timerInput);
  }

  /** The inputs, preceded by the step that the clock made since the last turn. */
  #withClockStep(batch: readonly Input[], by: Duration): readonly Input[] {
    this.#stepped += by;
    // The machine asks to be woken again.
    this.#wakeTimer.clear();
    const step: ClockStepped = { kind: 'ClockStepped', by };
    return [step as unknown as Input, ...batch];
  }

  #step(arrived: readonly Input[]): void {
    const { clock, machine, trace } = this.#options;
    const now = clock.now();
    const by = (clock.stepped ?? 0) - this.#stepped;
    const batch = by === 0 ? arrived : this.#withClockStep(arrived, by);
    this.#turnCount += 1;
    trace?.begin(this.#turnCount, now, batch);
    const decision = machine.step(this.state, batch, now);
    trace?.conclude(this.#turnCount, decision);
    if (this.#checkEvery > 0 && this.#turnCount % this.#checkEvery === 0) this.check();
    this.#carryOut({ ...decision, now });
    if (by !== 0 && this.#isOpen) this.#options.onClockStepped?.(by);
  }

  #carryOut({ changes, commands, now }: Omit<Undone<Change, Command>, 'error'>): void {
    let sequence: number;
    try {
      sequence = this.#record(changes, now);
    } catch (error) {
      if (!(error instanceof MutiraoError) || error.code !== 'MUT_DISK_FULL') throw error;
      this.#stall({ changes, commands, now, error });
      return;
    }
    if (this.#undone !== undefined) {
      this.#undone = undefined;
      this.#options.onStalled?.(undefined);
    }
    // Not within the try: what throws here comes after the write, which must not be done again.
    if (changes.length > 0)
      this.#options.onCommitted?.(changes.map((change, index) => ({ sequence: sequence + index, change })));
    for (const command of commands) {
      if (!this.#isOpen) return;
      this.#perform(command);
    }
  }

  #stall(undone: Undone<Change, Command>): void {
    const isNew = this.#undone === undefined;
    this.#undone = undone;
    this.#retryTimer = (this.#options.timers ?? systemTimers).start(this.#options.retryAfter ?? 500, this.#retry);
    if (isNew) this.#options.onStalled?.(undone.error);
  }

  readonly #retry = (): void => {
    this.#retryTimer = undefined;
    const undone = this.#undone;
    if (!this.#isOpen || undone === undefined) return;
    try {
      this.#carryOut(undone);
    } catch (error) {
      this.#close('the process failed', error);
      this.#options.onFatal(error);
      return;
    }
    if (this.#undone === undefined && this.#inbox.length > 0) this.#turnTimer ??= setImmediate(this.#runTurn);
  };

  /** Returns the sequence of the first. */
  #record(changes: readonly Change[], now: number): number {
    const { journal } = this.#options;
    if (journal !== undefined && changes.length > 0) return journal.record(changes, now);
    const sequence = this.#unjournaled + 1;
    this.#unjournaled += changes.length;
    return sequence;
  }

  #perform(command: Command): void {
    const known = command as unknown as DriverCommand;
    switch (known.kind) {
      case 'Reply':
        this.#answer(known.replyTo, known.reply);
        break;
      case 'WakeAt':
        this.#wakeTimer.set(known.at);
        break;
      default:
        this.#options.perform(command as Exclude<Command, DriverCommand>);
    }
  }

  /** 0 is nobody: inputs that no one waits for may carry it. */
  #answer(replyTo: number, reply: Reply): void {
    if (replyTo === 0) return;
    const asker = this.#askers.get(replyTo);
    invariant(asker, `a reply to question ${replyTo}, which is not open`);
    this.#askers.delete(replyTo);
    if (reply.ok) asker.resolve(reply.value as never);
    else asker.reject(errorOfRefusal(reply));
  }

  /** @param error why it ends; undefined when it is stopped. */
  #close(message: string, error?: unknown): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#endClockWatch?.();
    this.#inbox = [];
    if (this.#turnTimer !== undefined) clearImmediate(this.#turnTimer);
    this.#wakeTimer.clear();
    if (this.#retryTimer !== undefined) (this.#options.timers ?? systemTimers).cancel(this.#retryTimer);
    for (const { reject } of this.#askers.values()) reject(new MutiraoError('MUT_STOPPING', message));
    this.#askers.clear();
    this.#options.trace?.end(error);
  }
}
