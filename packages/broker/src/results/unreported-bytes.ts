import { rmSync } from 'node:fs';

import { MutiraoError } from '@mutirao/api/errors';
import { sayReason } from '@mutirao/api/reasons';
import {
  allowedMachineQuota,
  findMachineQuotaExcess,
  noQuotaRules,
  type QuotaRules,
  type QuotaUse,
} from '@mutirao/core/quotas';
import type { Bytes, Duration, Instant, MachineId } from '@mutirao/core/shared';
import { steadyClock } from '@mutirao/runtime/driver';

/** A file that a machine has brought, or brings. */
interface Unreported {
  readonly machineId: MachineId;
  readonly bytes: Bytes;
  readonly since: Instant;
  /** It is being written. */
  readonly isArriving: boolean;
}

/** What the count needs to know; nothing is refused when it is left out. */
export interface UnreportedBytesOptions {
  readonly quotas: QuotaRules;
  /** Tasks that run on a machine. */
  tasksOn(machineId: MachineId): number;
  readonly clock: { now(): Instant };
}

/** An agent that pushed this long ago and has not reported has forgotten the push. */
const ageMax: Duration = 24 * 3_600_000;

/**
 * Bytes that each machine has brought without a report that a task of its own ended with them.
 *
 * A file counts from when it is announced until its report comes: then it is one of the outputs of a task, which has
 * one report. So what a machine brings is bounded by the tasks that it is given. Forgotten with the process: files from
 * before are removed when they are old.
 */
export class UnreportedBytes {
  readonly #options: UnreportedBytesOptions;
  readonly #files = new Map<string, Unreported>();
  readonly #sums = new Map<MachineId, Bytes>();
  #lastPrinted = 0;

  constructor({ quotas = noQuotaRules, tasksOn = () => 1, clock = steadyClock }: Partial<UnreportedBytesOptions> = {}) {
    this.#options = { quotas, tasksOn, clock };
  }

  /** Counts a file that begins to come. @throws {MutiraoError} MUT_MACHINE_QUOTA, and then nothing is counted. */
  begin(machineId: MachineId, path: string, bytes: Bytes): void {
    if (this.#findExcess(machineId, bytes) !== undefined) this.#removeOld(machineId);
    const excess = this.#findExcess(machineId, bytes);
    if (excess !== undefined) throw new MutiraoError('MUT_MACHINE_QUOTA', `machine ${machineId}: ${excess}`);
    this.#enter(path, { machineId, bytes, since: this.#options.clock.now(), isArriving: true });
  }

  /**
   * Counts what a task printed, and returns the key to release it by. Each call gets a new key: a repeated report
   * counts again, and a report of another machine's replica changes no count but that of its sender.
   *
   * @throws {MutiraoError} MUT_MACHINE_QUOTA, and then nothing is counted.
   */
  beginPrinted(machineId: MachineId, bytes: Bytes): string {
    this.#lastPrinted += 1;
    const key = `printed ${this.#lastPrinted}`;
    this.begin(machineId, key, bytes);
    return key;
  }

  /** A file has come, or a part of it stays. */
  keep(machineId: MachineId, path: string, bytes: Bytes): void {
    this.#enter(path, { machineId, bytes, since: this.#options.clock.now(), isArriving: false });
  }

  /** A file was reported, is removed, or did not come. Harmless again. */
  release(path: string): void {
    const file = this.#files.get(path);
    if (file === undefined) return;
    this.#files.delete(path);
    const left = this.getBytes(file.machineId) - file.bytes;
    if (left > 0) this.#sums.set(file.machineId, left);
    else this.#sums.delete(file.machineId);
  }

  getBytes(machineId: MachineId): Bytes {
    return this.#sums.get(machineId) ?? 0;
  }

  /** What the machine has that has most. */
  mostUsed(): QuotaUse {
    return {
      name: 'machine-bytes',
      used: Math.max(0, ...this.#sums.values()),
      allowed: allowedMachineQuota(this.#options.quotas, 'machine-bytes'),
    };
  }

  #enter(path: string, file: Unreported): void {
    this.release(path);
    this.#files.set(path, file);
    this.#sums.set(file.machineId, this.getBytes(file.machineId) + file.bytes);
  }

  #findExcess(machineId: MachineId, more: Bytes): string | undefined {
    const { quotas, tasksOn } = this.#options;
    const excess = findMachineQuotaExcess(quotas, {
      name: 'machine-bytes',
      used: this.getBytes(machineId),
      more,
      times: Math.max(1, tasksOn(machineId)),
    });
    return excess === undefined ? undefined : sayReason(excess.fault);
  }

  #removeOld(machineId: MachineId): void {
    const before = this.#options.clock.now() - ageMax;
    for (const [path, file] of this.#files) {
      if (file.machineId !== machineId || file.isArriving || file.since > before) continue;
      rmSync(path, { force: true });
      this.release(path);
    }
  }
}
