import { encodeLease } from '@mutirao/api/codecs';
import { Lease } from '@mutirao/api/provider';
import type { BrokerCommand } from '@mutirao/core/machines/broker';
import type { LeaseGroup } from '@mutirao/core/messages';
import type { Bytes, Duration, ProviderId, ReplicaId } from '@mutirao/core/shared';

import type { StagedBatch, StageOrder } from '../staging/stager.ts';
import type { ProviderLink } from './provider-link.ts';

type GrantLease = Extract<BrokerCommand, { kind: 'GrantLease' }>;
type RevokeLease = Extract<BrokerCommand, { kind: 'RevokeLease' }>;

/**
 * One version of a lease. While it is staged it may be sent again, with other machines quarantined, so that its
 * sequence alone does not identify it.
 */
interface Announcement {
  /** What was placed while it was staged. */
  readonly placed: Set<ReplicaId>;
}

/** Tasks of one group of a job to lease. */
export interface LeasePart {
  /** For a machine without a name or attributes: only what is the same on all machines is leased. */
  readonly order: StageOrder;
  readonly requirements: string;
  readonly taskTime: Duration;
}

/** What granting leases needs. */
export interface LeaseStagerPort {
  findLink(providerId: ProviderId): Pick<ProviderLink, 'epoch' | 'send' | 'can'> | undefined;
  /** What a grant is about; parts whose job is gone are left out. */
  getParts(command: GrantLease): LeasePart[];
  stage(order: StageOrder): StagedBatch | Promise<StagedBatch>;
  /** A lease left for its provider. */
  onGranted(providerId: ProviderId, replicaCount: number): void;
  onBug(error: unknown): void;
}

/** A lease travels in one message, which may not be larger than a stream takes. */
const leaseBytesMax: Bytes = 8 * 1024 * 1024;

/**
 * Sends providers the leases that the broker decided on, with their files looked at and hashed. A level: of two that
 * are being staged only the later one is sent.
 */
export class LeaseStager {
  readonly #port: LeaseStagerPort;
  /** The last of each provider. */
  readonly #latest = new Map<ProviderId, Announcement>();

  constructor(port: LeaseStagerPort) {
    this.#port = port;
  }

  /** Stages a lease and sends it, unless another comes in between or the connection is lost. */
  grant(command: GrantLease): void {
    const { providerId } = command;
    const link = this.#port.findLink(providerId);
    if (link === undefined) return;
    const announcement: Announcement = { placed: new Set() };
    this.#latest.set(providerId, announcement);
    const { epoch } = link;
    this.#stage(command).then(
      (lease) => {
        if (this.#latest.get(providerId) !== announcement || link.epoch !== epoch) return;
        this.#latest.delete(providerId);
        leaveOut(lease, announcement.placed);
        link.send({ $case: 'lease', value: lease });
        this.#port.onGranted(
          providerId,
          lease.groups.reduce((sum, { start }) => sum + (start?.replicas.length ?? 0), 0),
        );
      },
      (error: unknown) => {
        this.#port.onBug(error);
      },
    );
  }

  /**
   * Reports to a provider which of its leased replicas were placed, and leaves those that are being staged out of the
   * lease.
   */
  trim({ providerId, replicaIds }: RevokeLease): void {
    const announcement = this.#latest.get(providerId);
    for (const replicaId of replicaIds) announcement?.placed.add(replicaId);
    const link = this.#port.findLink(providerId);
    if (link?.can('lease-revocation') === true)
      link.send({ $case: 'leaseRevocation', value: { replicaIds: [...replicaIds] } });
  }

  /** Replicas that cannot be staged now are left out: they have not been placed, so nobody waits for them. */
  async #stage(command: GrantLease): Promise<Lease> {
    const { sequence, horizon, quarantined = [] } = command;
    const groups: LeaseGroup[] = [];
    for (const { order, requirements, taskTime } of this.#port.getParts(command)) {
      const { batch } = await this.#port.stage(order);
      if (batch.replicas.length > 0) groups.push({ start: batch, requirements, taskTime });
    }
    return cutToFit({ sequence, horizon, groups, quarantined });
  }
}

function leaveOut(lease: Lease, placed: ReadonlySet<ReplicaId>): void {
  if (placed.size === 0) return;
  for (const { start } of lease.groups)
    if (start !== undefined) start.replicas = start.replicas.filter(({ replicaId }) => !placed.has(replicaId));
  lease.groups = lease.groups.filter(({ start }) => start !== undefined && start.replicas.length > 0);
}

/** Leaves out what comes last, as far as the message would be too large. */
function cutToFit(lease: Parameters<typeof encodeLease>[0]): Lease {
  const wire = encodeLease(lease);
  while (wire.groups.length > 0 && Lease.encode(wire).finish().length > leaseBytesMax) {
    const last = wire.groups.at(-1)?.start;
    last?.replicas.splice(Math.floor(last.replicas.length / 2));
    if (last === undefined || last.replicas.length === 0) wire.groups.pop();
  }
  return wire;
}
