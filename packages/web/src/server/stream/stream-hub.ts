import { MutiraoError } from '@mutirao/api/errors';

import { heartbeatMs, type BrokerLink, type StreamTopic } from '../../schema/index.ts';
import type { GatewayParts } from '../grid-calls.ts';
import { EventFeed } from './event-feed.ts';

/** Where the messages of one page go. */
export interface Sink {
  /** Whether it takes more now; where it does not, newer levels will replace what waits here. */
  isReady(): boolean;
  write(text: string): void;
}

/** A level that is read now and then for as long as a page wants it. */
export interface Source {
  /** Between two reads, in milliseconds. */
  readonly every: number;
  read(): Promise<unknown>;
}

/** What a page wants: levels by the name of their source, which is that of their topic but for `job:ID`. */
export interface Spec {
  readonly sources: ReadonlyMap<string, Source>;
  readonly topics: ReadonlySet<StreamTopic>;
  /** The id of the last message that the page has, from before it went away; undefined for a new one. */
  readonly lastId: string | undefined;
}

interface Level {
  readonly topic: StreamTopic;
  readonly version: number;
  readonly json: string;
}

interface Page {
  readonly spec: Spec;
  readonly sink: Sink;
  /** The version that it has of each level, and of events. */
  readonly sent: Map<string, number>;
  readonly from: number;
  wroteAt: number;
}

interface Reading {
  /** When the last one ended. */
  readAt: number;
  /** Between two reads now: more than the source says while nothing changes. */
  every: number;
  isUnderway: boolean;
}

/** A level that stays the same is read less and less often, down to a fourth as often, and no more seldom than that. */
const slowdownMax = 4;

/**
 * Sends pages what changes: reads the levels that any of them wants, whatever their number, and sends each page what it
 * does not have yet, at each tick and no more often.
 *
 * It is driven by `tick`, some times a second; nothing is read while nobody looks.
 */
export class StreamHub {
  readonly #clock: GatewayParts['clock'];
  /** Another one after a restart: ids of before mean nothing then. */
  readonly #instance: string;
  readonly #feed: EventFeed;
  readonly #pages = new Set<Page>();
  readonly #levels = new Map<string, Level>();
  readonly #readings = new Map<string, Reading>();
  #version = 0;
  #receivedVersion = 0;
  #link: Omit<BrokerLink, 'since_unix_ms'> | undefined;

  constructor(parts: Pick<GatewayParts, 'grid' | 'clock'>, instance: string) {
    this.#clock = parts.clock;
    this.#instance = instance;
    this.#feed = new EventFeed(parts, () => (this.#version += 1));
  }

  get pageCount(): number {
    return this.#pages.size;
  }

  /** Begins to send to a page; the first messages come with the next ticks. @returns what ends it. */
  open(spec: Spec, sink: Sink): () => void {
    const [instance, version] = spec.lastId?.split('.') ?? [];
    const from = instance === this.#instance && /^\d{1,15}$/.test(version ?? '') ? Number(version) : 0;
    const page: Page = { spec, sink, sent: new Map(), from, wroteAt: this.#clock.now() };
    this.#pages.add(page);
    return () => {
      this.#pages.delete(page);
      if (this.#pages.size === 0) this.#feed.stop();
    };
  }

  /**
   * Reads what is due and sends what is new. Resolves when all that it began to read has been read: a test waits for
   * that, the live gateway does not.
   */
  async tick(): Promise<void> {
    const now = this.#clock.now();
    const begun = [...this.#wantedSources()].map(([name, source]) => this.#readIfDue(name, source, now));
    if ([...this.#pages].some(({ spec }) => spec.topics.has('events'))) this.#feed.keepReceiving();
    this.#heedEvents();
    this.#send(now);
    await Promise.all(begun);
  }

  /** Ends all streams: pages come back by themselves. */
  close(): void {
    this.#pages.clear();
    this.#feed.stop();
  }

  #wantedSources(): Map<string, Source> {
    const wanted = new Map<string, Source>();
    for (const { spec } of this.#pages) for (const [name, source] of spec.sources) wanted.set(name, source);
    for (const name of this.#readings.keys()) {
      if (wanted.has(name)) continue;
      // A job that nobody looks at any more; levels of all are few and are kept, for pages that come back.
      this.#readings.delete(name);
      if (name.includes(':')) this.#levels.delete(name);
    }
    return wanted;
  }

  /** Something happened: what was read less often, because it stayed the same, is read as often as usual again. */
  #heedEvents(): void {
    if (this.#feed.version === this.#receivedVersion) return;
    this.#receivedVersion = this.#feed.version;
    for (const reading of this.#readings.values()) reading.every = 0;
  }

  async #readIfDue(name: string, { every, read }: Source, now: number): Promise<void> {
    const reading = this.#readings.get(name) ?? { readAt: -Infinity, every: 0, isUnderway: false };
    this.#readings.set(name, reading);
    if (reading.isUnderway || now < reading.readAt + Math.max(every, reading.every)) return;
    reading.isUnderway = true;
    try {
      const value = await read();
      const hasChanged = this.#setLevel(name, value);
      reading.every = hasChanged ? every : Math.min(slowdownMax * every, 2 * Math.max(every, reading.every));
      this.#setLink({ connected: true, code: '', message: '' });
    } catch (error) {
      if (isAway(error)) this.#setLink({ connected: false, code: error.code, message: error.message });
    } finally {
      reading.isUnderway = false;
      reading.readAt = this.#clock.now();
    }
  }

  #setLink(link: Omit<BrokerLink, 'since_unix_ms'>): void {
    if (this.#link !== undefined && this.#link.connected === link.connected && this.#link.code === link.code) return;
    this.#link = link;
    this.#setLevel('link', { ...link, since_unix_ms: this.#clock.now() });
  }

  /** @returns whether it is another one than before. */
  #setLevel(name: string, value: unknown): boolean {
    const json = JSON.stringify(value);
    if (this.#levels.get(name)?.json === json) return false;
    this.#version += 1;
    this.#levels.set(name, { topic: name.split(':', 1)[0] as StreamTopic, version: this.#version, json });
    return true;
  }

  #send(now: number): void {
    for (const page of this.#pages) {
      for (const message of this.#newsFor(page)) {
        if (!page.sink.isReady()) break;
        page.sink.write(`id: ${this.#instance}.${message.version}\nevent: ${message.topic}\ndata: ${message.json}\n\n`);
        page.sent.set(message.name, message.version);
        page.wroteAt = now;
      }
      if (now - page.wroteAt < heartbeatMs || !page.sink.isReady()) continue;
      page.sink.write(': alive\n\n');
      page.wroteAt = now;
    }
  }

  /** In the order of their versions: the id of the last one that arrives then says what the page has of all. */
  #newsFor({ spec, sent, from }: Page): (Level & { readonly name: string })[] {
    const news: (Level & { readonly name: string })[] = [];
    for (const name of ['link', ...spec.sources.keys()]) {
      const level = this.#levels.get(name);
      if (level !== undefined && level.version > (sent.get(name) ?? from)) news.push({ ...level, name });
    }
    const known = sent.get('events') ?? from;
    if (spec.topics.has('events') && this.#feed.version > known)
      news.push({
        name: 'events',
        topic: 'events',
        version: this.#feed.version,
        json: JSON.stringify(this.#feed.after(known)),
      });
    return news.sort((one, other) => one.version - other.version);
  }
}

/** Whether it is the way to the broker that failed, and not the question. */
function isAway(error: unknown): error is MutiraoError {
  return (
    error instanceof MutiraoError &&
    ['MUT_UNREACHABLE', 'MUT_STOPPING', 'MUT_DEADLINE_EXCEEDED', 'MUT_UNAUTHENTICATED', 'MUT_TOKEN_UNSAFE'].includes(
      error.code,
    )
  );
}
