import { errorOfRefusal, MutiraoError } from '@mutirao/api/errors';
import { sayReason } from '@mutirao/api/reasons';
import type { BrokerId, ProviderState } from '@mutirao/core/machines/provider';
import {
  allowedMachineQuota,
  allowedQuota,
  findMachineQuotaExcess,
  findQuotaExcess,
  type MachineQuotaName,
  type QuotaRules,
  type QuotaUse,
} from '@mutirao/core/quotas';
import type { Bytes, MachineId, UserId } from '@mutirao/core/shared';
import type { OutputSpool } from '../spool/output-spool.ts';
import { userOfBroker } from '../user-of-broker.ts';

/** What a spool quota is worked out from. */
export interface SpoolQuotaOptions {
  readonly state: Pick<ProviderState, 'brokers' | 'kept'>;
  readonly outputs: Pick<OutputSpool, 'bytesWhere' | 'bytesOfMost'>;
  readonly ownerId: UserId;
  readonly quotas: QuotaRules;
}

/**
 * How much of the spool that all share each user may have, for all of the user's brokers together, and each machine.
 */
export class SpoolQuota {
  readonly #options: SpoolQuotaOptions;
  /** Bytes of the reports that are kept of machines, as far as they were counted. */
  readonly #reportBytes = new Map<MachineId, Bytes>();

  constructor(options: SpoolQuotaOptions) {
    this.#options = options;
  }

  /** @throws {MutiraoError} MUT_SPOOL_FULL: the output waits at its machine then. */
  demand(brokerId: BrokerId, machineId: MachineId, more: Bytes): void {
    const { outputs, quotas, ownerId } = this.#options;
    const userId = userOfBroker(brokerId, ownerId);
    if (allowedMachineQuota(quotas, 'machine-spool-bytes') !== Infinity) {
      const used = outputs.bytesWhere((output) => output.machineId === machineId);
      const fault = this.#findMachineExcess('machine-spool-bytes', machineId, { used, more });
      if (fault !== undefined) throw new MutiraoError('MUT_SPOOL_FULL', fault);
    }
    if (allowedQuota(quotas, userId, 'spool-bytes') === Infinity) return;
    const excess = findQuotaExcess(quotas, userId, { name: 'spool-bytes', used: this.#usedBy(userId), more });
    if (excess !== undefined) throw errorOfRefusal({ code: 'MUT_SPOOL_FULL', ...excess });
  }

  /** Why a machine may not have another report kept; undefined where it may. @param reported bytes reported and not yet kept. */
  findReportExcess(machineId: MachineId, reported: Bytes, more: Bytes): string | undefined {
    const used = reported + this.#reportBytesOf(machineId);
    return this.#findMachineExcess('machine-report-bytes', machineId, { used, more });
  }

  /** A report of a machine is kept. */
  noteReport(machineId: MachineId, bytes: Bytes): void {
    const known = this.#reportBytes.get(machineId);
    if (known !== undefined) this.#reportBytes.set(machineId, known + bytes);
  }

  /** Reports of a machine were forgotten: they are counted again when it matters. */
  recountReports(machineId: MachineId): void {
    this.#reportBytes.delete(machineId);
  }

  /** What a user has kept, and may have. */
  useOf(userId: UserId): QuotaUse {
    return {
      name: 'spool-bytes',
      used: this.#usedBy(userId),
      allowed: allowedQuota(this.#options.quotas, userId, 'spool-bytes'),
    };
  }

  /** What the machine has kept that has most of each kind, and what each may have. */
  machineUses(): QuotaUse[] {
    const { outputs, quotas, state } = this.#options;
    const machines = new Set([...state.kept.values()].map(({ facts }) => facts.machineId));
    const use = (name: MachineQuotaName, used: Bytes): QuotaUse => ({
      name,
      used,
      allowed: allowedMachineQuota(quotas, name),
    });
    return [
      use('machine-spool-bytes', outputs.bytesOfMost),
      use('machine-report-bytes', Math.max(0, ...[...machines].map((machineId) => this.#reportBytesOf(machineId)))),
    ];
  }

  #findMachineExcess(
    name: MachineQuotaName,
    machineId: MachineId,
    amounts: { readonly used: Bytes; readonly more: Bytes },
  ): string | undefined {
    const excess = findMachineQuotaExcess(this.#options.quotas, { name, ...amounts, times: 1 });
    return excess === undefined ? undefined : `machine ${machineId}: ${sayReason(excess.fault)}`;
  }

  #usedBy(userId: UserId): Bytes {
    const { outputs, ownerId } = this.#options;
    return outputs.bytesWhere(({ brokerId }) => userOfBroker(brokerId, ownerId) === userId);
  }

  #reportBytesOf(machineId: MachineId): Bytes {
    const known = this.#reportBytes.get(machineId);
    if (known !== undefined) return known;
    let bytes = 0;
    for (const { facts, reports } of this.#options.state.kept.values())
      if (facts.machineId === machineId) for (const report of reports) bytes += report.bytes;
    this.#reportBytes.set(machineId, bytes);
    return bytes;
  }
}
