import type { Output } from '../../output/output.ts';
import { showDuration } from '../../output/units.ts';
import type { WorldOutcome } from './swarm-worker.ts';

/** Time between two lines, on a terminal and where there is none. */
const drawEveryMs = 200;
const lineEveryMs = 10_000;

/** Counts simulated grids and prints the progress: one line, drawn again in place on a terminal. */
export class SwarmTally {
  readonly #output: Output;
  readonly #clock: { now(): number };
  readonly #total: number;
  readonly #startedAt: number;
  readonly #failed: WorldOutcome[] = [];
  #doneCount = 0;
  #simulatedMs = 0;
  #turnCount = 0;
  #reportedAt: number;
  #endedAt: number | undefined;

  /** @param total worlds to run. */
  constructor(output: Output, clock: { now(): number }, total: number) {
    this.#output = output;
    this.#clock = clock;
    this.#total = total;
    this.#startedAt = clock.now();
    this.#reportedAt = this.#startedAt;
  }

  get doneCount(): number {
    return this.#doneCount;
  }

  get simulatedMs(): number {
    return this.#simulatedMs;
  }

  get turnCount(): number {
    return this.#turnCount;
  }

  get elapsedMs(): number {
    return (this.#endedAt ?? this.#clock.now()) - this.#startedAt;
  }

  /** Worlds that failed, the lowest seed first, whichever came first. */
  get failed(): readonly WorldOutcome[] {
    return this.#failed.toSorted((one, other) => Number(one.seed) - Number(other.seed));
  }

  add(outcomes: readonly WorldOutcome[]): void {
    for (const outcome of outcomes) {
      this.#doneCount += 1;
      this.#simulatedMs += outcome.durationMs;
      this.#turnCount += outcome.turnCount;
      if (outcome.failure !== undefined) this.#failed.push(outcome);
    }
    this.#report();
  }

  #report(): void {
    const now = this.#clock.now();
    const isDrawn = this.#output.progress !== undefined && this.#output.mode === 'table';
    if (now - this.#reportedAt < (isDrawn ? drawEveryMs : lineEveryMs)) return;
    this.#reportedAt = now;
    const left = (this.elapsedMs / this.#doneCount) * (this.#total - this.#doneCount);
    const line =
      `${this.#doneCount}/${this.#total} worlds, ${this.#failed.length} failed  ` +
      `${this.rates()}${left > 0 ? `, about ${showDuration(left)} left` : ''}`;
    if (isDrawn) this.#output.progress(`\r\u001b[2K${line}`);
    else this.#output.note(line);
  }

  /** Worlds in a second and simulated hours in a minute, so far. */
  rates(): string {
    const seconds = Math.max(0.001, this.elapsedMs / 1000);
    return (
      `${(this.#doneCount / seconds).toFixed(1)} worlds/s, ${Math.round(this.#simulatedMs / 60_000 / seconds)} ` +
      'grid-hours/min'
    );
  }

  /** Called after the last world: stops the clock, and clears the line that was drawn. */
  close(): void {
    this.#endedAt = this.#clock.now();
    if (this.#output.progress !== undefined && this.#output.mode === 'table') this.#output.progress('\r\u001b[2K');
  }
}
