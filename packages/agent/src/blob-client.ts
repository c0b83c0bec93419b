import type { ContentOffer, WantedContent } from '@mutirao/api/codecs';
import type { AgentInput } from '@mutirao/core/machines/agent';
import type { Content } from '@mutirao/core/messages';
import type { ContentFetcher } from './content-fetcher.ts';

/** What gets contents for users. */
export type Fetcher = Pick<ContentFetcher, 'ask' | 'release' | 'take'>;

/** What a desk needs. */
export interface BlobClientOptions {
  /** Makes the fetcher of one user's contents; of the owner's if `shelf` is undefined. */
  makeFetcher(
    shelf: string | undefined,
    ways: { want(contents: readonly WantedContent[]): void; deliver(input: AgentInput): void },
  ): Fetcher;
  /** Reports to the broker what this machine lacks. */
  want(contents: readonly WantedContent[]): void;
  deliver(input: AgentInput): void;
}

/**
 * Gets contents for several users, each of which gets every content again.
 *
 * An answer of the broker does not name the user. So if two users lack the same content, the second asks when the first
 * has it.
 */
export class BlobClient {
  readonly #options: BlobClientOptions;
  readonly #fetchers = new Map<string | undefined, Fetcher>();
  /** By hash, the user on whose behalf the broker was asked. */
  readonly #asked = new Map<string, string | undefined>();
  /** By hash, what other users lack meanwhile, in the order in which they asked. */
  readonly #waiting = new Map<string, Content[]>();

  constructor(options: BlobClientOptions) {
    this.#options = options;
  }

  /** Pins what is here, and wants what is not; asking again is harmless. */
  ask(contents: readonly Content[]): void {
    const shelves = new Map<string | undefined, Content[]>();
    for (const content of contents) {
      const known = shelves.get(content.shelf);
      if (known === undefined) shelves.set(content.shelf, [content]);
      else known.push(content);
    }
    for (const [shelf, asked] of shelves) this.#fetcherOf(shelf).ask(asked);
  }

  /** Unpins contents. @param contentKeys from `keyOfContent`. */
  release(contentKeys: readonly string[]): void {
    for (const contentKey of contentKeys) {
      const { shelf, sha256 } = readKey(contentKey);
      this.#fetcherOf(shelf).release([sha256]);
      this.#leaveQueue(shelf, sha256);
      this.#endTurn(shelf, sha256);
    }
  }

  /** The broker's answer to what was wanted. */
  take(offer: ContentOffer): void {
    // One that nobody waits for is declined by the first best.
    this.#fetcherOf(this.#asked.get(offer.content.sha256)).take(offer);
  }

  #fetcherOf(shelf: string | undefined): Fetcher {
    let fetcher = this.#fetchers.get(shelf);
    if (fetcher === undefined) {
      fetcher = this.#options.makeFetcher(shelf, {
        want: (contents) => {
          this.#want(shelf, contents);
        },
        deliver: (input) => {
          this.#options.deliver(input);
          if (input.kind === 'ContentArrived' || input.kind === 'ContentRefused')
            this.#endTurn(shelf, readKey(input.contentKey).sha256);
        },
      });
      this.#fetchers.set(shelf, fetcher);
    }
    return fetcher;
  }

  #want(shelf: string | undefined, contents: readonly WantedContent[]): void {
    const now = contents.filter((content) => {
      if (this.#asked.has(content.sha256) && this.#asked.get(content.sha256) !== shelf)
        return !this.#wait(shelf, content);
      this.#asked.set(content.sha256, shelf);
      return true;
    });
    if (now.length > 0) this.#options.want(now);
  }

  /** Has a content wait for its turn. Always true. */
  #wait(shelf: string | undefined, { sha256, size }: Content): true {
    const queue = this.#waiting.get(sha256) ?? [];
    if (!queue.some((content) => content.shelf === shelf))
      queue.push({ sha256, size, ...(shelf === undefined ? {} : { shelf }) });
    this.#waiting.set(sha256, queue);
    return true;
  }

  #leaveQueue(shelf: string | undefined, sha256: string): void {
    const queue = this.#waiting.get(sha256)?.filter((content) => content.shelf !== shelf) ?? [];
    if (queue.length > 0) this.#waiting.set(sha256, queue);
    else this.#waiting.delete(sha256);
  }

  /** Asks for the next user who lacks a content. */
  #endTurn(shelf: string | undefined, sha256: string): void {
    if (!this.#asked.has(sha256) || this.#asked.get(sha256) !== shelf) return;
    this.#asked.delete(sha256);
    const queue = this.#waiting.get(sha256);
    const next = queue?.shift();
    if (queue?.length === 0) this.#waiting.delete(sha256);
    if (next !== undefined) this.#fetcherOf(next.shelf).ask([next]);
  }
}

function readKey(contentKey: string): { readonly shelf: string | undefined; readonly sha256: string } {
  const end = contentKey.lastIndexOf('/');
  return { shelf: end < 0 ? undefined : contentKey.slice(0, end), sha256: contentKey.slice(end + 1) };
}
