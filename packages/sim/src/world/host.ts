import type { Duration, Instant } from '@mutirao/core/shared';
import type { Kernel } from './kernel.ts';

/** A computer: a name on the network, and a clock that may be wrong. */
export class Host {
  readonly name: string;
  readonly #kernel: Kernel;
  /** What its clock shows beyond the true time. Processes read it when they start, as live ones do. */
  skew: Duration;

  constructor(name: string, kernel: Kernel, skew: Duration) {
    this.name = name;
    this.#kernel = kernel;
    this.skew = skew;
  }

  /** A clock for a process that starts now: it never steps, whatever happens to the host's. */
  openClock(): HostClock {
    return new HostClock(this.#kernel, this.skew);
  }
}

/** The clock of one process. */
export class HostClock {
  readonly #kernel: Kernel;
  readonly #skew: Duration;

  constructor(kernel: Kernel, skew: Duration) {
    this.#kernel = kernel;
    this.#skew = skew;
  }

  now(): Instant {
    return this.#kernel.now + this.#skew;
  }

  /** When it truly is what the clock shows as `instant`. */
  trueInstantOf(instant: Instant): Instant {
    return instant - this.#skew;
  }
}

/** One run of a process, from its start to its end; what belongs to it must not outlive it. */
export class Life {
  readonly host: Host;
  /** Instants before which it does nothing, since it is stopped or starved. */
  pausedUntil: Instant = 0;
  #isOver = false;
  readonly #onOver: (() => void)[] = [];

  constructor(host: Host) {
    this.host = host;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends it at once; whatever it held is let go of, the oldest first. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const letGo of this.#onOver) letGo();
  }

  /** Calls `letGo` when it ends; at once where it has. */
  holds(letGo: () => void): void {
    if (this.#isOver) letGo();
    else this.#onOver.push(letGo);
  }
}
