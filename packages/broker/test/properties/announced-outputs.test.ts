// A broker's fetcher against a provider that announces outputs twice, late, in any order, and after they are gone.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';

import { MutiraoError } from '@mutirao/api/errors';
import type { PushedContent } from '@mutirao/api/codecs';
import type { Content } from '@mutirao/core/messages';
import { runs, temporaryFolder, until, HandTimers } from '@mutirao/testkit';

import { ContentFetcher } from '../../src/providers/content-fetcher.ts';
import { Arrivals } from '../../src/results/arrivals.ts';
import { BegunOutputs } from '../../src/results/begun-outputs.ts';

const machineId = 'alpha/m';
/** Two of them bring the same bytes, as two replicas of a task do. */
const outputs = ['one', 'one', 'two', 'three'].map((text, index) => ({
  transferId: `t${index}`,
  bytes: Buffer.from(text.repeat(100)),
}));

const anyAction = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('push' as const), pick: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('keep' as const), pick: fc.nat() }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('announce' as const), pick: fc.nat() }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('serve' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), pick: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('break' as const), pick: fc.nat(), after: fc.nat({ max: 99 }) }),
  },
);
type Action = typeof anyAction extends fc.Arbitrary<infer T> ? T : never;

/** A fetch that the provider has not answered yet. */
interface Asked {
  readonly transferId: string;
  readonly offset: number;
  answer(bytesMax: number): void;
}

/** A provider, which forgets an output as soon as it was fetched, and the broker that fetches from it. */
class World {
  readonly fetcher: ContentFetcher;
  readonly arrivals: Arrivals;
  /** What the provider has; an agent pushes what is not kept. */
  readonly held = new Map<string, 'pushed' | 'kept'>();
  /** The last announcement of each output, which may come again at any time. */
  readonly announced = new Map<string, PushedContent>();
  readonly fetched = new Set<string>();
  readonly forgotten = new Set<string>();
  asked: Asked[] = [];
  breakCount = 0;
  pauseCount = 0;
  fault = '';

  constructor(arrivals: Arrivals) {
    this.arrivals = arrivals;
    this.fetcher = new ContentFetcher({
      timers: new HandTimers(),
      arrivals,
      begun: new BegunOutputs(arrivals),
      refuse: () => Promise.resolve(),
      concurrencyMax: 2,
      takesOffsets: () => true,
      whenRoom: () => Promise.resolve(),
      isConnected: () => true,
      onBytes: () => undefined,
      onTrouble: () => undefined,
      pause: () => {
        this.pauseCount += 1;
        return Promise.resolve();
      },
      receive: (transferId, offset) => this.#receive(transferId, offset),
    });
  }

  async perform(action: Action): Promise<void> {
    const { transferId, bytes } = outputs[action.pick % outputs.length]!;
    const held = this.held.get(transferId);
    switch (action.kind) {
      case 'push':
        if (!this.announced.has(transferId)) this.#hold(transferId, bytes, 'pushed');
        break;
      case 'keep':
        // The push was diverted before the broker took anything of it.
        if (
          (held === 'pushed' || !this.announced.has(transferId)) &&
          this.asked.every((one) => one.transferId !== transferId)
        )
          this.#hold(transferId, bytes, 'kept');
        break;
      case 'forget':
        if (held === 'kept' && this.asked.every((one) => one.transferId !== transferId)) this.#forget(transferId);
        break;
      case 'announce':
        this.announce(transferId);
        break;
      case 'serve':
        this.asked[action.pick % this.asked.length]?.answer(Infinity);
        break;
      case 'break':
        this.asked[action.pick % this.asked.length]?.answer(action.after);
        break;
    }
    await nextTurn();
  }

  announce(transferId: string): void {
    const pushed = this.announced.get(transferId);
    if (pushed !== undefined) this.fetcher.fetch(machineId, pushed);
  }

  /** The provider gives an output up, and its announcement is on the way. */
  #forget(transferId: string): void {
    this.held.delete(transferId);
    this.forgotten.add(transferId);
    this.announce(transferId);
  }

  #hold(transferId: string, bytes: Buffer, how: 'pushed' | 'kept'): void {
    this.held.set(transferId, how);
    this.announced.set(transferId, { transferId, content: getContent(bytes), isKept: how === 'kept' });
    this.announce(transferId);
  }

  async *#receive(transferId: string, offset: number): AsyncGenerator<Uint8Array> {
    if (this.asked.some((one) => one.transferId === transferId))
      this.fault = `${transferId} is fetched twice at a time`;
    if (this.fetched.has(transferId)) this.fault = `${transferId} is fetched although it is here`;
    const held = this.held.get(transferId);
    if (held === undefined) throw new MutiraoError('MUT_CONTENT_NOT_FOUND', 'nobody brings it');
    const { promise, resolve: answer } = Promise.withResolvers<number>();
    const asked: Asked = { transferId, offset, answer };
    this.asked.push(asked);
    const bytesMax = await promise;
    this.asked = this.asked.filter((one) => one !== asked);
    const { bytes } = outputs.find((output) => output.transferId === transferId)!;
    yield bytes.subarray(offset, Math.min(bytes.length, offset + bytesMax));
    if (offset + bytesMax < bytes.length) {
      this.breakCount += 1;
      // Its agent begins again under another name.
      if (held === 'pushed') this.held.delete(transferId);
      throw new MutiraoError('MUT_UNREACHABLE', 'the stream broke');
    }
    this.held.delete(transferId);
    this.fetched.add(transferId);
  }

  /** Answers all fetches, until each output that was announced is settled. */
  async settle(): Promise<void> {
    let isSynced = false;
    const all = Promise.all(outputs.map(({ transferId }) => this.fetcher.settled(machineId, transferId))).then(() => {
      isSynced = true;
    });
    await until(() => {
      for (const one of this.asked) one.answer(Infinity);
      return isSynced;
    }, 'all outputs are settled');
    await all;
  }

  check(): string {
    if (this.fault !== '') return this.fault;
    if (this.pauseCount > this.breakCount)
      return `${this.pauseCount} pauses for ${this.breakCount} transfers that broke`;
    for (const [transferId, { content, isKept }] of this.announced) {
      if (this.fetched.has(transferId)) {
        const { bytes } = outputs.find((output) => output.transferId === transferId)!;
        if (!readFileSync(this.arrivals.pathOfTransfer(machineId, transferId, content.sha256)).equals(bytes))
          return `${transferId} came with other bytes`;
      } else if (isKept && this.breakCount === 0 && !this.forgotten.has(transferId))
        return `${transferId} is kept and was not fetched`;
    }
    return '';
  }
}

function getContent(bytes: Uint8Array): Content {
  return { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
}

async function aWorld(t: ExecutionContext): Promise<World> {
  return new World(await Arrivals.open(temporaryFolder(t), { now: 1, ageMax: 1 }));
}

test('an output is fetched until it is here and never again, however often, late and in which order it is announced', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyAction, { minLength: 5, maxLength: 60 }), async (actions) => {
      const world = await aWorld(t);
      for (const action of actions) await world.perform(action);
      await world.settle();
      for (const { transferId } of outputs) world.announce(transferId);
      await world.settle();
      const fault = world.check();
      if (fault !== '') throw new Error(fault);
    }),
    runs(20_261_126, 80),
  );
  t.pass();
});

test('an output that is announced again while it is fetched, and after its provider forgot it, delays its report not at all', async (t) => {
  const world = await aWorld(t);
  await world.perform({ kind: 'keep', pick: 0 });
  await world.perform({ kind: 'announce', pick: 0 });
  await until(() => world.asked.length >= 1, 'it is fetched');
  await world.settle();
  await world.perform({ kind: 'announce', pick: 0 });
  await world.settle();
  t.is(world.check(), '');
  t.is(world.pauseCount, 0);
});

test('an output whose first fetch failed for good is fetched when it is announced again', async (t) => {
  const world = await aWorld(t);
  await world.perform({ kind: 'push', pick: 0 });
  await until(() => world.asked.length >= 1, 'it is fetched');
  await world.perform({ kind: 'break', pick: 0, after: 4 });
  await world.settle();
  t.false(world.fetched.has('t0'));
  world.held.set('t0', 'kept');
  world.announced.set('t0', { ...world.announced.get('t0')!, isKept: true });
  world.announce('t0');
  await until(() => world.asked.length >= 1, 'it is fetched again');
  await world.settle();
  t.true(world.fetched.has('t0'));
});

test('an output that comes to be kept while the fetch of its push is under way is fetched from there when that fails', async (t) => {
  const world = await aWorld(t);
  await world.perform({ kind: 'push', pick: 0 });
  await until(() => world.asked.length >= 1, 'it is fetched');
  world.announced.set('t0', { ...world.announced.get('t0')!, isKept: true });
  world.announce('t0');
  await world.perform({ kind: 'break', pick: 0, after: 4 });
  world.held.set('t0', 'kept');
  await world.settle();
  t.true(world.fetched.has('t0'));
  t.is(world.check(), '');
});
