import { MutiraoError } from '@mutirao/api/errors';
import { allowedQuota, findQuotaExcess, RateBucket, type QuotaName, type QuotaRules, type QuotaUse } from '@mutirao/core/quotas';
import type { Bytes, Instant, UserId } from '@mutirao/core/shared';
import type { Connection } from './connections.ts';

interface Load {
  connectionCount: number;
  streamCount: number;
  requestBytes: Bytes;
  readonly rate: RateBucket;
  /** When its last call began. */
  usedAt: Instant;
}

/** Over which calls per second are averaged. */
const rateSpan = 10_000;

/** What each user takes of one server: connections, open calls, calls per second, and bytes of requests that are arriving. */
export class UserLoads {
  readonly #quotas: QuotaRules;
  readonly #loads = new Map<UserId, Load>();

  constructor(quotas: QuotaRules) {
    this.#quotas = quotas;
  }

  /** A call of a user begins. @throws {MutiraoError} MUT_USER_RATE or MUT_USER_QUOTA, and then nothing is counted. */
  begin(userId: UserId, connection: Connection, now: Instant): void {
    const load = this.#loadOf(userId);
    load.usedAt = now;
    const perSecond = allowedQuota(this.#quotas, userId, 'requests-per-second');
    if (!load.rate.take(perSecond, now)) throw new MutiraoError('MUT_USER_RATE', `${userId} begins more than ${perSecond} calls per second at this server`);
    this.#demand(userId, 'streams', { used: load.streamCount, more: 1 });
    if (!connection.userIds.has(userId)) {
      this.#demand(userId, 'connections', { used: load.connectionCount, more: 1 });
      connection.userIds.add(userId);
      load.connectionCount += 1;
    }
    load.streamCount += 1;
  }

  /** A large request is announced. @throws {MutiraoError} MUT_USER_QUOTA */
  reserve(userId: UserId, bytes: Bytes): void {
    const load = this.#loadOf(userId);
    this.#demand(userId, 'request-bytes', { used: load.requestBytes, more: bytes });
    load.requestBytes += bytes;
  }

  /** A call has ended. @param reserved what was reserved for its request. */
  end(userId: UserId, reserved: Bytes): void {
    const load = this.#loadOf(userId);
    load.streamCount -= 1;
    load.requestBytes -= reserved;
  }

  /** A connection is closed. */
  leave(connection: Connection): void {
    for (const userId of connection.userIds) this.#loadOf(userId).connectionCount -= 1;
    connection.userIds.clear();
  }

  /** Forgets users who have nothing open and whose rate is full again. */
  sweep(now: Instant): void {
    for (const [userId, { connectionCount, streamCount, usedAt }] of this.#loads) {
      if (connectionCount === 0 && streamCount === 0 && now - usedAt > rateSpan) this.#loads.delete(userId);
    }
  }

  /** What a user takes now. */
  usesOf(userId: UserId): QuotaUse[] {
    const load = this.#loads.get(userId);
    const use = (name: QuotaName, used = 0): QuotaUse => ({ name, used, allowed: allowedQuota(this.#quotas, userId, name) });
    return [use('connections', load?.connectionCount), use('streams', load?.streamCount), use('request-bytes', load?.requestBytes), use('requests-per-second')];
  }

  #demand(userId: UserId, name: QuotaName, amounts: { readonly used: number; readonly more: number }): void {
    const excess = findQuotaExcess(this.#quotas, userId, { name, ...amounts });
    if (excess !== undefined) throw new MutiraoError('MUT_USER_QUOTA', excess.message);
  }

  #loadOf(userId: UserId): Load {
    const known = this.#loads.get(userId);
    if (known !== undefined) return known;
    const load: Load = { connectionCount: 0, streamCount: 0, requestBytes: 0, rate: new RateBucket(rateSpan), usedAt: 0 };
    this.#loads.set(userId, load);
    return load;
  }
}
