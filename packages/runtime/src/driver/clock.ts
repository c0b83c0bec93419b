import { uptime } from 'node:os';
import type { Duration, Instant } from '@mutirao/core/shared';

/** Where a driver takes its time from. */
export interface Clock {
  now(): Instant;
  /**
   * Sum of the steps that it has made since the process began: by how much somebody set it. Left out by a clock that
   * never steps.
   */
  readonly stepped?: Duration;
  /**
   * Calls `listener` soon after each step, and after each sleep of the host; returns how to end that. Left out as
   * above.
   */
  onStep?(listener: () => void): () => void;
}

/** The clocks of the system that a followed clock reads, in milliseconds. */
export interface SystemTimes {
  /** Since the epoch; somebody may set it. */
  wall(): number;
  /** Since any instant; stands still while the host sleeps. */
  monotonic(): number;
  /** Since any instant; goes on while the host sleeps. */
  sinceBoot(): number;
}

const systemTimes: SystemTimes = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  sinceBoot: () => uptime() * 1000,
};

/** Smaller differences come from clock discipline in small corrections; they are followed without counting as steps. */
const stepMin: Duration = 500;
/** How soon a step is noticed when nobody looks at the clock. */
const lookEvery: Duration = 1000;

/**
 * Follows the wall clock of this host and notices when it steps. A time that people or other hosts name refers to the
 * clock as it is now, not as it was when the process began.
 *
 * Between two steps it never goes back. The monotonic clock goes on evenly whatever the wall clock shows, so the
 * difference of the two separates a step from elapsed time.
 */
export class FollowedClock implements Clock {
  readonly #times: SystemTimes;
  readonly #stepsBySleep: boolean;
  readonly #listeners = new Set<() => void>();
  #ahead: number;
  #asleep: number;
  #last: Instant;
  #stepped: Duration = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param options.stepsBySleep whether time that the host slept through is a step, for work that slept as well;
   * otherwise it has passed.
   */
  constructor(options: { readonly stepsBySleep: boolean; readonly times?: SystemTimes }) {
    this.#times = options.times ?? systemTimes;
    this.#stepsBySleep = options.stepsBySleep;
    const { wall, monotonic, sinceBoot } = this.#times;
    this.#ahead = wall() - monotonic();
    this.#asleep = sinceBoot() - monotonic();
    this.#last = Math.floor(wall());
  }

  now(): Instant {
    this.#look();
    return this.#last;
  }

  get stepped(): Duration {
    this.#look();
    return this.#stepped;
  }

  onStep(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => {
      this.#look();
    }, lookEvery).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #look(): void {
    const wall = this.#times.wall();
    const ahead = wall - this.#times.monotonic();
    const moved = ahead - this.#ahead;
    this.#ahead = ahead;
    if (Math.abs(moved) < stepMin) {
      this.#last = Math.max(this.#last, Math.floor(wall));
      return;
    }
    this.#last = Math.floor(wall);
    const by = Math.round(this.#stepsBySleep ? moved : moved - this.#sleptSince());
    if (Math.abs(by) >= stepMin) this.#stepped += by;
    for (const listener of [...this.#listeners]) setImmediate(listener);
  }

  /** How long the host slept since this was asked last. */
  #sleptSince(): Duration {
    const asleep = this.#times.sinceBoot() - this.#times.monotonic();
    const slept = asleep - this.#asleep;
    this.#asleep = asleep;
    // The time since boot is coarse: a smaller difference than the least step counts as none.
    return Math.abs(slept) < stepMin ? 0 : slept;
  }
}

/** The clock of this host, for what goes on while the host sleeps, as what other hosts do. */
export const systemClock: Clock = new FollowedClock({ stepsBySleep: false });

/**
 * The clock of this host, for work that this host does and that sleeps with it: time asleep counts for no walltime and
 * no run time.
 */
export const workClock: Clock = new FollowedClock({ stepsBySleep: true });

/**
 * Goes on evenly, whatever happens to the clock of the host; for durations within this process. Its value is near the
 * time since the epoch, but must not leave the process.
 */
export const steadyClock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()),
};

/**
 * The wall clock of this host, for ages of files, which were given their times by it. It may go back.
 *
 * The monotonic clock stands still while a laptop sleeps.
 */
export const wallClock: Clock = {
  now: () => Date.now(),
};
