import type { Output } from '../output/output.ts';
import { describeError } from '@mutirao/core/shared';

/** A process to keep alive. */
export interface ProcessPlan {
  /** Unique in the grid; also names its log. */
  readonly name: string;
  /** The program and its arguments. @param address where it listened before a restart; undefined at first. */
  command(address: string | undefined): readonly string[];
  /**
   * The address that the process with this id has written down; undefined until it has. Undefined for one that does not
   * listen.
   */
  readonly findAddress: ((pid: number) => string | undefined) | undefined;
}

/** What the supervisor needs of the machine that it runs on; a test gives it fakes. */
export interface Host {
  /** Starts a process; `onExit` is called once, later. @returns its id, or undefined when it could not be started. */
  start(name: string, command: readonly string[], onExit: (status: number) => void): number | undefined;
  signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void;
  now(): number;
  sleep(durationMs: number): Promise<void>;
}

interface Supervised {
  readonly plan: ProcessPlan;
  pid: number | undefined;
  startedAt: number;
  address: string | undefined;
  /** Starts that ended before `steadyAfter`, in a row. */
  quickEnds: number;
  /** How it ended last; undefined while it never did. */
  status: number | undefined;
}

/** How a process ends that refuses its command line or its settings. */
const refusedStatus = 2;

/** A process that has run for this long counts as stable. */
const steadyAfter = 30_000;
const restartDelayMin = 250;
const restartDelayMax = 15_000;
const pollMs = 15;

/**
 * Keeps processes alive: starts them, starts those again that end (at the same address, after a growing pause), and
 * stops them.
 */
export class Supervisor {
  readonly #host: Host;
  readonly #output: Pick<Output, 'note'>;
  readonly #all = new Map<string, Supervised>();
  #isStopping = false;
  /** Called after each start, and when a process listens, for the record of the grid. */
  onChange: () => void = () => undefined;

  constructor(host: Host, output: Pick<Output, 'note'>) {
    this.#host = host;
    this.#output = output;
  }

  /**
   * Starts a process for the first time and waits until it listens.
   *
   * @returns its address; empty for one that does not listen. Undefined when it ended instead, or did not listen in
   * time.
   */
  async start(plan: ProcessPlan, readyMax: number): Promise<string | undefined> {
    const supervised: Supervised = {
      plan,
      pid: undefined,
      startedAt: 0,
      address: undefined,
      quickEnds: 0,
      status: undefined,
    };
    this.#all.set(plan.name, supervised);
    this.#launch(supervised);
    if (plan.findAddress === undefined) return '';
    const until = this.#host.now() + readyMax;
    while (supervised.pid !== undefined && this.#host.now() < until) {
      supervised.address = plan.findAddress(supervised.pid);
      if (supervised.address !== undefined) {
        this.onChange();
        return supervised.address;
      }
      await this.#host.sleep(pollMs);
    }
    return undefined;
  }

  /** Whether the supervisor is stopping its processes: then one that does not come up is not a failure. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** The ids of the processes that live, by name. */
  processes(): Record<string, number> {
    const found: Record<string, number> = {};
    for (const [name, { pid }] of this.#all) if (pid !== undefined) found[name] = pid;
    return found;
  }

  /** The names of processes that live and do not listen yet. */
  starting(): string[] {
    return [...this.#all.values()]
      .filter(({ plan, pid, address }) => plan.findAddress !== undefined && pid !== undefined && address === undefined)
      .map(({ plan }) => plan.name);
  }

  /** The name of a process that refuses its settings: a further start would end in the same way. */
  findRefusing(): string | undefined {
    return [...this.#all.values()].find(({ status }) => status === refusedStatus)?.plan.name;
  }

  /**
   * Stops these processes (those named by a prefix), waits until they have ended, and kills what does not end within
   * `endMax`.
   */
  async stop(belongs: (name: string) => boolean, endMax: number): Promise<void> {
    this.#isStopping = true;
    const mine = [...this.#all.values()].filter(({ plan }) => belongs(plan.name));
    for (const { pid } of mine) if (pid !== undefined) this.#host.signal(pid, 'SIGTERM');
    const isOver = (): boolean => mine.every(({ pid }) => pid === undefined);
    const until = this.#host.now() + endMax;
    while (!isOver() && this.#host.now() < until) await this.#host.sleep(pollMs);
    for (const { pid, plan } of mine) {
      if (pid === undefined) continue;
      this.#output.note(`${plan.name} did not end within ${endMax / 1000} s; killing it.`);
      this.#host.signal(pid, 'SIGKILL');
    }
    while (!isOver()) await this.#host.sleep(pollMs);
  }

  #launch(supervised: Supervised): void {
    supervised.startedAt = this.#host.now();
    supervised.pid = this.#host.start(supervised.plan.name, supervised.plan.command(supervised.address), (status) => {
      this.#ended(supervised, status);
    });
    this.onChange();
  }

  #ended(supervised: Supervised, status: number): void {
    supervised.pid = undefined;
    supervised.status = status;
    // The caller of `start` receives the failure of one that never listened, and gives up.
    if (this.#isStopping || (supervised.plan.findAddress !== undefined && supervised.address === undefined)) return;
    const lived = this.#host.now() - supervised.startedAt;
    supervised.quickEnds = lived < steadyAfter ? supervised.quickEnds + 1 : 0;
    const pause = Math.min(restartDelayMax, restartDelayMin * 2 ** Math.max(0, supervised.quickEnds - 1));
    this.#output.note(`${supervised.plan.name} ended with status ${status}; restarting it in ${pause / 1000} s.`);
    void this.#restart(supervised, pause);
  }

  async #restart(supervised: Supervised, pause: number): Promise<void> {
    await this.#host.sleep(pause);
    if (this.#isStopping) return;
    try {
      this.#launch(supervised);
    } catch (error) {
      // As on a full disk. The others go on, and it is tried again unless it lives by now.
      this.#output.note(`${supervised.plan.name}: ${describeError(error)}`);
      if (supervised.pid === undefined) await this.#restart(supervised, restartDelayMax);
    }
  }
}
