import type { Output } from '../../output/output.ts';
import { showDuration } from '../../output/units.ts';

/** Time between two lines where there is no terminal to draw on. */
const lineEveryMs = 10_000;

/** An amount of work. */
export interface Work {
  readonly runs: number;
  /**
   * In whatever unit is nearly proportional to time: small runs would make what is left look short if runs were
   * counted.
   */
  readonly cost: number;
}

/** Prints the progress of a study: one line, drawn again in place on a terminal. */
export class StudyProgress {
  readonly #output: Output;
  readonly #clock: { now(): number };
  readonly #total: Work;
  readonly #startedAt: number;
  #done: Work = { runs: 0, cost: 0 };
  #reportedAt: number;

  /** @param total the work in all. */
  constructor(output: Output, clock: { now(): number }, total: Work) {
    this.#output = output;
    this.#clock = clock;
    this.#total = total;
    this.#startedAt = clock.now();
    this.#reportedAt = this.#startedAt;
  }

  /** Adds finished work. */
  add({ runs, cost }: Work): void {
    this.#done = { runs: this.#done.runs + runs, cost: this.#done.cost + cost };
    const now = this.#clock.now();
    const elapsed = now - this.#startedAt;
    const share = this.#done.cost / this.#total.cost;
    const left = share < 1 ? `, about ${showDuration((elapsed * (1 - share)) / share)} left` : '';
    const line = `${Math.floor(100 * share)}% ${this.#done.runs}/${this.#total.runs} runs  ${showDuration(elapsed)}${left}`;
    if (this.#output.progress !== undefined && this.#output.mode === 'table')
      this.#output.progress(`\r\u001b[2K${line}`);
    else if (now - this.#reportedAt >= lineEveryMs || share >= 1) {
      this.#output.note(line);
      this.#reportedAt = now;
    }
  }

  close(): void {
    if (this.#output.progress !== undefined && this.#output.mode === 'table' && this.#done.cost > 0)
      this.#output.progress('\n');
  }
}
