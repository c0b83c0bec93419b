import type { StreamTopic } from '../../../src/schema/index.ts';
import { emptyLiveState, reduceLive, type LiveInput, type LiveState } from '../model/live-state.ts';
import { sampleMs } from '../model/history.ts';
import { apiPath } from './route-paths.ts';
import { SseParser } from './sse-parser.ts';

const pauses = [500, 1000, 2000, 4000];

/** What of the browser it needs. */
export interface Browser {
  fetch(address: string, init: RequestInit): Promise<Response>;
  onNextFrame(run: () => void): void;
  every(milliseconds: number, run: () => void): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** What the page watches: one stream, whose topics change with the view, and the state that came of it. */
export class LiveStore {
  #state: LiveState = emptyLiveState;
  readonly #listeners = new Set<() => void>();
  readonly #token: string;
  readonly #browser: Browser;
  #topics = '';
  #isVisible = true;
  #watched: readonly StreamTopic[] = [];
  #lastId = '';
  #abort: AbortController | undefined;
  #isNotifying = false;

  constructor(token: string, browser: Browser) {
    this.#token = token;
    this.#browser = browser;
    // A hidden tab receives nothing that could be sampled.
    browser.every(sampleMs, () => {
      if (this.#isVisible) this.#input({ kind: 'ClockTicked', at: browser.now(), topics: this.#watched });
    });
  }

  readonly get = (): LiveState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /**
   * Watches these topics from now on, and `jobId` for the topic `job`; received levels stay until they are replaced.
   */
  watch(topics: readonly StreamTopic[], jobId?: number): void {
    const wanted = `topics=${topics.join(',')}${jobId === undefined ? '' : `&job=${jobId}`}`;
    if (wanted === this.#topics) return;
    this.#topics = wanted;
    this.#watched = topics;
    // Another choice of topics: what came before says nothing of what is missing now.
    this.#lastId = '';
    this.#begin();
  }

  /**
   * Listens while somebody can see it, and asks nothing of the gateway else; what it missed it gets when it comes back.
   */
  setVisible(isVisible: boolean): void {
    if (isVisible === this.#isVisible) return;
    this.#isVisible = isVisible;
    this.#begin();
  }

  #begin(): void {
    this.#abort?.abort();
    if (!this.#isVisible || this.#topics === '') return;
    this.#abort = new AbortController();
    void this.#run(this.#topics, this.#abort.signal);
  }

  async #run(topics: string, signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      try {
        await this.#readStream(topics, signal, () => {
          failures = 0;
        });
        this.#input({ kind: 'StreamBroken', reason: 'it closed the stream.' });
      } catch (error) {
        if (signal.aborted) return;
        this.#input({
          kind: 'StreamBroken',
          reason: error instanceof StreamRefused ? error.message : 'it does not answer.',
        });
      }
      await pause(pauses[Math.min(failures, pauses.length - 1)] ?? 1000, signal);
      failures += 1;
    }
  }

  async #readStream(topics: string, signal: AbortSignal, received: () => void): Promise<void> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#token}` };
    if (this.#lastId !== '') headers['last-event-id'] = this.#lastId;
    const reply = await this.#browser.fetch(`${apiPath}/events?${topics}`, { headers, signal, cache: 'no-store' });
    if (!reply.ok || reply.body === null) throw new StreamRefused(await getRefusal(reply));
    const parser = new SseParser();
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    this.#input({ kind: 'StreamOpened' });
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      received();
      for (const { id, event, data } of parser.read(chunk.value)) {
        this.#input({ kind: 'MessageArrived', topic: event as StreamTopic, value: JSON.parse(data) });
        if (id !== '') this.#lastId = id;
      }
    }
  }

  #input(input: LiveInput): void {
    const next = reduceLive(this.#state, input);
    if (next === this.#state) return;
    this.#state = next;
    // Many messages between two frames are one picture. Hidden tabs get no frames, and need none.
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    this.#browser.onNextFrame(() => {
      this.#isNotifying = false;
      for (const listener of this.#listeners) listener();
    });
  }
}

class StreamRefused extends Error {}

async function getRefusal(reply: Response): Promise<string> {
  const problem = (await reply.json().catch(() => ({}))) as { readonly message?: string };
  return `${problem.message ?? `HTTP status ${reply.status}`}.`;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
