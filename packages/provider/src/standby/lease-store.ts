import { asBuffer, decodeContent, decodeLease, decodeMessage, encodeBlobRequest } from '@mutirao/api/codecs';
import { AttachResponse, type ReplicaStart } from '@mutirao/api/machine';
import { FromMachine, Lease } from '@mutirao/api/provider';
import { outlineLease } from '@mutirao/core/bag';
import type { BrokerId, ProviderInput } from '@mutirao/core/machines/provider';
import type { Content } from '@mutirao/core/messages';
import type { Duration, Instant, ReplicaId } from '@mutirao/core/shared';
import type { Clock, Timers } from '@mutirao/runtime/driver';
import type { Logger } from '@mutirao/runtime/log';
import type { SiteContents } from '../contents/site-contents.ts';
import { frameFromMachine, machineIdField } from '../relay/wire.ts';
import type { SpooledBodies } from '../spool/spooled-bodies.ts';

/** What keeping leases needs. */
export interface LeaseStoreOptions {
  readonly bodies: Pick<SpooledBodies, 'keepLease' | 'findLease' | 'dropLeasesBefore'>;
  /** Undefined where no contents are kept: then only tasks without inputs are started from leases. */
  readonly contents: Pick<SiteContents, 'has' | 'pin' | 'wantOwn' | 'proofsFor'> | undefined;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  deliver(input: ProviderInput): void;
  /** Sends a message to a broker; nothing while it is away. */
  report(brokerId: BrokerId, message: Buffer): void;
}

/** A leased replica as its machine gets it. */
interface LeasedReplica {
  readonly groupIndex: number;
  readonly start: ReplicaStart;
}

/** A lease whose body was read. */
interface ReadLease {
  readonly sequence: number;
  /** Over which it came; 0 where that was before this process started. */
  readonly connectionId: number;
  readonly body: Lease;
  readonly replicas: ReadonlyMap<ReplicaId, LeasedReplica>;
  /** Contents that some of its replicas lack, by hash. */
  readonly lacking: Map<string, Content>;
  /** What each replica still lacks; those that lack nothing are not here. */
  readonly unstocked: Map<ReplicaId, readonly string[]>;
  /** Contents that the broker was asked for, and when. */
  readonly asked: Map<string, Instant>;
}

/** Time between two looks at which contents have come. */
const lookInterval: Duration = 500;
/** Contents that are asked for at a time. */
const askedMax = 64;
/** A content that did not arrive within this time is requested again. */
const askAgainAfter: Duration = 90_000;
/** Contents that are looked for in one turn. */
const looksMax = 1_000;

/** Keeps what brokers lease: the bodies on disk, and in the site's store the contents that leased tasks will read. */
export class LeaseStore {
  readonly #options: LeaseStoreOptions;
  readonly #leases = new Map<BrokerId, ReadLease>();
  #timer: unknown;

  constructor(options: LeaseStoreOptions) {
    this.#options = options;
  }

  /** Takes a broker's lease. @param bytes a Lease. @throws {MutiraoError} MUT_PROTOCOL, MUT_BAD_REQUEST */
  take(brokerId: BrokerId, connectionId: number, bytes: Uint8Array): void {
    const body = decodeMessage(Lease, bytes);
    const lease = decodeLease(body);
    try {
      this.#options.bodies.keepLease(brokerId, lease.sequence, bytes);
    } catch (error) {
      // Without it the provider only keeps fewer tasks going; what it has promised it can still do.
      this.#options.log.warn({ err: error, broker: brokerId }, 'cannot store a lease');
      return;
    }
    this.#enter(brokerId, connectionId, body);
    this.#options.deliver({ kind: 'LeaseGranted', brokerId, connectionId, lease: outlineLease(lease) });
    this.#look();
  }

  /** Takes up a lease that was taken before this process started. */
  resume(brokerId: BrokerId, sequence: number): void {
    const bytes = this.#options.bodies.findLease(brokerId, sequence);
    if (bytes === undefined) return;
    this.#enter(brokerId, 0, Lease.decode(bytes));
    this.#look();
  }

  /** A broker's lease has replaced those before it. */
  replace(brokerId: BrokerId, sequence: number): void {
    this.#options.bodies.dropLeasesBefore(brokerId, sequence);
  }

  /** What a broker leased over earlier connections is void; what it may have leased over this one since is not. */
  forget(brokerId: BrokerId, connectionId: number): void {
    const known = this.#leases.get(brokerId);
    if (known === undefined || known.connectionId >= connectionId) return;
    this.#leases.delete(brokerId);
    this.#options.contents?.pin(brokerId, new Set());
    this.#options.bodies.dropLeasesBefore(brokerId, Number.MAX_SAFE_INTEGER);
  }

  /** Replicas of a broker's lease whose contents are not all here. */
  unstockedCount(brokerId: BrokerId): number {
    return this.#leases.get(brokerId)?.unstocked.size ?? 0;
  }

  /** The messages that start leased replicas, in this order, and those of them that are not on the disk any more. */
  startMessages(
    brokerId: BrokerId,
    sequence: number,
    replicaIds: readonly ReplicaId[],
  ): { readonly messages: Buffer[]; readonly missing: ReplicaId[] } {
    const lease = this.#find(brokerId, sequence);
    const missing = replicaIds.filter((replicaId) => lease?.replicas.has(replicaId) !== true);
    if (missing.length > 0)
      this.#options.log.error(
        { broker: brokerId, lease: sequence, missing: missing.length },
        'files of leased replicas are missing',
      );
    return { messages: lease === undefined ? [] : listMessages(lease, replicaIds), missing };
  }

  /** Stops looking. */
  close(): void {
    this.#options.timers.cancel(this.#timer);
    this.#leases.clear();
  }

  /** One that was replaced a moment ago is read once more. */
  #find(brokerId: BrokerId, sequence: number): ReadLease | undefined {
    const known = this.#leases.get(brokerId);
    if (known?.sequence === sequence) return known;
    const bytes = this.#options.bodies.findLease(brokerId, sequence);
    return bytes === undefined ? undefined : readLease(Lease.decode(bytes), 0);
  }

  #enter(brokerId: BrokerId, connectionId: number, body: Lease): void {
    const lease = readLease(body, connectionId);
    this.#leases.set(brokerId, lease);
    this.#options.contents?.pin(brokerId, new Set(lease.lacking.keys()));
  }

  /** Reports arrived contents to the machine, requests missing ones, and looks again as long as any are missing. */
  #look(): void {
    const { timers, contents } = this.#options;
    timers.cancel(this.#timer);
    if (contents === undefined) return;
    let isComplete = true;
    for (const [brokerId, lease] of this.#leases) {
      this.#noteArrived(brokerId, lease, contents);
      this.#askFor(brokerId, lease, contents);
      if (lease.lacking.size > 0) isComplete = false;
    }
    if (!isComplete)
      this.#timer = timers.start(lookInterval, () => {
        this.#look();
      });
  }

  #noteArrived(brokerId: BrokerId, lease: ReadLease, contents: Pick<SiteContents, 'has'>): void {
    let looksLeft = looksMax;
    for (const [sha256, content] of lease.lacking) {
      if (looksLeft-- === 0) break;
      if (!contents.has(brokerId, content)) continue;
      lease.lacking.delete(sha256);
      lease.asked.delete(sha256);
    }
    const replicaIds: ReplicaId[] = [];
    for (const [replicaId, sha256s] of lease.unstocked) {
      if (sha256s.some((sha256) => lease.lacking.has(sha256))) continue;
      lease.unstocked.delete(replicaId);
      replicaIds.push(replicaId);
    }
    if (replicaIds.length > 0)
      this.#options.deliver({ kind: 'InputsStaged', brokerId, sequence: lease.sequence, replicaIds });
  }

  #askFor(brokerId: BrokerId, lease: ReadLease, contents: Pick<SiteContents, 'wantOwn' | 'proofsFor'>): void {
    const now = this.#options.clock.now();
    for (const [sha256, at] of lease.asked) if (now >= at + askAgainAfter) lease.asked.delete(sha256);
    const room = askedMax - lease.asked.size;
    const wanted = [...lease.lacking.values()].filter(({ sha256 }) => !lease.asked.has(sha256)).slice(0, room);
    for (const { sha256 } of wanted) lease.asked.set(sha256, now);
    const rest = contents.wantOwn(brokerId, wanted);
    if (rest.length === 0) return;
    const message = FromMachine.encode({
      machineId: '',
      message: {
        $case: 'blobRequest',
        value: encodeBlobRequest(rest, contents.proofsFor(brokerId, findChallenge(lease))),
      },
    }).finish();
    this.#options.report(brokerId, frameFromMachine(machineIdField(''), asBuffer(message)));
  }
}

/** For which a provider proves that it reads the broker's home folder; empty where the broker shares none. */
function findChallenge({ body }: ReadLease): string {
  return body.groups.find(({ start }) => start?.template !== undefined)?.start?.template?.homeChallenge ?? '';
}

/** One message for each run of replicas of one group. */
function listMessages({ body, replicas }: ReadLease, replicaIds: readonly ReplicaId[]): Buffer[] {
  const batches: { groupIndex: number; starts: ReplicaStart[] }[] = [];
  for (const replicaId of replicaIds) {
    const replica = replicas.get(replicaId);
    if (replica === undefined) continue;
    const last = batches.at(-1);
    if (last?.groupIndex === replica.groupIndex) last.starts.push(replica.start);
    else batches.push({ groupIndex: replica.groupIndex, starts: [replica.start] });
  }
  return batches.map(({ groupIndex, starts }) => {
    const template = body.groups[groupIndex]?.start?.template;
    return asBuffer(
      AttachResponse.encode({ message: { $case: 'start', value: { template, replicas: starts } } }).finish(),
    );
  });
}

function readLease(body: Lease, connectionId: number): ReadLease {
  const replicas = new Map<ReplicaId, LeasedReplica>();
  const lacking = new Map<string, Content>();
  const unstocked = new Map<ReplicaId, readonly string[]>();
  for (const [groupIndex, { start: group }] of body.groups.entries()) {
    for (const start of group?.replicas ?? []) {
      replicas.set(start.replicaId, { groupIndex, start });
      const contents = start.inputs.map(({ content }) => decodeContent(content));
      for (const content of contents) lacking.set(content.sha256, content);
      if (contents.length > 0)
        unstocked.set(
          start.replicaId,
          contents.map(({ sha256 }) => sha256),
        );
    }
  }
  return { sequence: body.sequence, connectionId, body, replicas, lacking, unstocked, asked: new Map() };
}
