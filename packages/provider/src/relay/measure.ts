import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { Duration, RequestId } from '@mutirao/core/shared';

/** Run times of tasks since they were last told. */
interface Measured {
  longest: Duration;
  total: Duration;
  count: number;
}

const succeeded = 1;
const failed = 2;

/** Collects run times of tasks, by request, so that the machine hears of them now and then instead of task by task. */
export class TaskMeasure {
  readonly #byRequest = new Map<RequestId, Measured>();
  #endedCount = 0;

  /** Replicas that ended since the start, however they did. */
  get endedCount(): number {
    return this.#endedCount;
  }

  /** Notes an end; `outcome` as on the wire. Only tasks that ran to an end of their own count. */
  note(requestId: RequestId, outcome: number, runTime: Duration): void {
    this.#endedCount += 1;
    if (outcome !== succeeded && outcome !== failed) return;
    let measured = this.#byRequest.get(requestId);
    if (measured === undefined) {
      measured = { longest: 0, total: 0, count: 0 };
      this.#byRequest.set(requestId, measured);
    }
    measured.longest = Math.max(measured.longest, runTime);
    measured.total += runTime;
    measured.count += 1;
  }

  /** What was collected, and begins anew. */
  take(): (ProviderInput & { kind: 'TasksMeasured' })[] {
    const inputs = [...this.#byRequest].map(([requestId, measured]) => ({ kind: 'TasksMeasured' as const, requestId, ...measured }));
    this.#byRequest.clear();
    return inputs;
  }
}
