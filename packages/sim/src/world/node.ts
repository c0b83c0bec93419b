import type { Duration, Prng } from '@mutirao/core/shared';
import type { Host, Life } from './host.ts';
import type { Kernel } from './kernel.ts';
import type { FallPoint } from './machine-process.ts';

/** A process of one life. */
export interface NodeProcess {
  readonly life: Life;
  readonly process: {
    readonly name: string;
    readonly waitingCount: number;
    fallAt(point: FallPoint | undefined): void;
    wakeForNothing(
      mayDo: (action: { readonly kind: string }, actions: readonly { readonly kind: string }[]) => boolean,
    ): void;
  };
}

/** A disk that may lose and may fill. */
export interface NodeDisk {
  isFull: boolean;
  loseUnsynced(rng: Prng): void;
}

/** What a node is. */
export interface NodeSetup<Process extends NodeProcess> {
  readonly name: string;
  readonly host: Host;
  readonly kernel: Kernel;
  readonly rng: Prng;
  readonly disk: NodeDisk | undefined;
  /** Starts the process; `startCount` counts from 1. */
  create(startCount: number): Process;
}

const downMin: Duration = 100;
const downMax: Duration = 30_000;

/** A process that a supervisor starts again whenever it has ended. */
export class Node<Process extends NodeProcess = NodeProcess> {
  readonly #setup: NodeSetup<Process>;
  #current: Process | undefined;
  #startCount = 0;
  /** Not started again before; Infinity for never. */
  downUntil = 0;

  constructor(setup: NodeSetup<Process>) {
    this.#setup = setup;
  }

  get name(): string {
    return this.#setup.name;
  }

  get host(): Host {
    return this.#setup.host;
  }

  get disk(): NodeDisk | undefined {
    return this.#setup.disk;
  }

  /** The process; undefined while it is down. */
  get current(): Process | undefined {
    return this.#current;
  }

  /** Starts the process unless it runs. */
  start(): void {
    if (this.#current !== undefined) return;
    const { kernel, rng, create } = this.#setup;
    this.#startCount += 1;
    const process = create(this.#startCount);
    this.#current = process;
    process.life.holds(() => {
      this.#current = undefined;
      this.#startAfter(downMin + (rng.below(4) === 0 ? rng.below(downMax) : rng.below(1000)), kernel);
    });
  }

  #startAfter(delay: Duration, kernel: Kernel): void {
    kernel.at(Math.max(kernel.now + delay, this.downUntil), () => {
      if (this.#current !== undefined) return;
      if (this.downUntil > kernel.now) this.#startAfter(0, kernel);
      else this.start();
    });
  }
}
