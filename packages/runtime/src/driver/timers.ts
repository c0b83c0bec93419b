/** Starts and stops the one kind of timer that drivers use. */
export interface Timers {
  /** Calls `run` once, `delay` milliseconds from now or a little later. Returns what `cancel` takes. */
  start(delay: number, run: () => void): unknown;
  cancel(timer: unknown): void;
}

/** The timers of this process. */
export const systemTimers: Timers = {
  start: (delay, run) => setTimeout(run, delay),
  cancel: (timer) => {
    clearTimeout(timer as NodeJS.Timeout);
  },
};

/** The longest delay that setTimeout keeps; beyond it, it fires at once. */
export const delayMax = 2 ** 31 - 1;
