import type { Duration, Instant } from '@mutirao/core/shared';
import type { Kernel } from './kernel.ts';

/** A computer: a name on the network, and a clock that may be wrong. */
export class Host {
  readonly name: string;
  readonly #kernel: Kernel;
  /** What its clock shows beyond the true time. */
  #skew: Duration;
  readonly #clocks = new Set<HostClock>();

  constructor(name: string, kernel: Kernel, skew: Duration) {
    this.name = name;
    this.#kernel = kernel;
    this.#skew = skew;
  }

  get skew(): Duration {
    return this.#skew;
  }

  /** Sets its clock. Its processes notice it sooner or later, as live ones do. */
  setSkew(skew: Duration): void {
    if (skew === this.#skew) return;
    this.#skew = skew;
    for (const clock of [...this.#clocks]) clock.observeStep();
  }

  /** A clock for a process that starts now. */
  openClock(): HostClock {
    return new HostClock(this, this.#kernel, this.#clocks);
  }
}

/** The clock of one process. */
export class HostClock {
  readonly #host: Host;
  readonly #kernel: Kernel;
  readonly #clocks: Set<HostClock>;
  readonly #skewAtStart: Duration;
  #onStep: () => void = () => undefined;

  constructor(host: Host, kernel: Kernel, clocks: Set<HostClock>) {
    this.#host = host;
    this.#kernel = kernel;
    this.#clocks = clocks;
    this.#skewAtStart = host.skew;
  }

  now(): Instant {
    return this.#kernel.now + this.#host.skew;
  }

  /** By how much it was set since the process started. */
  get stepped(): Duration {
    return this.#host.skew - this.#skewAtStart;
  }

  /** The true time at which the clock shows `instant`, if it is not set before. */
  trueInstantOf(instant: Instant): Instant {
    return instant - this.#host.skew;
  }

  /** Calls `onStep` whenever it is set, until `life` is over. */
  watch(life: Life, onStep: () => void): void {
    this.#onStep = onStep;
    this.#clocks.add(this);
    life.holds(() => {
      this.#clocks.delete(this);
    });
  }

  /** It was set. */
  observeStep(): void {
    this.#onStep();
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
