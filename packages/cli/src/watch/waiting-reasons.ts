import type { JobSummary } from '@mutirao/api/broker';
import { plural } from '@mutirao/core/shared';

import type { BrokerClient } from '@mutirao/runtime/clients';
import type { CommandContext } from '../context.ts';

/** How long a job may be without a task that runs before the user is shown why. */
const patienceMs = 5_000;
const againMs = 10_000;

/** Shows on standard error why no task of a job has begun, each reason once. */
export class WaitingReasons {
  readonly #context: Pick<CommandContext, 'output' | 'clock'>;
  readonly #broker: BrokerClient;
  readonly #jobId: number;
  readonly #shown = new Set<string>();
  #askAt: number;
  #isOver = false;

  constructor(context: Pick<CommandContext, 'output' | 'clock'>, broker: BrokerClient, jobId: number) {
    this.#context = context;
    this.#broker = broker;
    this.#jobId = jobId;
    this.#askAt = context.clock.now() + patienceMs;
  }

  /** Called with what the job is, again and again; asks the broker in the background where it is time. */
  look({ runningCount, finishedCount, failedCount, cancelledCount, endedUnixMs, heldCount }: JobSummary): void {
    this.#isOver ||= endedUnixMs !== 0 || runningCount + finishedCount + failedCount + cancelledCount > 0;
    const now = this.#context.clock.now();
    if (this.#isOver || now < this.#askAt) return;
    this.#askAt = now + againMs;
    this.#broker.explain({ subject: { $case: 'jobId', value: this.#jobId } }).then(
      ({ waiting }) => {
        // The numbers of finished and running tasks are not a reason, and the bar shows them.
        const text = waiting?.text ?? (heldCount === 0 ? undefined : this.#sayHeld(heldCount));
        if (this.#isOver || text === undefined || this.#shown.has(text)) return;
        this.#shown.add(text);
        this.#context.output.note(`job ${this.#jobId} has not started: ${text}`);
      },
      () => undefined,
    ); // The wait itself notices a broker that is away.
  }

  #sayHeld(heldCount: number): string {
    const held = `${plural(heldCount, 'task')} ${heldCount === 1 ? 'is' : 'are'} held`;
    return `${held}. "mutirao job release ${this.#jobId}" lets them start.`;
  }
}
