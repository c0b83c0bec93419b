import test from 'ava';
import type { ContentOffer } from '@mutirao/api/codecs';
import type { AgentInput } from '@mutirao/core/machines/agent';
import { keyOfContent, type Content } from '@mutirao/core/messages';
import { BlobClient } from '../../src/blob-client.ts';

const sha256 = 'a'.repeat(64);
const mine: Content = { sha256, size: 7 };
const evas: Content = { ...mine, shelf: 'eva' };
const offer: ContentOffer = { content: mine, source: { kind: 'transfer', transferId: 't' } };

/** A desk whose fetchers have nothing, and say what they are asked. */
class Bench {
  readonly said: string[] = [];
  readonly delivered: AgentInput[] = [];
  readonly #arrivals = new Map<string | undefined, (input: AgentInput) => void>();
  readonly client = new BlobClient({
    want: (contents) => {
      this.said.push(`expected ${contents.length}`);
    },
    deliver: (input) => {
      this.delivered.push(input);
    },
    makeFetcher: (shelf, { want, deliver }) => {
      this.#arrivals.set(shelf, deliver);
      return {
        ask: (contents) => {
          want(contents);
        },
        release: () => {
          this.said.push(`${shelf} releases`);
        },
        take: () => {
          this.said.push(`${shelf} takes`);
        },
      };
    },
  });

  arrive(content: Content): void {
    this.#arrivals.get(content.shelf)?.({ kind: 'ContentArrived', contentKey: keyOfContent(content) });
  }

  take(): string[] {
    return this.said.splice(0);
  }
}

test('of two users who lack the same content each gets it from home, one after the other', (t) => {
  const bench = new Bench();
  bench.client.ask([mine, evas]);
  t.deepEqual(bench.take(), ['expected 1']);
  bench.client.ask([evas]);
  t.deepEqual(bench.take(), []);
  bench.client.take(offer);
  t.deepEqual(bench.take(), ['undefined takes']);
  bench.arrive(mine);
  t.deepEqual(bench.take(), ['expected 1']);
  bench.client.take(offer);
  t.deepEqual(bench.take(), ['eva takes']);
  bench.arrive(evas);
  t.deepEqual(bench.take(), []);
  t.deepEqual(bench.delivered, [
    { kind: 'ContentArrived', contentKey: sha256 },
    { kind: 'ContentArrived', contentKey: `eva/${sha256}` },
  ]);
});

test('a user who needs a content no more makes room for the next, and gets none later', (t) => {
  const bench = new Bench();
  bench.client.ask([mine, evas]);
  bench.client.ask([{ ...mine, shelf: 'bob/ann' }]);
  bench.take();
  bench.client.release([`eva/${sha256}`]);
  t.deepEqual(bench.take(), ['eva releases']);
  bench.client.release([sha256]);
  t.deepEqual(bench.take(), ['undefined releases', 'expected 1']);
  bench.client.take(offer);
  t.deepEqual(bench.take(), ['bob/ann takes']);
  bench.client.release([`bob/ann/${sha256}`]);
  bench.client.take(offer);
  t.deepEqual(bench.take(), ['bob/ann releases', 'undefined takes'], 'what nobody waits for is declined by anybody');
});

test('another provider is asked again for whatever has not come', (t) => {
  const bench = new Bench();
  bench.client.ask([mine, evas]);
  bench.take();
  bench.client.ask([mine, evas]);
  t.deepEqual(bench.take(), ['expected 1']);
});
