import type { Lease, MachineReport, ReplicaStart } from '@mutirao/core/messages';
import { invariant, type Bytes, type MachineId, type ReplicaId } from '@mutirao/core/shared';

/**
 * What a provider stores on disk in addition to its journal: bodies of leases and of reports, and the contents that
 * leases need.
 *
 * All of it is synced before anything follows from it, as the live spool does, so that falls of the host leave it as it
 * is.
 */
export class SimulatedSpool {
  readonly #leases = new Map<string, Lease>();
  readonly #reports = new Map<string, MachineReport>();
  readonly contents = new Set<string>();

  writeLease(brokerId: string, lease: Lease): void {
    this.#leases.set(`${brokerId}\n${lease.sequence}`, lease);
  }

  /** Drops the leases before one that was taken. */
  forgetLeases(brokerId: string, before: number): void {
    for (const [key, { sequence }] of this.#leases)
      if (key.startsWith(`${brokerId}\n`) && sequence < before) this.#leases.delete(key);
  }

  findLease(brokerId: string, sequence: number): Lease | undefined {
    return this.#leases.get(`${brokerId}\n${sequence}`);
  }

  /** What the machine needs to start these replicas, one batch for each group. */
  getStarts(brokerId: string, sequence: number, replicaIds: readonly ReplicaId[]): Lease['groups'][number]['start'][] {
    const lease = this.findLease(brokerId, sequence);
    invariant(lease, `lease ${sequence} of ${brokerId} is not in the spool`);
    const wanted = new Set(replicaIds);
    const isWanted = ({ replicaId }: ReplicaStart): boolean => wanted.has(replicaId);
    return lease.groups
      .map(({ start: { template, replicas } }) => ({ template, replicas: replicas.filter(isWanted) }))
      .filter(({ replicas }) => replicas.length > 0);
  }

  writeReport(key: string, report: MachineReport): void {
    this.#reports.set(`${key}\n${report.sequence}`, report);
  }

  getReport(key: string, sequence: number): MachineReport {
    const report = this.#reports.get(`${key}\n${sequence}`);
    invariant(report, `report ${sequence} of ${key} is not in the spool`);
    return report;
  }

  hasReport(key: string, sequence: number): boolean {
    return this.#reports.has(`${key}\n${sequence}`);
  }

  /** Whether it has a report of a machine, of whatever run of its agent. */
  hasReportOf(machineId: MachineId): boolean {
    for (const key of this.#reports.keys()) if (key.startsWith(`${machineId}\n`)) return true;
    return false;
  }

  /** Drops the reports of one run of an agent up to that sequence. */
  forgetReports(key: string, upTo: number): void {
    for (const [name, { sequence }] of this.#reports)
      if (name === `${key}\n${sequence}` && sequence <= upTo) this.#reports.delete(name);
  }
}

/** What a report takes on the disk. */
export function getBytes({ started, ended }: MachineReport): Bytes {
  return (
    100 +
    16 * started.length +
    ended.reduce((sum, { standardOutput, standardError }) => sum + 64 + standardOutput.length + standardError.length, 0)
  );
}
