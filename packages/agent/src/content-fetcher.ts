import type { ContentOffer, WantedContent } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { AgentInput } from '@mutirao/core/machines/agent';
import { keyOfContent, type Content } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import type { ProvenFile } from '@mutirao/runtime/files';
import type { ContentCache, SharedFile } from './content-cache.ts';
import { Gate } from './gate.ts';
import type { HostContents } from './host-contents.ts';

/** What fetching needs. */
export interface ContentFetcherOptions {
  readonly cache: ContentCache;
  /** Whose contents these are; left out for the owner's. */
  readonly shelf?: string;
  /** What agents of this host share; left out for one that shares nothing. */
  readonly host?: HostContents;
  /** Reports to the broker what this machine lacks; does nothing without a provider. */
  want(contents: readonly WantedContent[]): void;
  /** Brings a transfer's bytes, all from `offset` on, into the cache's store. */
  pull(transferId: string, content: Content, offset: Bytes): Promise<void>;
  /** Has the other side of a transfer that was offered not wait for this machine. */
  decline(transferId: string): void;
  /** Whether a path comes from a process that reads our home folder; no other is opened. */
  isProvenPath(file: ProvenFile, proof: string): boolean;
  deliver(input: AgentInput): void;
}

const transfersMax = 4;
const attemptsMax = 4;
/** Files of a shared file system that are read at a time. */
const sharedMax = 2;
const turnEvery = 16;

/** Gets the contents that replicas need: from the cache, or from the broker by way of the provider. */
export class ContentFetcher {
  private readonly options: ContentFetcherOptions;
  private readonly gate = new Gate(transfersMax);
  private readonly shared = new Gate(sharedMax);
  private sharedCount = 0;
  private readonly fetching = new Set<string>();
  /** Contents that may come by another agent. */
  private readonly asking = new Set<string>();
  private readonly attempts = new Map<string, number>();

  constructor(options: ContentFetcherOptions) {
    this.options = options;
  }

  /** Pins what is here, and wants what is not; asking again is harmless. */
  ask(contents: readonly Content[]): void {
    const wanted: WantedContent[] = [];
    for (const content of contents) {
      if (this.options.cache.pin(content.sha256))
        this.options.deliver({ kind: 'ContentArrived', contentKey: this.getKey(content.sha256) });
      else if (this.fetching.has(content.sha256)) continue;
      else if (this.options.cache.isDoubtful(content.sha256)) void this.prove(content);
      else if (this.options.host?.isShared(content) === true) void this.askHost(content, this.options.host);
      else wanted.push(this.findRest(content));
    }
    if (wanted.length > 0) this.options.want(wanted);
  }

  /** Unpins contents. */
  release(sha256s: readonly string[]): void {
    for (const sha256 of sha256s) {
      this.options.cache.unpin(sha256);
      this.attempts.delete(sha256);
      if (this.fetching.has(sha256)) continue;
      this.options.host?.release(sha256);
      this.dropPart(sha256);
    }
  }

  /** The broker's answer to what was wanted. */
  take(offer: ContentOffer): void {
    const { content, source } = offer;
    const { sha256 } = content;
    const { host } = this.options;
    if (!this.options.cache.isPinned(sha256) || this.fetching.has(sha256)) {
      this.decline(offer);
      return;
    }
    if (source.kind === 'shared') {
      if (!this.options.isProvenPath({ content, ...source }, source.proof)) return this.distrust(content);
      host?.noteNear(content);
    }
    if (source.kind !== 'transfer') host?.release(sha256);
    if (source.kind === 'refused') {
      this.options.deliver({
        kind: 'ContentRefused',
        contentKey: this.getKey(sha256),
        reason: source.reason,
        detail: `the broker cannot send content ${sha256}`,
      });
      return;
    }
    this.fetching.add(sha256);
    if (source.kind === 'shared')
      this.shared
        .run(() => this.takeShared(content, source))
        .then(
          () => {
            this.arrive(content);
          },
          () => {
            this.wantOverWire(content);
          },
        );
    else this.fetch(content, source);
  }

  /** Brings the bytes into the cache, for the other agents of this host too. */
  private fetch(content: Content, source: Extract<ContentOffer['source'], { kind: 'inline' | 'transfer' }>): void {
    const { sha256 } = content;
    const { host } = this.options;
    const fetched =
      source.kind === 'inline'
        ? this.options.cache.store.putStream([source.bytes], { content }).then(() => undefined)
        : this.gate.run(() => this.pull(source, content));
    fetched.then(
      () => {
        // Not the other way round: a further name changes the file's status.
        host?.publish(sha256, this.options.cache.store.path(sha256));
        this.options.cache.add(content);
        this.arrive(content);
      },
      (error: unknown) => {
        host?.release(sha256);
        this.fail(content, error);
      },
    );
  }

  /** Nobody needs it any more, or it is coming. The broker sends few at a time, and others wait for that place. */
  private decline({ source }: ContentOffer): void {
    if (source.kind === 'transfer') this.options.decline(source.transferId);
  }

  /** Looks whether a file that was touched, or that a former agent left, still holds its content. Never rejects. */
  private async prove(content: Content): Promise<void> {
    const { sha256 } = content;
    this.fetching.add(sha256);
    const isHere = await this.shared.run(() => this.options.cache.prove(sha256));
    if (isHere) this.arrive(content);
    else {
      this.fetching.delete(sha256);
      if (this.options.cache.isPinned(sha256)) this.ask([content]);
    }
  }

  /** Waits for another agent of this host that brings a content, or brings it for all of them. */
  private async askHost(content: Content, host: HostContents): Promise<void> {
    const { sha256 } = content;
    const isWanted = (): boolean => this.options.cache.isPinned(sha256) && !this.fetching.has(sha256);
    if (this.asking.has(sha256)) return;
    this.asking.add(sha256);
    const way = await host.obtain(content, isWanted);
    this.asking.delete(sha256);
    if (way === undefined || !isWanted()) {
      if (!this.fetching.has(sha256)) host.release(sha256);
    } else if (way.kind === 'file') {
      this.fetching.add(sha256);
      this.shared
        .run(() => this.takeShared(content, { path: way.path, isLinkable: true }))
        .then(
          () => {
            this.arrive(content);
          },
          () => {
            host.forget(sha256);
            this.fetching.delete(sha256);
            if (isWanted()) this.options.want([this.findRest(content)]);
          },
        );
    } else this.options.want([this.findRest(content)]);
  }

  /** Bytes from a broken transfer are not sent again, and a transfer that brought some does not count as failed. */
  private async pull(
    { transferId, offset = 0 }: { readonly transferId: string; readonly offset?: Bytes },
    content: Content,
  ): Promise<void> {
    const { store } = this.options.cache;
    const before = store.partSize(content.sha256);
    this.options.host?.noteFar();
    this.options.host?.beat(content.sha256, () => store.partSize(content.sha256));
    try {
      await this.options.pull(transferId, content, offset);
    } catch (error) {
      if (!this.options.cache.isPinned(content.sha256)) this.dropPart(content.sha256);
      else if (store.partSize(content.sha256) > before) this.attempts.delete(content.sha256);
      throw error;
    }
  }

  private getKey(sha256: string): string {
    const { shelf } = this.options;
    return shelf === undefined ? sha256 : keyOfContent({ sha256, shelf });
  }

  private findRest(content: Content): WantedContent {
    const offset = this.options.cache.store.partSize(content.sha256);
    return offset === 0 ? content : { ...content, offset };
  }

  private dropPart(sha256: string): void {
    // A part that stays is overwritten by the next, and gone with the agent.
    this.options.cache.store.dropPart(sha256).catch(() => undefined);
  }

  /** Many small files are taken without waiting for any; others want their turn meanwhile. */
  private async takeShared(content: Content, source: SharedFile): Promise<void> {
    this.sharedCount += 1;
    if (this.sharedCount % turnEvery === 0)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    await this.options.cache.takeFile(content, source);
  }

  /**
   * A path without a proof is not opened: the content has to come over the wire. A peer that goes on naming paths is
   * not asked for ever.
   */
  private distrust(content: Content): void {
    const { sha256 } = content;
    const attempts = (this.attempts.get(sha256) ?? 0) + 1;
    this.attempts.set(sha256, attempts);
    if (attempts < attemptsMax) this.wantOverWire(content);
    else
      this.options.deliver({
        kind: 'ContentRefused',
        contentKey: this.getKey(sha256),
        reason: 'MUT_STAGING_FAILED',
        detail: `the broker names a file for content ${sha256} without proof that it reads this home folder`,
      });
  }

  /** A content that cannot be read here, or fails its check, is requested over the wire. */
  private wantOverWire(content: Content): void {
    this.fetching.delete(content.sha256);
    if (this.options.cache.isPinned(content.sha256)) this.options.want([{ ...content, overWire: true }]);
  }

  private arrive(content: Content): void {
    this.fetching.delete(content.sha256);
    this.options.deliver({ kind: 'ContentArrived', contentKey: this.getKey(content.sha256) });
  }

  /** Tries again a few times: the stream may have broken, or the provider gone. */
  private fail(content: Content, error: unknown): void {
    const { sha256 } = content;
    this.fetching.delete(sha256);
    const attempts = (this.attempts.get(sha256) ?? 0) + 1;
    this.attempts.set(sha256, attempts);
    const { code, message } =
      error instanceof MutiraoError ? error : new MutiraoError('MUT_STAGING_FAILED', String(error));
    if (!this.options.cache.isPinned(sha256)) return;
    const isFinal = code === 'MUT_DISK_FULL' || attempts >= attemptsMax;
    if (isFinal)
      this.options.deliver({
        kind: 'ContentRefused',
        contentKey: this.getKey(sha256),
        reason: code === 'MUT_DISK_FULL' ? 'MUT_NO_SPACE' : code,
        detail: message,
      });
    else this.ask([content]);
  }
}
