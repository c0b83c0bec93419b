import { errorOfRefusal, MutiraoError } from '@mutirao/api/errors';
import {
  allowedMachineQuota,
  allowedQuota,
  findMachineQuotaExcess,
  findQuotaExcess,
  RateBucket,
  type MachineQuotaName,
  type QuotaName,
  type QuotaRules,
  type QuotaUse,
} from '@mutirao/core/quotas';
import type { Bytes, Instant, UserId } from '@mutirao/core/shared';
import type { Connection } from './connections.ts';

/** Who makes a call. */
export interface Caller {
  readonly userId: UserId;
  /** How many machines share the credential that an agent shows; undefined for a user. */
  readonly machineCount?: number;
}

interface Load {
  /** As of its last call. */
  caller: Caller;
  connectionCount: number;
  streamCount: number;
  requestBytes: Bytes;
  readonly rate: RateBucket;
  readonly attachRate: RateBucket;
  /** When its last call began. */
  usedAt: Instant;
}

/** Over which calls per second are averaged. */
const rateSpan = 10_000;
/** Over which a machine's attempts to attach are averaged. */
const attachSpan = 60_000;

/**
 * What each user and each machine takes of one server: connections, open calls, calls per second, and of users the
 * bytes of requests that are arriving.
 */
export class CallerLoads {
  readonly #quotas: QuotaRules;
  readonly #loads = new Map<string, Load>();

  constructor(quotas: QuotaRules) {
    this.#quotas = quotas;
  }

  /**
   * A call begins. @param isAttach whether a machine attaches by it, which costs far more than another call. @throws {MutiraoError} MUT_USER_RATE, MUT_USER_QUOTA or MUT_MACHINE_QUOTA, and then nothing is
   * counted.
   */
  begin(caller: Caller, connection: Connection, now: Instant, isAttach = false): void {
    const load = this.#loadOf(caller);
    load.caller = caller;
    load.usedAt = now;
    this.#takeRate(load, now);
    if (isAttach) this.#takeAttach(load, now);
    this.#demand(caller, 'streams', { used: load.streamCount, more: 1 });
    const key = getKey(caller);
    if (!connection.callers.has(key)) {
      this.#demand(caller, 'connections', { used: load.connectionCount, more: 1 });
      connection.callers.add(key);
      load.connectionCount += 1;
    }
    load.streamCount += 1;
  }

  /** A large request is announced. @throws {MutiraoError} MUT_USER_QUOTA */
  reserve(caller: Caller, bytes: Bytes): void {
    const load = this.#loadOf(caller);
    // Those of agents are small: what they push comes in streams.
    if (caller.machineCount === undefined)
      requireUser(this.#quotas, caller.userId, 'request-bytes', { used: load.requestBytes, more: bytes });
    load.requestBytes += bytes;
  }

  /** A call has ended. @param reserved what was reserved for its request. */
  end(caller: Caller, reserved: Bytes): void {
    const load = this.#loadOf(caller);
    load.streamCount -= 1;
    load.requestBytes -= reserved;
  }

  /** A connection is closed. */
  leave(connection: Connection): void {
    for (const key of connection.callers) {
      const load = this.#loads.get(key);
      if (load !== undefined) load.connectionCount -= 1;
    }
    connection.callers.clear();
  }

  /** Forgets callers with nothing open and a full rate allowance. */
  sweep(now: Instant): void {
    for (const [key, { connectionCount, streamCount, usedAt }] of this.#loads) {
      if (connectionCount === 0 && streamCount === 0 && now - usedAt > attachSpan) this.#loads.delete(key);
    }
  }

  /** What a user takes now. */
  usesOf(userId: UserId): QuotaUse[] {
    const load = this.#loads.get(getKey({ userId }));
    const use = (name: QuotaName, used = 0): QuotaUse => ({
      name,
      used,
      allowed: allowedQuota(this.#quotas, userId, name),
    });
    return [
      use('connections', load?.connectionCount),
      use('streams', load?.streamCount),
      use('request-bytes', load?.requestBytes),
      use('requests-per-second'),
    ];
  }

  /** What the machine takes now that takes most of each kind. */
  machineUses(): QuotaUse[] {
    const most = { connections: 0, streams: 0 };
    for (const {
      caller: { machineCount },
      connectionCount,
      streamCount,
    } of this.#loads.values()) {
      if (machineCount === undefined) continue;
      most.connections = Math.max(most.connections, Math.ceil(connectionCount / machineCount));
      most.streams = Math.max(most.streams, Math.ceil(streamCount / machineCount));
    }
    const use = (name: MachineQuotaName, used: number): QuotaUse => ({
      name,
      used,
      allowed: allowedMachineQuota(this.#quotas, name),
    });
    return [
      use('machine-connections', most.connections),
      use('machine-streams', most.streams),
      use('machine-requests-per-second', 0),
      use('machine-attaches-per-minute', 0),
    ];
  }

  #takeRate({ caller: { userId, machineCount }, rate }: Load, now: Instant): void {
    if (machineCount === undefined) {
      const perSecond = allowedQuota(this.#quotas, userId, 'requests-per-second');
      if (!rate.take(perSecond, now))
        throw new MutiraoError(
          'MUT_USER_RATE',
          `${userId} begins more than ${perSecond} calls per second at this server`,
        );
      return;
    }
    const perSecond = allowedMachineQuota(this.#quotas, 'machine-requests-per-second') * machineCount;
    if (!rate.take(perSecond, now))
      throw new MutiraoError(
        'MUT_MACHINE_QUOTA',
        `${userId} begins more than ${perSecond} calls per second, the quota "machine-requests-per-second"`,
      );
  }

  #takeAttach({ caller: { userId, machineCount }, attachRate }: Load, now: Instant): void {
    if (machineCount === undefined) return;
    const perMinute = allowedMachineQuota(this.#quotas, 'machine-attaches-per-minute') * machineCount;
    if (!attachRate.take(perMinute / 60, now))
      throw new MutiraoError(
        'MUT_MACHINE_QUOTA',
        `${userId} attaches more often than the ${perMinute} times a minute of the quota ` +
          '"machine-attaches-per-minute"',
      );
  }

  #demand(
    { userId, machineCount }: Caller,
    name: 'connections' | 'streams',
    amounts: { readonly used: number; readonly more: number },
  ): void {
    if (machineCount === undefined) {
      requireUser(this.#quotas, userId, name, amounts);
      return;
    }
    const excess = findMachineQuotaExcess(this.#quotas, { name: `machine-${name}`, ...amounts, times: machineCount });
    if (excess !== undefined) throw errorOfRefusal({ code: 'MUT_MACHINE_QUOTA', ...excess }, `${userId}: `);
  }

  #loadOf(caller: Caller): Load {
    const key = getKey(caller);
    const known = this.#loads.get(key);
    if (known !== undefined) return known;
    const load: Load = {
      caller,
      connectionCount: 0,
      streamCount: 0,
      requestBytes: 0,
      rate: new RateBucket(rateSpan),
      attachRate: new RateBucket(attachSpan),
      usedAt: 0,
    };
    this.#loads.set(key, load);
    return load;
  }
}

/** No user is taken for a machine, whatever the name. */
function getKey({ userId, machineCount }: Caller): string {
  return machineCount === undefined ? userId : `\0${userId}`;
}

/** @throws {MutiraoError} MUT_USER_QUOTA */
function requireUser(
  quotas: QuotaRules,
  userId: UserId,
  name: QuotaName,
  amounts: { readonly used: number; readonly more: number },
): void {
  const excess = findQuotaExcess(quotas, userId, { name, ...amounts });
  if (excess !== undefined) throw errorOfRefusal({ code: 'MUT_USER_QUOTA', ...excess });
}
