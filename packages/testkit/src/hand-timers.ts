/** Timers that run when a test says so. */
export class HandTimers {
  readonly waiting: { readonly delay: number; readonly run: () => void }[] = [];

  start(delay: number, run: () => void): unknown {
    const timer = { delay, run };
    this.waiting.push(timer);
    return timer;
  }

  cancel(timer: unknown): void {
    const at = this.waiting.indexOf(timer as HandTimers['waiting'][number]);
    if (at >= 0) this.waiting.splice(at, 1);
  }

  /** Runs the timer that was started first. Returns its delay; -1 when none waits. */
  ring(): number {
    const timer = this.waiting.shift();
    timer?.run();
    return timer?.delay ?? -1;
  }
}
