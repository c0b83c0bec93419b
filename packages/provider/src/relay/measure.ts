import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { Duration, MachineId, ReplicaId, RequestId } from '@mutirao/core/shared';
import type { Clock } from '@mutirao/runtime/driver';
import { RunningTasks } from './running-tasks.ts';

/** Run times of tasks since the last report. */
interface Measured {
  longest: Duration;
  total: Duration;
  count: number;
  shortest: Duration;
  squares: number;
}

const succeeded = 1;
const failed = 2;

/**
 * Collects the run times of tasks, by request, and the start times of running tasks, so that the machine receives them
 * now and then instead of task by task.
 */
export class TaskMeasure {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #byRequest = new Map<RequestId, Measured>();
  readonly #running = new RunningTasks();
  #endedCount = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

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
      measured = { longest: 0, total: 0, count: 0, shortest: Infinity, squares: 0 };
      this.#byRequest.set(requestId, measured);
    }
    measured.longest = Math.max(measured.longest, runTime);
    measured.total += runTime;
    measured.count += 1;
    measured.shortest = Math.min(measured.shortest, runTime);
    measured.squares += runTime * runTime;
  }

  /** Notes that a replica of an allocation still ran when its agent said so. */
  noteStart(machineId: MachineId, replicaId: ReplicaId): void {
    this.#running.noteStart(machineId, replicaId, this.#clock.now());
  }

  /** The clock was set: what runs has run for as long as before. */
  moveClock(by: Duration): void {
    this.#running.moveClock(by);
  }

  /** Notes that a replica of an allocation has ended. */
  noteEnd(machineId: MachineId, replicaId: ReplicaId): void {
    this.#running.noteEnd(machineId, replicaId);
  }

  /** Forgets what runs on a machine whose agent is away. */
  forget(machineId: MachineId): void {
    this.#running.forget(machineId);
  }

  /** On which machines tasks began or ended since this was last asked; undefined where none did. */
  takeRunning(): (ProviderInput & { kind: 'TasksSeen' }) | undefined {
    const machines = this.#running.take();
    return machines.length === 0 ? undefined : { kind: 'TasksSeen', machines };
  }

  /** What was collected, and begins again. */
  take(): (ProviderInput & { kind: 'TasksMeasured' })[] {
    const inputs = [...this.#byRequest].map(([requestId, measured]) => ({
      kind: 'TasksMeasured' as const,
      requestId,
      ...measured,
    }));
    this.#byRequest.clear();
    return inputs;
  }
}
