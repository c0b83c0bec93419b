import type { Duration, Instant, MachineId, ReplicaId } from '@mutirao/core/shared';

/** Collects since when tasks run on the machines of allocations, so that the machine receives changes now and then. */
export class RunningTasks {
  /** By machine: its replicas that are known to run, and since when that is known. */
  readonly #running = new Map<MachineId, Map<ReplicaId, Instant>>();
  readonly #changed = new Set<MachineId>();

  /**
   * Notes that a replica still ran when its agent said so. @param at by our own clock, which the agent's may not agree
   * with.
   */
  noteStart(machineId: MachineId, replicaId: ReplicaId, at: Instant): void {
    let running = this.#running.get(machineId);
    if (running === undefined) {
      running = new Map();
      this.#running.set(machineId, running);
    }
    running.set(replicaId, at);
    this.#changed.add(machineId);
  }

  /** The clock was set: what runs has run for as long as before. */
  moveClock(by: Duration): void {
    for (const running of this.#running.values())
      for (const [replicaId, at] of running) running.set(replicaId, at + by);
  }

  /** Notes that a replica has ended, if it was known to run. */
  noteEnd(machineId: MachineId, replicaId: ReplicaId): void {
    const running = this.#running.get(machineId);
    // An end without a reported start belongs to a short task, or to one from before this process; then nothing older
    // runs there either.
    if (running === undefined || running.delete(replicaId)) this.#changed.add(machineId);
    if (running?.size === 0) this.#running.delete(machineId);
  }

  /** Forgets a machine whose agent is away; its last reported replicas count until it reports again. */
  forget(machineId: MachineId): void {
    this.#running.delete(machineId);
    this.#changed.delete(machineId);
  }

  /** What changed since this was last asked: machines, and since when each runs that runs there; 0 where none does. */
  take(): (readonly [MachineId, ...Instant[]])[] {
    const machines = Array.from(this.#changed, (machineId) => [machineId, ...this.#sinceOf(machineId)] as const);
    this.#changed.clear();
    return machines;
  }

  #sinceOf(machineId: MachineId): Instant[] {
    const running = this.#running.get(machineId);
    return running === undefined ? [0] : [...running.values()];
  }
}
