import { linkSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { prepareHome, readFileId } from '@mutirao/runtime/files';

/** What `mutirao up` writes to grid.json in the home folder, for other commands to find the parts of the grid. */
export interface GridRecord {
  /** The process that supervises the grid. */
  readonly pid: number;
  /** The host of that process; a home folder may be shared among hosts. */
  readonly host?: string;
  /** Where its process numbers hold, from `findProcessSpace`: a host may change its name. Left out if unknown. */
  readonly processSpace?: string;
  /**
   * Identifies the home folder, so that a copy of it does not use the record; left out where the file system has no
   * identities.
   */
  readonly homeId?: number;
  readonly startedUnixMs: number;
  /** Its address; empty while the grid is starting. */
  readonly broker: string;
  readonly clusters: readonly ClusterRecord[];
  /** Address of its reservation manager; left out where it has none. */
  readonly reservations?: string;
  /** Address of its page, with the token; left out where it has none. */
  readonly page?: string;
  /** Time-shared lab machines. */
  readonly machines: number;
  /** Every process of the grid by its name. */
  readonly processes: Readonly<Record<string, number>>;
  /** Names of processes that have been started and do not listen yet; left out when there are none. */
  readonly starting?: readonly string[];
}

/** One embedded cluster and its provider. */
export interface ClusterRecord {
  readonly name: string;
  readonly processors: number;
  readonly cluster: string;
  readonly provider: string;
}

/** Where the record of a home folder's grid is. */
export function gridRecordPath(home: string): string {
  return join(home, 'grid.json');
}

/** The record of the home folder's grid, or undefined where there is none (or none that can be read). */
export function findGridRecord(home: string): GridRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(gridRecordPath(home), 'utf8')) as GridRecord;
    // The processes of a copied record are those of the original, and must not be ended from here.
    return record.homeId === undefined || record.homeId === readFileId(home) ? record : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes the first record of a home folder's grid. @returns false when there is one already; of two that try at once
 * one wins.
 */
export function claimHome(home: string, record: GridRecord): boolean {
  prepareHome(home);
  const draft = `${gridRecordPath(home)}.${record.pid}.tmp`;
  const homeId = readFileId(home);
  writeFileSync(draft, `${JSON.stringify({ ...record, ...(homeId === undefined ? {} : { homeId }) })}\n`, {
    mode: 0o600,
  });
  try {
    linkSync(draft, gridRecordPath(home));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Whether a Mutirao process has that id: ids are used again, so its command line must name this program.
 *
 * @param mark a part of its command line.
 */
export function isOurs(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
  } catch {
    return false;
  }
}

/** Whether a grid runs on another host, which shares the home folder; its state is unknown here. */
export function isElsewhere({ host, processSpace }: GridRecord): boolean {
  if (host === undefined || host === hostname()) return false;
  return processSpace === undefined || processSpace !== findProcessSpace();
}

/**
 * Identifies the running kernel and the process numbers that this process sees: containers of one host share the
 * kernel alone. Undefined where the system does not say.
 */
export function findProcessSpace(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

/** Whether the process that supervises a grid lives; one on another host is taken to. */
export function isSupervised(grid: GridRecord): boolean {
  return isElsewhere(grid) || isOurs(grid.pid, 'mutirao');
}

/** A grid as JSON. */
export function gridJson(home: string, grid: GridRecord): Record<string, unknown> {
  return {
    home,
    pid: grid.pid,
    started_unix_ms: grid.startedUnixMs,
    broker: grid.broker,
    clusters: grid.clusters,
    machines: grid.machines,
    reservations: grid.reservations ?? '',
    page: grid.page ?? '',
  };
}
