import { readEnvironment, type ProcessRow } from './process-table.ts';
import { launcherVariable, watchdogVariable } from './watchdog.ts';

interface Origin {
  /** Separates the process from a later one with the same number. */
  readonly startedTicks: number;
  /** Undefined for a process that descends from no process of Mutirao. */
  readonly launcherIndex: number | undefined;
}

/**
 * Finds the launcher that a process descends from, even if it left the launcher's group and its parents are gone.
 *
 * `setsid` leaves a group, but every descendant inherits the environment of the process. Its parents lead to the
 * launcher while they live, and always if the launcher is a subreaper. Known origins are kept.
 */
export class Origins {
  private readonly mark: string;
  private known = new Map<number, Origin>();

  /** @param mark of the watchdog; the launchers have its `environment` and their own `launcherVariable`. */
  constructor(mark: string) {
    this.mark = mark;
  }

  /**
   * The launchers' indexes by pid, of those processes that have one. Cost: reads a file for each process that it has
   * not seen before.
   *
   * @param launchers the indexes of the launchers by the pids of their shells.
   */
  find(rows: readonly ProcessRow[], launchers: ReadonlyMap<number, number>): Map<number, number> {
    const known = new Map<number, Origin>();
    const found = new Map<number, number>();
    for (const { pid, startedTicks } of rows) {
      const before = this.known.get(pid);
      const origin = before?.startedTicks === startedTicks ? before : { startedTicks, launcherIndex: this.read(pid) };
      known.set(pid, origin);
      if (origin.launcherIndex !== undefined) found.set(pid, origin.launcherIndex);
    }
    addDescendants(rows, launchers, found);
    for (const [pid, launcherIndex] of found)
      known.set(pid, { startedTicks: known.get(pid)?.startedTicks ?? 0, launcherIndex });
    this.known = known;
    return found;
  }

  private read(pid: number): number | undefined {
    const environment = readEnvironment(pid);
    return environment.get(watchdogVariable) === this.mark ? Number(environment.get(launcherVariable)) : undefined;
  }
}

/** Adds what descends from launchers, or from what was found, to what was found. */
function addDescendants(
  rows: readonly ProcessRow[],
  launchers: ReadonlyMap<number, number>,
  found: Map<number, number>,
): void {
  const parents = new Map(rows.map(({ pid, ppid }) => [pid, ppid]));
  for (const { pid } of rows) {
    if (launchers.has(pid) || found.has(pid)) continue;
    const passed = [pid];
    let at = parents.get(pid);
    // A table that is read while processes end may lead in a circle.
    while (at !== undefined && !launchers.has(at) && !found.has(at) && passed.length <= rows.length) {
      passed.push(at);
      at = parents.get(at);
    }
    addAll(passed, at === undefined ? undefined : (launchers.get(at) ?? found.get(at)), found);
  }
}

function addAll(pids: readonly number[], index: number | undefined, found: Map<number, number>): void {
  if (index !== undefined) for (const pid of pids) found.set(pid, index);
}
