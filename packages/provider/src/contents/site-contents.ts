import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeBlobOffer, type ContentOffer, type ReaderProofs, type WantedContent } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { BrokerId } from '@mutirao/core/machines/provider';
import type { Content } from '@mutirao/core/messages';
import type { Bytes, Duration, Instant, MachineId, UserId } from '@mutirao/core/shared';
import type { Clock } from '@mutirao/runtime/driver';
import { makeChallenge, type HomeProver } from '@mutirao/runtime/files';
import type { Logger } from '@mutirao/runtime/log';
import type { InFlightBytes } from '@mutirao/runtime/memory';
import type { StreamWriter } from '@mutirao/runtime/rpc';
import { toAgent } from '../relay/frames.ts';
import type { TransferExchange } from '../transfers/transfer-exchange.ts';
import type { GrowingFile } from './growing-file.ts';
import { SharedFiles, type SharedFile } from './shared-files.ts';
import { PartWriter } from './part-writer.ts';
import { serveFile } from './serve-file.ts';
import type { SiteStore } from './site-store.ts';

/** An agent that wants contents. */
export interface ContentTaker {
  readonly machineId: MachineId;
  readonly isClosed: boolean;
  /** What it proves about the home folders that it reads. */
  readonly proofs: ReaderProofs;
  /** Sends it a message. */
  write(message: Buffer): void;
  /** Asks its broker in its name. */
  ask(contents: readonly WantedContent[]): void;
}

/** What keeping contents for a site needs. */
export interface SiteContentsOptions {
  readonly store: SiteStore;
  /** Knows who reads the provider's home folder, and so the store's files, itself. */
  readonly prover: Pick<HomeProver, 'isReader' | 'proveReading' | 'provePath' | 'isProvenPath'>;
  readonly exchange: Pick<TransferExchange, 'take' | 'decline'>;
  /** Whose broker one is: nobody else brings what it offers. */
  getUser(brokerId: BrokerId): UserId;
  readonly clock: Clock;
  readonly log: Logger;
  /** Counts the bytes that have passed. */
  readonly passing: Pick<InFlightBytes, 'note'>;
}

/** A content that is on its way from its broker to the store. */
interface Fetch {
  readonly brokerId: BrokerId;
  readonly content: Content;
  /** Bytes that are there already. */
  readonly offset: Bytes;
  /** Where it is written. */
  readonly path: string;
  /** In whose name the broker was asked; empty for the provider's own. */
  asker: MachineId;
  askedAt: Instant;
  isAnswered: boolean;
  /** Agents that wait for it and have no offer yet, with the bytes that each already has. */
  readonly takers: Map<ContentTaker, Bytes>;
  /** Undefined until the broker has answered. */
  progress: GrowingFile | undefined;
}

/** A content that an agent may pull from the store. */
interface LocalTransfer {
  readonly taker: ContentTaker;
  readonly brokerId: BrokerId;
  readonly content: Content;
  readonly paths: readonly string[];
  readonly offset: Bytes;
  readonly progress: GrowingFile | undefined;
  /** It is a file of somebody else's, which is hashed before it is sent. */
  readonly isForeign?: true;
  release(): void;
}

/** A content up to this size comes from its broker within a message, each time. */
const inlineBytesMax: Bytes = 65_536;
/** An agent asks again for a content after this time without an answer. */
const answerWaitMax: Duration = 10_000;
/** Time after a full disk during which contents pass through without being stored. */
const fullPause: Duration = 60_000;
/** Offers that are remembered for each agent. */
const offeredMax = 1000;
/** Transfers to agents at a time: each holds buffers. */
const servingsMax = 24;

/**
 * Has what several agents of a site want cross the wire from home once: the first want is passed to the broker, its
 * answer is written to the store, and all who want it meanwhile or later get it from there, while it still grows if
 * need be.
 *
 * Where it cannot be kept, agents and brokers speak as if nothing were between them.
 */
export class SiteContents {
  readonly #options: SiteContentsOptions;
  readonly #fetches = new Map<string, Fetch>();
  readonly #local = new Map<string, LocalTransfer>();
  /** Agents that share a file system with their broker; they fetch their contents themselves. */
  readonly #sharing = new WeakSet<ContentTaker>();
  /** What each agent was offered from here lately. */
  readonly #offered = new WeakMap<ContentTaker, Set<string>>();
  readonly #near = new SharedFiles();
  /** What each broker has to prove paths for. */
  readonly #challenges = new Map<BrokerId, string>();
  readonly #waitingToServe: (() => void)[] = [];
  #servingCount = 0;
  #fullUntil: Instant = 0;
  #servedBytes: Bytes = 0;

  constructor(options: SiteContentsOptions) {
    this.#options = options;
  }

  /** Bytes that agents got from the store since the start. */
  get servedBytes(): Bytes {
    return this.#servedBytes;
  }

  /** Bytes that are kept. */
  get keptBytes(): Bytes {
    return this.#options.store.bytes;
  }

  /**
   * What a broker is shown that is asked for contents in the name of no machine: that we read its files ourselves,
   * where we do. @param challenge the broker's.
   */
  proofsFor(brokerId: BrokerId, challenge: string): ReaderProofs {
    let own = this.#challenges.get(brokerId);
    if (own === undefined) this.#challenges.set(brokerId, (own = makeChallenge()));
    return { challenge: own, homeProofs: this.#options.prover.proveReading(challenge, own) };
  }

  /** Offers an agent the contents that are here or coming. Returns those to ask its broker for on its behalf. */
  want(taker: ContentTaker, brokerId: BrokerId, contents: readonly WantedContent[]): WantedContent[] {
    return contents.flatMap((content) => this.#wantOne(taker, brokerId, content) ?? []);
  }

  /** As `want`, while the broker is away: also offers files of the home machine that the broker announced. */
  wantAway(taker: ContentTaker, brokerId: BrokerId, contents: readonly WantedContent[]): WantedContent[] {
    return contents.flatMap((content) =>
      this.#offerNear(taker, brokerId, content) ? [] : (this.#wantOne(taker, brokerId, content) ?? []),
    );
  }

  /**
   * As `want`, for the provider itself, which keeps the contents. Returns those to ask the broker for under no
   * machine's name; contents that are here, coming or cannot be kept are left out.
   */
  wantOwn(brokerId: BrokerId, contents: readonly Content[]): WantedContent[] {
    return contents.flatMap((content) => {
      if (this.has(brokerId, content) || this.#fetches.has(fetchKey(brokerId, content.sha256))) return [];
      const fetch = this.#beginFetch(brokerId, content, '');
      return fetch === undefined ? [] : [asked(fetch)];
    });
  }

  /** Whether a broker's content is here, whole, or in a file of home that is read from here. */
  has(brokerId: BrokerId, content: Content): boolean {
    return (
      this.#options.store.find(brokerId, content) !== undefined || this.#near.find(brokerId, content) !== undefined
    );
  }

  /** From now on these contents of a broker stay; those that were named before may go. */
  pin(brokerId: BrokerId, sha256s: ReadonlySet<string>): void {
    this.#options.store.pin(brokerId, sha256s);
    this.#near.keepOnly(brokerId, sha256s);
  }

  /**
   * Receives a broker's answer. False when only the machine needs it.
   *
   * @param machineId empty for the provider itself.
   */
  answer(brokerId: BrokerId, machineId: MachineId, offer: ContentOffer): boolean {
    const key = fetchKey(brokerId, offer.content.sha256);
    const fetch = this.#fetches.get(key);
    if (fetch === undefined || fetch.isAnswered || fetch.asker !== machineId) return this.#declineOwn(machineId, offer);
    fetch.isAnswered = true;
    return this.#take(key, fetch, { machineId, offer });
  }

  /**
   * Declines an offer to the provider that it asked for twice or no longer waits for, so that the broker does not wait.
   * Returns whether the offer was for the provider.
   */
  #declineOwn(machineId: MachineId, { source }: ContentOffer): boolean {
    if (machineId === '' && source.kind === 'transfer') this.#options.exchange.decline(source.transferId);
    return machineId === '';
  }

  #take(
    key: string,
    fetch: Fetch,
    { machineId, offer }: { readonly machineId: MachineId; readonly offer: ContentOffer },
  ): boolean {
    const { brokerId } = fetch;
    switch (offer.source.kind) {
      case 'transfer':
        void this.#run(key, fetch, offer.source);
        break;
      case 'inline':
        void this.#keepInline(key, fetch, offer.source.bytes);
        break;
      case 'refused':
      case 'shared':
        this.#endFetch(key, fetch, true);
        if (machineId === '' && offer.source.kind === 'shared') {
          if (this.#isProven(brokerId, fetch.content, offer.source))
            this.#near.note(brokerId, fetch.content, offer.source);
          this.#askForRest(fetch, '');
          break;
        }
        for (const taker of fetch.takers.keys()) {
          // What one machine may read another may not even see.
          if (offer.source.kind === 'refused') report(taker, offer);
          else if (taker.machineId === machineId) {
            this.#sharing.add(taker);
            return this.#askForRest(fetch, machineId);
          }
        }
        break;
    }
    return true;
  }

  /**
   * A path is believed only of a broker that reads our own home folder: any other could name a file that its user may
   * not see.
   */
  #isProven(
    brokerId: BrokerId,
    content: Content,
    { path, isLinkable, proof }: { readonly path: string; readonly isLinkable: boolean; readonly proof: string },
  ): boolean {
    const isProven = this.#options.prover.isProvenPath(
      this.#challenges.get(brokerId) ?? '',
      { content, path, isLinkable },
      proof,
    );
    if (!isProven)
      this.#options.log.warn(
        { broker: brokerId, sha256: content.sha256 },
        'refused to open a file for a broker that has not proved that it can read this home folder',
      );
    return isProven;
  }

  /** Sends what was offered under a name to one of these machines; undefined when nothing was. */
  findTransfer(
    transferId: string,
    machineIds: readonly MachineId[],
  ): ((writer: StreamWriter<Buffer>) => Promise<void>) | undefined {
    const transfer = this.#local.get(transferId);
    if (transfer === undefined || !machineIds.includes(transfer.taker.machineId)) return undefined;
    this.#local.delete(transferId);
    return (writer) => this.#serve(transfer, writer);
  }

  /** An agent is gone. */
  forgetTaker(taker: ContentTaker): void {
    for (const [transferId, transfer] of this.#local) {
      if (transfer.taker !== taker) continue;
      this.#local.delete(transferId);
      transfer.release();
    }
    for (const fetch of this.#fetches.values()) fetch.takers.delete(taker);
  }

  /** A broker is gone, and will not answer what it was asked. */
  forgetBroker(brokerId: BrokerId): void {
    for (const [key, fetch] of [...this.#fetches]) {
      if (fetch.brokerId === brokerId && !fetch.isAnswered) this.#endFetch(key, fetch, true);
    }
  }

  /**
   * Whether the agent got the path of a file of the home machine, or receives the file from here. A content that it
   * wants again failed its check before.
   */
  #offerNear(taker: ContentTaker, brokerId: BrokerId, content: WantedContent): boolean {
    if (content.overWire === true || this.#offered.get(taker)?.has(content.sha256) === true) {
      this.#near.forget(brokerId, content.sha256);
      return false;
    }
    const file = this.#near.find(brokerId, content);
    if (file === undefined) return false;
    this.#noteOffered(taker, brokerId, content.sha256);
    if (this.#sharesStore(taker)) this.#offerPath(taker, content, file);
    else
      this.#announce({
        taker,
        brokerId,
        content,
        paths: [file.path],
        offset: content.offset ?? 0,
        progress: undefined,
        isForeign: true,
        release: () => undefined,
      });
    return true;
  }

  #wantOne(taker: ContentTaker, brokerId: BrokerId, content: WantedContent): WantedContent | undefined {
    const path = this.#options.store.find(brokerId, content);
    if (path !== undefined) {
      this.#noteOffered(taker, brokerId, content.sha256);
      void this.#offerKept(taker, brokerId, content, path);
      return undefined;
    }
    const fetch = this.#fetches.get(fetchKey(brokerId, content.sha256));
    if (fetch !== undefined) return this.#join(taker, fetch, content.offset ?? 0);
    const begun = this.#isForTaker(taker, content) ? undefined : this.#beginFetch(brokerId, content, taker.machineId);
    begun?.takers.set(taker, content.offset ?? 0);
    return begun === undefined
      ? content
      : { ...asked(begun), ...(content.overWire === true ? { overWire: true } : {}) };
  }

  /** Whether keeping a content for others is not worth its while, or it comes to this agent without crossing a wire. */
  #isForTaker(taker: ContentTaker, { size, overWire = false }: WantedContent): boolean {
    return size <= inlineBytesMax || (this.#sharing.has(taker) && !overWire);
  }

  #join(taker: ContentTaker, fetch: Fetch, held: Bytes): WantedContent | undefined {
    if (fetch.progress !== undefined && !this.#sharesStore(taker)) {
      this.#offerLocal(taker, fetch, held);
      return undefined;
    }
    fetch.takers.set(taker, held);
    const now = this.#options.clock.now();
    if (fetch.isAnswered || now - fetch.askedAt < answerWaitMax) return undefined;
    fetch.askedAt = now;
    fetch.asker = taker.machineId;
    return asked(fetch);
  }

  /** An agent that wants again what was offered from here may have found it wrong. */
  #noteOffered(taker: ContentTaker, brokerId: BrokerId, sha256: string): void {
    let offered = this.#offered.get(taker);
    if (offered === undefined || offered.size >= offeredMax) {
      offered = new Set();
      this.#offered.set(taker, offered);
    }
    if (offered.has(sha256)) this.#options.store.doubt(brokerId, sha256);
    offered.add(sha256);
  }

  /** Undefined when the content cannot be kept. */
  #beginFetch(brokerId: BrokerId, { sha256, size }: Content, asker: MachineId): Fetch | undefined {
    const { store, clock } = this.#options;
    if (clock.now() < this.#fullUntil || !store.makeRoom(size)) return undefined;
    const content = { sha256, size };
    const offset = store.partSize(brokerId, content);
    const fetch: Fetch = {
      brokerId,
      content,
      offset,
      path: store.takePart(brokerId, content),
      asker,
      askedAt: clock.now(),
      isAnswered: false,
      takers: new Map(),
      progress: undefined,
    };
    this.#fetches.set(fetchKey(brokerId, sha256), fetch);
    return fetch;
  }

  #endFetch(key: string, { brokerId, content }: Fetch, isOfUse: boolean): void {
    this.#fetches.delete(key);
    this.#options.store.leavePart(brokerId, content.sha256, isOfUse);
  }

  /** The asker shares a file system with its broker; the others may not. */
  #askForRest({ brokerId, content, takers }: Fetch, machineId: MachineId): boolean {
    for (const taker of takers.keys()) {
      if (taker.machineId === machineId) continue;
      const wanted = this.#wantOne(taker, brokerId, content);
      if (wanted !== undefined) taker.ask([wanted]);
    }
    return false;
  }

  async #run(
    key: string,
    fetch: Fetch,
    { transferId, offset = 0 }: { readonly transferId: string; readonly offset?: Bytes },
  ): Promise<void> {
    const { store, exchange, log } = this.#options;
    let writer: PartWriter | undefined;
    try {
      writer = await PartWriter.open(fetch.path, fetch.content, offset);
      fetch.progress = writer.progress;
      for (const [taker, held] of fetch.takers) {
        // An agent that can read the file itself waits until it is whole.
        if (this.#sharesStore(taker)) continue;
        this.#offerLocal(taker, fetch, held);
        fetch.takers.delete(taker);
      }
      await exchange.take(transferId, {
        writer,
        signal: new AbortController().signal,
        requestId: '',
        party: { kind: 'site' },
        admits: (party) => party.kind === 'user' && party.userId === this.#options.getUser(fetch.brokerId),
      });
      await writer.finish();
      await writer.close();
      await store.publish(fetch.brokerId, fetch.content);
      this.#fetches.delete(key);
      for (const taker of fetch.takers.keys()) this.want(taker, fetch.brokerId, [fetch.content]);
    } catch (error) {
      await writer?.close().catch(() => undefined);
      log.warn({ err: error, sha256: fetch.content.sha256 }, 'cannot store a file in the input cache');
      this.#fail(key, fetch, error);
    }
  }

  #fail(key: string, fetch: Fetch, error: unknown): void {
    const code = error instanceof MutiraoError ? error.code : 'MUT_DISK_FULL';
    // Whatever the disk has: what could not be written once is not tried again and again.
    if (code !== 'MUT_TRANSFER_FAILED' && code !== 'MUT_CONTENT_MISMATCH')
      this.#fullUntil = this.#options.clock.now() + fullPause;
    this.#endFetch(key, fetch, code === 'MUT_TRANSFER_FAILED');
    fetch.progress?.fail(
      new MutiraoError('MUT_TRANSFER_FAILED', `content ${fetch.content.sha256} did not come whole`, { cause: error }),
    );
    for (const taker of fetch.takers.keys()) taker.ask([fetch.content]);
  }

  async #keepInline(key: string, fetch: Fetch, bytes: Uint8Array): Promise<void> {
    const { store } = this.#options;
    for (const taker of fetch.takers.keys())
      report(taker, { content: fetch.content, source: { kind: 'inline', bytes } });
    fetch.takers.clear();
    let writer: PartWriter | undefined;
    try {
      writer = await PartWriter.open(fetch.path, fetch.content, 0);
      writer.writeBytes(bytes);
      await writer.finish();
      await writer.close();
      await store.publish(fetch.brokerId, fetch.content);
      this.#fetches.delete(key);
    } catch (error) {
      await writer?.close().catch(() => undefined);
      this.#fail(key, fetch, error);
    }
  }

  async #offerKept(taker: ContentTaker, brokerId: BrokerId, content: WantedContent, path: string): Promise<void> {
    const { store } = this.#options;
    const release = store.hold(brokerId, content.sha256);
    try {
      if (!(await store.prove(brokerId, content.sha256)))
        throw new MutiraoError('MUT_CONTENT_MISMATCH', `content ${content.sha256} was not kept well`);
      if (this.#sharesStore(taker) && content.overWire !== true) {
        this.#offerPath(taker, content, { path, isLinkable: true });
        release();
      } else if (content.size <= inlineBytesMax) {
        report(taker, { content, source: { kind: 'inline', bytes: await readFile(path) } });
        release();
      } else {
        this.#announce({
          taker,
          brokerId,
          content,
          paths: [path],
          offset: content.offset ?? 0,
          progress: undefined,
          release,
        });
      }
    } catch {
      release();
      taker.ask([content]);
    }
  }

  #sharesStore(taker: ContentTaker): boolean {
    return this.#options.prover.isReader(taker.proofs);
  }

  #offerPath(taker: ContentTaker, { sha256, size }: Content, { path, isLinkable }: SharedFile): void {
    const file = { content: { sha256, size }, path, isLinkable };
    report(taker, {
      content: file.content,
      source: { kind: 'shared', path, isLinkable, proof: this.#options.prover.provePath(taker.proofs.challenge, file) },
    });
  }

  #offerLocal(taker: ContentTaker, fetch: Fetch, offset: Bytes): void {
    const { brokerId, content, path, progress } = fetch;
    const paths = [path, join(this.#options.store.getFolder(brokerId), content.sha256)];
    this.#announce({ taker, brokerId, content, paths, offset, progress, release: () => undefined });
  }

  #announce(transfer: LocalTransfer): void {
    const transferId = `site/${randomBytes(16).toString('hex')}`;
    this.#local.set(transferId, transfer);
    report(transfer.taker, {
      content: transfer.content,
      source: { kind: 'transfer', transferId, offset: transfer.offset },
    });
  }

  async #serve(transfer: LocalTransfer, writer: StreamWriter<Buffer>): Promise<void> {
    if (this.#servingCount >= servingsMax)
      await new Promise<void>((resolve) => {
        this.#waitingToServe.push(resolve);
      });
    this.#servingCount += 1;
    const { taker, brokerId, content, paths, offset, progress, isForeign } = transfer;
    try {
      await serveFile(
        {
          paths,
          size: content.size,
          offset,
          progress,
          ...(isForeign === true ? { sha256: content.sha256 } : {}),
          onBytes: (count) => {
            this.#servedBytes += count;
            this.#options.passing.note(count);
          },
          requireContinue: () => {
            if (taker.isClosed)
              throw new MutiraoError('MUT_TRANSFER_FAILED', `machine ${taker.machineId} is not attached`);
          },
        },
        writer,
      );
    } catch (error) {
      if (isForeign === true && error instanceof MutiraoError && error.code === 'MUT_CONTENT_MISMATCH')
        this.#near.forget(brokerId, content.sha256);
      throw error;
    } finally {
      transfer.release();
      this.#servingCount -= 1;
      this.#waitingToServe.shift()?.();
    }
  }
}

function report(taker: ContentTaker, offer: ContentOffer): void {
  if (!taker.isClosed) taker.write(toAgent({ $case: 'content', value: encodeBlobOffer(offer) }));
}

function asked({ content, offset }: Fetch): WantedContent {
  return offset === 0 ? content : { ...content, offset };
}

function fetchKey(brokerId: BrokerId, sha256: string): string {
  return `${brokerId}\n${sha256}`;
}
