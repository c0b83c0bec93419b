import { MutiraoError } from '@mutirao/api/errors';
import type { EnrolledMachine, EnrolledMachineState } from '@mutirao/core/messages';
import type { Duration } from '@mutirao/core/shared';
import type { Clock, Timers } from '@mutirao/runtime/driver';
import type { Logger } from '@mutirao/runtime/log';

/** Has an agent work for a machine, once. */
export interface MachineLife {
  /**
   * Starts the machine's agent, or finds it where it still is, and resolves when it has ended, to what was said of
   * that.
   *
   * @param ending fires when the machine is taken off the list (`remove`) or this process ends (`stop`); the agent is
   * ended too then.
   * @throws {MutiraoError} when it cannot be had.
   */
  run(machine: EnrolledMachine, ending: AbortSignal): Promise<string>;
}

/** What is known of agents once the provider serves. */
export interface KeptAgents {
  readonly life: MachineLife;
  /** Whether the agent of a machine is attached. */
  isAttached(name: string): boolean;
}

/** What a keeper of machines needs. */
export interface EnrolledMachinesOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  /** The list as the last life left it. */
  readonly machines: readonly EnrolledMachine[];
  /** Writes the list. */
  save(machines: readonly EnrolledMachine[]): void;
}

/** An agent that ran for this time counts as stable. */
const steadyAfter: Duration = 60_000;
const pauseMin: Duration = 1000;
const pauseMax: Duration = 60_000;

interface Kept {
  readonly machine: EnrolledMachine;
  readonly ending: AbortController;
  isWaiting: boolean;
  reason: string;
  since: number;
  pause: Duration;
  /** Ends the pause. */
  wake: () => void;
  over: Promise<void>;
}

/**
 * Keeps agents working for the machines of a list: starts them, starts those again that end, after a growing pause, and
 * ends them.
 */
export class EnrolledMachines {
  readonly #options: EnrolledMachinesOptions;
  readonly #kept = new Map<string, Kept>();
  /** Names off the list whose agents have not ended: another one's files would be removed with theirs. */
  readonly #leaving = new Set<string>();
  #agents: KeptAgents | undefined;

  constructor(options: EnrolledMachinesOptions) {
    this.#options = options;
  }

  /** Begins with the machines of the list. */
  start(agents: KeptAgents): void {
    this.#agents = agents;
    for (const machine of this.#options.machines) this.#keep(machine);
  }

  /**
   * Adds machines, all or none. @throws {MutiraoError} MUT_BAD_REQUEST when a name is taken, or its former machine's
   * agent has not ended.
   */
  add(machines: readonly EnrolledMachine[]): void {
    if (this.#agents === undefined) throw new MutiraoError('MUT_STOPPING', 'the provider is starting or ending');
    const names = new Set(this.#kept.keys());
    for (const { name } of machines) {
      if (this.#leaving.has(name))
        throw new MutiraoError(
          'MUT_BAD_REQUEST',
          `the machine "${name}" is just being removed; expected another name, or the same in some seconds`,
        );
      if (names.has(name))
        throw new MutiraoError(
          'MUT_BAD_REQUEST',
          `a machine "${name}" is on the list already; expected another name, or remove that one first`,
        );
      names.add(name);
    }
    this.#options.save([...this.#machines(), ...machines]);
    for (const machine of machines) this.#keep(machine);
  }

  /** Whether a machine of this name is on the list. */
  keeps(name: string): boolean {
    return this.#kept.has(name);
  }

  /**
   * Takes a machine off the list; resolves when its agent has ended or cannot be reached. @throws {MutiraoError}
   * MUT_BAD_REQUEST when there is none of that name.
   */
  async remove(name: string): Promise<void> {
    const kept = this.#kept.get(name);
    if (this.#agents === undefined) throw new MutiraoError('MUT_STOPPING', 'the provider is starting or ending');
    if (kept === undefined) {
      const known = [...this.#kept.keys()].join(', ');
      throw new MutiraoError(
        'MUT_BAD_REQUEST',
        `no machine "${name}" is on the list; expected ${known === '' ? 'none: it is empty' : `one of ${known}`}`,
      );
    }
    this.#options.save(this.#machines().filter((machine) => machine.name !== name));
    this.#kept.delete(name);
    this.#leaving.add(name);
    await end(kept, 'remove').finally(() => {
      this.#leaving.delete(name);
    });
  }

  /** How each machine is, in the order of their names. */
  list(): EnrolledMachineState[] {
    const states = [...this.#kept.values()].map(
      ({ machine, isWaiting, reason, since }): EnrolledMachineState => ({
        machine,
        status: this.#agents?.isAttached(machine.name) === true ? 'running' : isWaiting ? 'waiting' : 'starting',
        reason,
        since,
      }),
    );
    return states.sort((one, other) => (one.machine.name < other.machine.name ? -1 : 1));
  }

  /** Ends all agents; the list stays. */
  async stop(): Promise<void> {
    const all = [...this.#kept.values()];
    this.#agents = undefined;
    await Promise.all(all.map((kept) => end(kept, 'stop')));
  }

  #machines(): EnrolledMachine[] {
    return [...this.#kept.values()].map(({ machine }) => machine);
  }

  #keep(machine: EnrolledMachine): void {
    const kept: Kept = {
      machine,
      ending: new AbortController(),
      isWaiting: false,
      reason: '',
      since: this.#options.clock.now(),
      pause: pauseMin,
      wake: () => undefined,
      over: Promise.resolve(),
    };
    this.#kept.set(machine.name, kept);
    kept.over = this.#runOn(kept);
  }

  /** Runs one life after the other until the machine is no longer kept. Never rejects. */
  async #runOn(kept: Kept): Promise<void> {
    const { log, clock } = this.#options;
    const { machine, ending } = kept;
    const life = this.#agents?.life;
    while (!ending.signal.aborted && life !== undefined) {
      kept.isWaiting = false;
      kept.since = clock.now();
      const startedAt = clock.now();
      try {
        kept.reason = await life.run(machine, ending.signal);
      } catch (error) {
        kept.reason = error instanceof MutiraoError ? `${error.code} ${error.message}` : String(error);
      }
      if (ending.signal.aborted) return;
      if (clock.now() - startedAt >= steadyAfter) kept.pause = pauseMin;
      kept.isWaiting = true;
      kept.since = clock.now();
      log.warn(
        { machine: machine.name, reason: kept.reason, retry_ms: kept.pause },
        'the agent of an enrolled machine ended',
      );
      await this.#rest(kept);
      kept.pause = Math.min(2 * kept.pause, pauseMax);
    }
  }

  #rest(kept: Kept): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.timers.start(kept.pause, resolve);
      kept.wake = () => {
        this.#options.timers.cancel(timer);
        resolve();
      };
    });
  }
}

async function end(kept: Kept, how: 'remove' | 'stop'): Promise<void> {
  kept.ending.abort(how);
  kept.wake();
  await kept.over;
}
