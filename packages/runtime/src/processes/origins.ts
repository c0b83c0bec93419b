import { readEnvironment, type ProcessRow } from './process-table.ts';
import { launcherVariable, watchdogVariable } from './watchdog.ts';

interface Origin {
  /** Tells the process from a later one of the same number. */
  readonly startedTicks: number;
  /** Undefined for a process that descends from none of ours. */
  readonly launcherIndex: number | undefined;
}

/**
 * Tells which launcher a process descends from, also when it left the launcher's group and its parents are gone.
 *
 * A group can be left by `setsid`, while the environment that a process was started with comes down to all it starts. A process that was
 * given another environment altogether is not found.
 */
export class Origins {
  private readonly mark: string;
  private known = new Map<number, Origin>();

  /** @param mark of the watchdog whose `environment` the launchers have, beside their own `launcherVariable`. */
  constructor(mark: string) {
    this.mark = mark;
  }

  /** The launchers' indexes by pid, of those processes that have one. Cost: reads a file for each process that it has not seen before. */
  find(rows: readonly ProcessRow[]): Map<number, number> {
    const known = new Map<number, Origin>();
    const found = new Map<number, number>();
    for (const { pid, startedTicks } of rows) {
      const before = this.known.get(pid);
      const origin = before?.startedTicks === startedTicks ? before : { startedTicks, launcherIndex: this.read(pid) };
      known.set(pid, origin);
      if (origin.launcherIndex !== undefined) found.set(pid, origin.launcherIndex);
    }
    this.known = known;
    return found;
  }

  private read(pid: number): number | undefined {
    const environment = readEnvironment(pid);
    return environment.get(watchdogVariable) === this.mark ? Number(environment.get(launcherVariable)) : undefined;
  }
}
