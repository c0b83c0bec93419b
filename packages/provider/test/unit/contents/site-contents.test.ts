import { createHash } from 'node:crypto';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { decodeBlobOffer, type ContentOffer, type ReaderProofs, type WantedContent } from '@mutirao/api/codecs';
import { AttachResponse, PullContentResponse } from '@mutirao/api/machine';
import type { Content } from '@mutirao/core/messages';
import { HomeProver, noProofs, provePath, proveReading } from '@mutirao/runtime/files';
import { quietLogger } from '@mutirao/runtime/log';
import { temporaryFolder, until } from '@mutirao/testkit';
import { SiteContents, type ContentTaker } from '../../../src/contents/site-contents.ts';
import { SiteStore } from '../../../src/contents/site-store.ts';
import { TransferExchange } from '../../../src/transfers/transfer-exchange.ts';

const bytes = Buffer.alloc(300_000, 'some content ');
const content = getContent(bytes);

function getContent(of: Buffer): Content {
  return { sha256: createHash('sha256').update(of).digest('hex'), size: of.length };
}

/** An agent that notes what it is offered, and what is asked in its name. */
class Taker implements ContentTaker {
  readonly offers: ContentOffer[] = [];
  readonly asked: WantedContent[] = [];
  isClosed = false;
  readonly machineId: string;
  readonly proofs: ReaderProofs;

  constructor(machineId: string, proofs: ReaderProofs = noProofs) {
    this.machineId = machineId;
    this.proofs = proofs;
  }

  write(message: Buffer): void {
    const { message: reported } = AttachResponse.decode(message);
    if (reported?.$case === 'content') this.offers.push(decodeBlobOffer(reported.value));
  }

  ask(contents: readonly WantedContent[]): void {
    this.asked.push(...contents);
  }

  /** The name of the transfer that it was offered last. */
  get transferId(): string {
    const source = this.offers.at(-1)?.source;
    return source?.kind === 'transfer' ? source.transferId : '';
  }
}

/** A site and the way to it from home. */
class Bench {
  now = 1000;
  readonly exchange = new TransferExchange({
    timers: { start: () => undefined, cancel: () => undefined },
    waitMax: 1,
    transfersMax: 10,
    passing: { note: () => undefined },
  });
  readonly store: SiteStore;
  readonly contents: SiteContents;
  readonly folder: string;
  readonly prover = new HomeProver('of the site');

  constructor(t: ExecutionContext, bytesMax = 1_000_000) {
    this.folder = temporaryFolder(t);
    this.store = new SiteStore({ folder: this.folder, bytesMax, now: 0, partAgeMax: 1000 });
    this.contents = new SiteContents({
      store: this.store,
      prover: this.prover,
      exchange: this.exchange,
      getUser: () => 'ana',
      clock: { now: () => this.now },
      log: quietLogger,
      passing: { note: () => undefined },
    });
  }

  /** An agent that has a key, for the site's challenge. */
  reader(machineId: string, key = 'of the site'): Taker {
    return new Taker(machineId, {
      challenge: machineId,
      homeProofs: [proveReading(key, this.prover.challenge, machineId)],
    });
  }

  /** A path, proven with a key to an agent, or by a broker to the site. */
  shared(reader: Taker | string, path: string, isLinkable: boolean, key = 'of the site'): ContentOffer['source'] {
    const challenge =
      typeof reader === 'string' ? this.contents.proofsFor(reader, '').challenge : reader.proofs.challenge;
    return { kind: 'shared', path, isLinkable, proof: provePath(key, challenge, { content, path, isLinkable }) };
  }

  /** The broker brings bytes under a name. */
  give(transferId: string, chunks: AsyncIterable<Buffer>): Promise<void> {
    return this.exchange.give(transferId, {
      chunks,
      signal: new AbortController().signal,
      requestId: '',
      party: { kind: 'user', userId: 'ana' },
      admits: () => true,
    });
  }

  /** An agent pulls what it was offered. */
  async pull(transferId: string, parts: Buffer[] = []): Promise<Buffer> {
    await this.contents.findTransfer(transferId, ['p/1', 'p/2', 'p/3', 'p/4'])?.({
      onDrain: undefined,
      end: () => undefined,
      drained: () => Promise.resolve(),
      write: (message) => parts.push(Buffer.from(PullContentResponse.decode(message).data)) > 0,
    });
    return Buffer.concat(parts);
  }
}

async function* getChunks(of: Buffer, onChunk: () => Promise<void> | void = () => undefined): AsyncGenerator<Buffer> {
  for (let at = 0; at < of.length; at += 100_000) {
    await onChunk();
    yield Buffer.from(PullContentResponse.encode({ data: of.subarray(at, at + 100_000) }).finish());
  }
}

test('what several agents want is asked for once, and all get it while it still comes', async (t) => {
  const bench = new Bench(t);
  const [one, two, three] = [new Taker('p/1'), new Taker('p/2'), new Taker('p/3')];
  t.deepEqual(bench.contents.want(one, 'b', [content]), [content]);
  t.deepEqual(bench.contents.want(two, 'b', [content]), []);
  t.true(bench.contents.answer('b', 'p/1', { content, source: { kind: 'transfer', transferId: 't' } }));
  const gate = Promise.withResolvers<undefined>();
  let chunkCount = 0;
  const giving = bench.give(
    't',
    getChunks(bytes, async () => {
      if (++chunkCount === 2) await gate.promise;
    }),
  );
  await until(() => one.transferId !== '' && two.transferId !== '', 'both are offered it');
  t.deepEqual(bench.contents.want(three, 'b', [content]), []);
  const pulls = [one, two, three].map((taker) => bench.pull(taker.transferId));
  gate.resolve(undefined);
  for (const pulled of await Promise.all(pulls)) t.true(pulled.equals(bytes));
  await giving;
  await until(() => bench.contents.has('b', content), 'it is kept');
  const late = new Taker('p/4');
  t.deepEqual(bench.contents.want(late, 'b', [content]), []);
  await until(() => late.transferId !== '', 'it is offered to a late one');
  t.true((await bench.pull(late.transferId)).equals(bytes));
});

test('a machine of another broker is not served what the first brought', async (t) => {
  const bench = new Bench(t);
  bench.contents.wantOwn('b1', [content]);
  bench.contents.answer('b1', '', { content, source: { kind: 'transfer', transferId: 't' } });
  await bench.give('t', getChunks(bytes));
  await until(() => bench.contents.has('b1', content), 'it is kept');
  t.deepEqual(bench.contents.want(new Taker('p/1'), 'b2', [content]), [content]);
});

test('a transfer that breaks is gone on with where it broke', async (t) => {
  const bench = new Bench(t);
  const taker = new Taker('p/1');
  bench.contents.want(taker, 'b', [content]);
  bench.contents.answer('b', 'p/1', { content, source: { kind: 'transfer', transferId: 't' } });
  let chunkCount = 0;
  await t.throwsAsync(
    bench.give(
      't',
      getChunks(bytes, () => {
        if (++chunkCount === 3) throw new Error('the line is down');
      }),
    ),
  );
  await until(() => taker.transferId !== '', 'it was offered');
  await t.throwsAsync(bench.pull(taker.transferId), { code: 'MUT_TRANSFER_FAILED' });
  t.deepEqual(bench.contents.want(taker, 'b', [{ ...content, offset: 150_000 }]), [{ ...content, offset: 200_000 }]);
  bench.contents.answer('b', 'p/1', { content, source: { kind: 'transfer', transferId: 't2', offset: 200_000 } });
  await bench.give('t2', getChunks(bytes.subarray(200_000)));
  await until(() => taker.offers.length === 2, 'it is offered again');
  t.like(taker.offers[1]?.source, { kind: 'transfer', offset: 150_000 });
  t.true((await bench.pull(taker.transferId)).equals(bytes.subarray(150_000)));
});

test('contents that cannot be kept pass through as if nothing were between', (t) => {
  const bench = new Bench(t, 1000);
  const taker = new Taker('p/1');
  const wanted: WantedContent[] = [content];
  const asked = bench.contents.want(taker, 'b', wanted);
  t.is(asked[0], wanted[0]);
  t.false(bench.contents.answer('b', 'p/1', { content, source: { kind: 'transfer', transferId: 't' } }));
  const small = getContent(Buffer.from('small'));
  t.deepEqual(bench.contents.want(taker, 'b', [small]), [small]);
});

test('when the disk is full agents are served from home for a while', async (t) => {
  const bench = new Bench(t);
  const taker = new Taker('p/1');
  bench.contents.want(taker, 'b', [content]);
  // A folder that is gone stands for a disk that takes nothing.
  rmSync(bench.folder, { recursive: true });
  bench.contents.answer('b', 'p/1', { content, source: { kind: 'transfer', transferId: 't' } });
  await until(() => taker.asked.length > 0, "it is asked for in the agent's name");
  t.false(bench.contents.answer('b', 'p/1', { content, source: { kind: 'transfer', transferId: 't2' } }));
  t.deepEqual(bench.contents.want(taker, 'b', [content]), [content]);
  t.false(bench.contents.answer('b', 'p/1', { content, source: { kind: 'transfer', transferId: 't3' } }));
});

test('a refusal reaches all who wait, and a broker that went away is asked again', (t) => {
  const bench = new Bench(t);
  const [one, two] = [new Taker('p/1'), new Taker('p/2')];
  bench.contents.want(one, 'b', [content]);
  bench.contents.want(two, 'b', [content]);
  bench.contents.forgetBroker('b');
  t.is(bench.contents.want(one, 'b', [content]).length, 1);
  bench.contents.want(two, 'b', [content]);
  t.true(bench.contents.answer('b', 'p/1', { content, source: { kind: 'refused', reason: 'MUT_CONTENT_NOT_FOUND' } }));
  t.deepEqual(
    [one, two].map((taker) => taker.offers.map(({ source }) => source.kind)),
    [['refused'], ['refused']],
  );
});

test('a file that one machine shares with its broker is not offered to another', (t) => {
  const bench = new Bench(t);
  const [one, two] = [new Taker('p/1'), new Taker('p/2')];
  bench.contents.want(one, 'b', [content]);
  bench.contents.want(two, 'b', [content]);
  t.false(
    bench.contents.answer('b', 'p/1', {
      content,
      source: { kind: 'shared', path: '/home/ana/data', isLinkable: false, proof: 'for the machine' },
    }),
  );
  t.deepEqual(two.asked, [content]);
  t.deepEqual(two.offers, []);
});

test("an agent that shares the site's file system receives the path of a content once it is whole", async (t) => {
  const bench = new Bench(t);
  const [near, far] = [bench.reader('p/1'), bench.reader('p/2', 'of another')];
  bench.contents.want(near, 'b', [content]);
  bench.contents.want(far, 'b', [content]);
  bench.contents.answer('b', 'p/1', { content, source: { kind: 'transfer', transferId: 't' } });
  const giving = bench.give(
    't',
    getChunks(bytes, () => {
      t.deepEqual(near.offers, []);
    }),
  );
  await until(() => far.transferId !== '', 'the other is offered a transfer');
  await giving;
  await until(() => near.offers.length > 0, 'it is offered');
  t.deepEqual(near.offers[0]?.source, bench.shared(near, bench.store.find('b', content) ?? '', true));
  bench.contents.want(near, 'b', [{ ...content, overWire: true }]);
  await until(() => near.transferId !== '', 'it is offered a transfer');
});

test('the provider keeps small contents that it wants itself, and agents have them without the broker', async (t) => {
  const bench = new Bench(t);
  const small = getContent(Buffer.from('small'));
  t.deepEqual(bench.contents.wantOwn('b', [small]), [small]);
  t.true(bench.contents.answer('b', '', { content: small, source: { kind: 'inline', bytes: Buffer.from('small') } }));
  await until(() => bench.contents.has('b', small), 'it is kept');
  const taker = new Taker('p/1');
  t.deepEqual(bench.contents.want(taker, 'b', [small]), []);
  await until(() => taker.offers.length > 0, 'it is offered');
  t.deepEqual(taker.offers[0]?.source, { kind: 'inline', bytes: Buffer.from('small') });
});

test('an offer that nobody took goes with its agent', async (t) => {
  const bench = new Bench(t);
  bench.contents.wantOwn('b', [content]);
  bench.contents.answer('b', '', { content, source: { kind: 'transfer', transferId: 't' } });
  await bench.give('t', getChunks(bytes));
  await until(() => bench.contents.has('b', content), 'it is kept');
  const taker = new Taker('p/1');
  bench.contents.want(taker, 'b', [content]);
  await until(() => taker.transferId !== '', 'it is offered');
  t.false(bench.store.makeRoom(1_000_000));
  bench.contents.forgetTaker(taker);
  t.is(bench.contents.findTransfer(taker.transferId, ['p/1']), undefined);
  t.true(bench.store.makeRoom(1_000_000));
});

test('a file of the home machine that the provider reads itself is not stored; while the broker is away, agents receive its path or its bytes, and a wrong one is not offered again', async (t) => {
  const bench = new Bench(t);
  const path = join(temporaryFolder(t), 'in');
  writeFileSync(path, bytes);
  const { challenge, homeProofs } = bench.contents.proofsFor('b', 'of the broker');
  t.deepEqual(homeProofs, [proveReading('of the site', 'of the broker', challenge)]);
  t.deepEqual(bench.contents.wantOwn('b', [content]), [content]);
  t.true(bench.contents.answer('b', '', { content, source: bench.shared('b', path, false) }));
  t.true(bench.contents.has('b', content));
  t.deepEqual(bench.contents.wantOwn('b', [content]), []);
  t.is(bench.contents.keptBytes, 0);
  const [near, far, other] = [bench.reader('p/1'), new Taker('p/2'), new Taker('p/3')];
  t.deepEqual(bench.contents.wantAway(near, 'b', [content]), []);
  t.deepEqual(
    near.offers.map(({ source }) => source),
    [bench.shared(near, path, false)],
  );
  t.deepEqual(bench.contents.wantAway(far, 'b', [content]), []);
  t.true((await bench.pull(far.transferId)).equals(bytes));
  t.is(bench.contents.wantAway(other, 'b2', [content]).length, 1, 'it is for machines of that broker alone');
  t.is(bench.contents.wantAway(near, 'b', [{ ...content, overWire: true }]).length, 1);
  t.false(bench.contents.has('b', content), 'it was not what it should be');
});

test('a file of home counts as long as it has its size and a lease names it', (t) => {
  const bench = new Bench(t);
  const path = join(temporaryFolder(t), 'in');
  writeFileSync(path, bytes);
  bench.contents.wantOwn('b', [content]);
  bench.contents.answer('b', '', { content, source: bench.shared('b', path, true) });
  bench.contents.pin('b', new Set([content.sha256]));
  t.true(bench.contents.has('b', content));
  writeFileSync(path, 'shorter');
  t.false(bench.contents.has('b', content));
  writeFileSync(path, bytes);
  bench.contents.pin('b', new Set());
  t.false(bench.contents.has('b', content));
});

test('a path is not opened unless its broker proves to read this home folder, for a challenge of its own', (t) => {
  const path = join(temporaryFolder(t), 'secret');
  writeFileSync(path, bytes);
  const proofs: ((bench: Bench) => ContentOffer['source'])[] = [
    () => ({ kind: 'shared', path, isLinkable: false, proof: '' }),
    (bench) => bench.shared('b', path, false, 'of another'),
    (bench) => bench.shared('another/b', path, false),
  ];
  for (const source of proofs) {
    const bench = new Bench(t);
    bench.contents.wantOwn('b', [content]);
    t.true(bench.contents.answer('b', '', { content, source: source(bench) }));
    t.false(bench.contents.has('b', content));
    const taker = new Taker('p/1');
    t.is(bench.contents.wantAway(taker, 'b', [content]).length, 1);
    t.deepEqual(taker.offers, []);
  }
});

test('a file of home is hashed before its first byte is sent, and not followed through a link', async (t) => {
  const bench = new Bench(t);
  const folder = temporaryFolder(t);
  const secret = Buffer.alloc(content.size, 'secret ');
  writeFileSync(join(folder, 'secret'), secret);
  writeFileSync(join(folder, 'in'), bytes);
  for (const swap of [
    () => {
      writeFileSync(join(folder, 'in'), secret);
    },
    () => {
      rmSync(join(folder, 'in'));
      symlinkSync('secret', join(folder, 'in'));
    },
  ]) {
    writeFileSync(join(folder, 'in'), bytes);
    bench.contents.wantOwn('b', [content]);
    bench.contents.answer('b', '', { content, source: bench.shared('b', join(folder, 'in'), false) });
    const taker = new Taker('p/1');
    t.deepEqual(bench.contents.wantAway(taker, 'b', [content]), []);
    swap();
    const sent: Buffer[] = [];
    await t.throwsAsync(bench.pull(taker.transferId, sent));
    t.deepEqual(sent, []);
    bench.contents.pin('b', new Set());
  }
});
