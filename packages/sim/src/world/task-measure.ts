import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { MachineReport } from '@mutirao/core/messages';
import type { Duration, Instant, MachineId, ReplicaId, RequestId } from '@mutirao/core/shared';

/**
 * What a relay sees of tasks, as the live provider's collects it: run times by request, and since when tasks run on
 * machines of allocations.
 */
export class TaskMeasure {
  readonly #now: () => Instant;
  readonly #measured = new Map<
    RequestId,
    { longest: Duration; total: Duration; count: number; shortest: Duration; squares: number }
  >();
  readonly #running = new Map<MachineId, Map<ReplicaId, Instant>>();
  readonly #changed = new Set<MachineId>();

  constructor(now: () => Instant) {
    this.#now = now;
  }

  /** Takes a report that is passed on. */
  receive(
    { machineId, requestId }: { readonly machineId: MachineId; readonly requestId: RequestId },
    { started, ended }: MachineReport,
  ): void {
    for (const { outcome, startedAt, endedAt } of ended) {
      if (outcome === 'succeeded' || outcome === 'failed')
        this.#note(requestId, startedAt === 0 ? 0 : Math.max(0, endedAt - startedAt));
    }
    if (requestId === '' || started.length + ended.length === 0) return;
    const running = this.#running.get(machineId) ?? new Map<ReplicaId, Instant>();
    this.#running.set(machineId, running);
    for (const { replicaId } of started) running.set(replicaId, this.#now());
    for (const { replicaId } of ended) running.delete(replicaId);
    this.#changed.add(machineId);
  }

  #note(requestId: RequestId, runTime: Duration): void {
    const measured = this.#measured.get(requestId) ?? {
      longest: 0,
      total: 0,
      count: 0,
      shortest: Infinity,
      squares: 0,
    };
    this.#measured.set(requestId, measured);
    measured.longest = Math.max(measured.longest, runTime);
    measured.total += runTime;
    measured.count += 1;
    measured.shortest = Math.min(measured.shortest, runTime);
    measured.squares += runTime * runTime;
  }

  /** The provider's clock was set: what runs has run for as long as before. */
  moveClock(by: Duration): void {
    for (const running of this.#running.values())
      for (const [replicaId, at] of running) running.set(replicaId, at + by);
  }

  /** The machine's agent is away. */
  forget(machineId: MachineId): void {
    this.#running.delete(machineId);
    this.#changed.delete(machineId);
  }

  /** What was collected, and begins again. */
  take(): (ProviderInput & { kind: 'TasksMeasured' })[] {
    const inputs = [...this.#measured].map(([requestId, measured]) => ({
      kind: 'TasksMeasured' as const,
      requestId,
      ...measured,
    }));
    this.#measured.clear();
    return inputs;
  }

  /** On which machines tasks began or ended since this was last asked. */
  takeRunning(): (ProviderInput & { kind: 'TasksSeen' })[] {
    if (this.#changed.size === 0) return [];
    const machines = Array.from(this.#changed, (machineId) => [machineId, ...this.#sinceOf(machineId)] as const);
    this.#changed.clear();
    return [{ kind: 'TasksSeen', machines }];
  }

  #sinceOf(machineId: MachineId): Instant[] {
    const running = this.#running.get(machineId);
    return running === undefined || running.size === 0 ? [0] : [...running.values()];
  }
}
