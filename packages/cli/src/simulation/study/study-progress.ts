import type { Output } from '../../output/output.ts';
import { showDuration } from '../../output/units.ts';

/** Time between two lines where there is no terminal to draw on. */
const lineEveryMs = 10_000;

/** Tells how far a study is: one line, drawn again in place on a terminal. */
export class StudyProgress {
  readonly #output: Output;
  readonly #clock: { now(): number };
  readonly #total: number;
  readonly #startedAt: number;
  #done = 0;
  #toldAt: number;

  /** @param total runs that are to be done. */
  constructor(output: Output, clock: { now(): number }, total: number) {
    this.#output = output;
    this.#clock = clock;
    this.#total = total;
    this.#startedAt = clock.now();
    this.#toldAt = this.#startedAt;
  }

  /** Notes that so many more runs are done. */
  add(count: number): void {
    this.#done += count;
    const now = this.#clock.now();
    const elapsed = now - this.#startedAt;
    const left = this.#done < this.#total ? `, about ${showDuration((elapsed * (this.#total - this.#done)) / this.#done)} left` : '';
    const line = `${Math.floor((100 * this.#done) / this.#total)}% ${this.#done}/${this.#total} runs  ${showDuration(elapsed)}${left}`;
    if (this.#output.progress !== undefined && this.#output.mode === 'table') this.#output.progress(`\r\u001b[2K${line}`);
    else if (now - this.#toldAt >= lineEveryMs || this.#done === this.#total) {
      this.#output.note(line);
      this.#toldAt = now;
    }
  }

  close(): void {
    if (this.#output.progress !== undefined && this.#output.mode === 'table' && this.#done > 0) this.#output.progress('\n');
  }
}
