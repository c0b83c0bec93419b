import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import test, { type ExecutionContext } from 'ava';

import type { ContentOffer } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { SendContentRequest } from '@mutirao/api/provider';
import type { Content, MachineReport, OutputContent, ReplicaEnd } from '@mutirao/core/messages';
import { HomeProver, provePath, proveReading } from '@mutirao/runtime/files';
import { anEnd, aTemplate, HandTimers, temporaryFolder, until } from '@mutirao/testkit';

import { ContentFetcher } from '../../../src/providers/content-fetcher.ts';
import { ContentServer, inlineBytesMax, type ContentSink } from '../../../src/providers/content-server.ts';
import { NamedContents } from '../../../src/providers/named-contents.ts';
import { countPrinted, keepOutputs, type KnownReplicas } from '../../../src/providers/report-outputs.ts';
import { Arrivals } from '../../../src/results/arrivals.ts';
import { BegunOutputs } from '../../../src/results/begun-outputs.ts';
import { UnreportedBytes } from '../../../src/results/unreported-bytes.ts';

function getContent(bytes: Uint8Array): Content {
  return { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
}

async function* getChunks(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const data of chunks) yield await Promise.resolve(data);
}

test('a pushed content is kept when its bytes are right, and only then', async (t) => {
  const folder = temporaryFolder(t);
  const arrivals = await Arrivals.open(folder, { now: 1, ageMax: 1 });
  const bytes = Buffer.from('hello world');
  const troubles: string[] = [];
  const sent: Record<string, readonly Uint8Array[]> = {
    good: [bytes.subarray(0, 5), bytes.subarray(5)],
    short: [bytes.subarray(0, 5)],
    long: [bytes, bytes],
    other: [Buffer.from('HELLO WORLD')],
  };
  const fetcher = new ContentFetcher({
    timers: new HandTimers(),
    arrivals,
    begun: new BegunOutputs(arrivals),
    refuse: () => Promise.resolve(),
    takesOffsets: () => true,
    whenRoom: () => Promise.resolve(),
    concurrencyMax: 2,
    onBytes: () => undefined,
    onTrouble: (error) => troubles.push(String(error)),
    receive: (transferId) => getChunks(...(sent[transferId] ?? [])),
    pause: () => Promise.resolve(),
    isConnected: () => true,
  });
  for (const transferId of Object.keys(sent))
    fetcher.fetch('alpha/m', { transferId, content: getContent(bytes), isKept: false });
  for (const transferId of [...Object.keys(sent), 'unknown']) await fetcher.settled('alpha/m', transferId);
  t.is(troubles.length, 3);
  t.is(readdirSync(folder).length, 1);
  t.is(readFileSync(arrivals.pathOfTransfer('alpha/m', 'good', getContent(bytes).sha256), 'utf8'), 'hello world');
});

test('what the provider keeps is fetched again when a transfer breaks, as long as there is a connection', async (t) => {
  const arrivals = await Arrivals.open(temporaryFolder(t), { now: 1, ageMax: 1 });
  const bytes = Buffer.from('hello world');
  const troubles: string[] = [];
  const tries = new Map<string, number>();
  let isConnected = true;
  const fetcher = new ContentFetcher({
    timers: new HandTimers(),
    arrivals,
    begun: new BegunOutputs(arrivals),
    refuse: () => Promise.resolve(),
    takesOffsets: () => true,
    whenRoom: () => Promise.resolve(),
    concurrencyMax: 2,
    onBytes: () => undefined,
    onTrouble: (error) => troubles.push(String(error)),
    isConnected: () => isConnected,
    pause: () => {
      isConnected = !tries.has('cut');
      return Promise.resolve();
    },
    receive: (transferId) => {
      tries.set(transferId, (tries.get(transferId) ?? 0) + 1);
      if (transferId === 'wrong') return getChunks(Buffer.from('HELLO WORLD'));
      if (tries.get(transferId) === 3) return getChunks(bytes);
      throw new MutiraoError('MUT_UNREACHABLE', 'the stream broke');
    },
  });
  const fetch = async (transferId: string, isKept: boolean): Promise<void> => {
    fetcher.fetch('alpha/m', { transferId, content: getContent(bytes), isKept });
    await fetcher.settled('alpha/m', transferId);
  };
  await fetch('kept', true);
  t.is(readFileSync(arrivals.pathOfTransfer('alpha/m', 'kept', getContent(bytes).sha256), 'utf8'), 'hello world');
  await fetch('passing', false);
  await fetch('wrong', true);
  await fetch('cut', true);
  t.deepEqual(Object.fromEntries(tries), { kept: 3, passing: 1, wrong: 1, cut: 2 });
  t.is(troubles.length, 3);
});

test('what a transfer that broke brought does not come again, whether the content is kept or pushed again; each machine has its own', async (t) => {
  const folder = temporaryFolder(t);
  const arrivals = await Arrivals.open(folder, { now: 1, ageMax: 1 });
  const bytes = Buffer.from('hello world');
  const asked: string[] = [];
  let takesOffsets = true;
  async function* breaking(transferId: string, offset: number): AsyncGenerator<Uint8Array> {
    asked.push(`${transferId} ${offset}`);
    yield bytes.subarray(offset, offset + 4);
    await Promise.resolve();
    if (offset + 4 < bytes.length) throw new MutiraoError('MUT_UNREACHABLE', 'the stream broke');
  }
  const fetcher = new ContentFetcher({
    timers: new HandTimers(),
    arrivals,
    begun: new BegunOutputs(arrivals),
    refuse: () => Promise.resolve(),
    takesOffsets: () => takesOffsets,
    whenRoom: () => Promise.resolve(),
    concurrencyMax: 1,
    onBytes: () => undefined,
    onTrouble: () => undefined,
    receive: breaking,
    pause: () => Promise.resolve(),
    isConnected: () => true,
  });
  const fetch = async (machineId: string, transferId: string, isKept: boolean): Promise<string> => {
    asked.length = 0;
    fetcher.fetch(machineId, { transferId, content: getContent(bytes), isKept });
    await fetcher.settled(machineId, transferId);
    return asked.join(', ');
  };
  t.is(await fetch('alpha/m', 't1', false), 't1 0');
  t.is(await fetch('alpha/other', 't2', false), 't2 0');
  takesOffsets = false;
  t.is(await fetch('alpha/other', 't3', false), 't3 0', 'a provider of an older release sends all');
  takesOffsets = true;
  t.is(await fetch('alpha/m', 't4', false), 't4 4');
  t.is(await fetch('alpha/m', 't5', false), 't5 8');
  t.is(readFileSync(arrivals.pathOfTransfer('alpha/m', 't5', getContent(bytes).sha256), 'utf8'), 'hello world');
  t.is(await fetch('alpha/m', 't6', true), 't6 0, t6 4, t6 8');
  t.is(readdirSync(folder).length, 3, 'two that are whole, and what the other machine began');
});

test('a beginning that does not fit is forgotten, and does not count as a lie of its machine', async (t) => {
  const arrivals = await Arrivals.open(temporaryFolder(t), { now: 1, ageMax: 1 });
  const bytes = Buffer.alloc((1 << 20) + 8, 'x');
  const content = getContent(bytes);
  // Another process left it, with a gap; its last MiB is doubted anyway.
  writeFileSync(arrivals.findBeginning('alpha/m', content), Buffer.alloc(bytes.length, 'y'));
  const begun = new BegunOutputs(arrivals);
  const offsets: number[] = [];
  const fetcher = new ContentFetcher({
    timers: new HandTimers(),
    arrivals,
    refuse: () => Promise.resolve(),
    begun,
    takesOffsets: () => true,
    whenRoom: () => Promise.resolve(),
    concurrencyMax: 1,
    onBytes: () => undefined,
    onTrouble: () => undefined,
    receive: (_transferId, offset) => {
      offsets.push(offset);
      return getChunks(bytes.subarray(offset));
    },
    pause: () => Promise.resolve(),
    isConnected: () => true,
  });
  for (const transferId of ['t1', 't2']) {
    fetcher.fetch('alpha/m', { transferId, content, isKept: false });
    await fetcher.settled('alpha/m', transferId);
    const output = { outputIndex: 0, path: '', content, mode: 0o600, inline: undefined, transferId };
    t.is(arrivals.explainMissing({ replicaId: 1, machineId: 'alpha/m' }, output, 'it').code, 'MUT_CONTENT_NOT_FOUND');
  }
  t.deepEqual(offsets, [8, 0]);
  t.true(readFileSync(arrivals.pathOfTransfer('alpha/m', 't2', content.sha256)).equals(bytes));
});

test('of two transfers of one content from one machine at a time the second goes its own way', async (t) => {
  const arrivals = await Arrivals.open(temporaryFolder(t), { now: 1, ageMax: 1 });
  const content = getContent(Buffer.from('hello world'));
  const begun = new BegunOutputs(arrivals);
  const [first, second] = [begun.take('alpha/m', content), begun.take('alpha/m', content)];
  t.not(first.path, second.path);
  writeFileSync(first.path, 'hello');
  second.leave(5);
  first.leave(5);
  t.is(begun.take('alpha/m', content).offset, 5);
});

test('a report waits for what is pushed and keeps what it brings, without its bytes', async (t) => {
  const folder = temporaryFolder(t);
  const arrivals = await Arrivals.open(folder, { now: 1, ageMax: 1 });
  const bytes = Buffer.from('small');
  const inline: OutputContent = {
    outputIndex: 0,
    path: '',
    content: getContent(bytes),
    mode: 0o644,
    inline: bytes,
    transferId: '',
  };
  const spoilt: OutputContent = { ...inline, outputIndex: 1, inline: Buffer.from('smell') };
  const pushed: OutputContent = { ...inline, outputIndex: 2, inline: undefined, transferId: 't9' };
  const report: MachineReport = {
    sequence: 1,
    started: [],
    ended: [{ ...anEnd(7, 'succeeded', { startedAt: 1, endedAt: 2 }), outputs: [inline, spoilt, pushed] }],
  };
  const waited: string[] = [];
  const troubles: unknown[] = [];
  const settled = (_machineId: string, transferId: string): Promise<void> => {
    waited.push(transferId);
    return Promise.resolve();
  };
  const kept = await keepOutputs(
    { machineId: 'alpha/m', report },
    {
      arrivals,
      pushed: { settled },
      room: { retryWhileDiskFull: (act) => act() },
      known: { isOthers: () => false, isAwaited: () => true, isOpen: () => true },
    },
    (error) => troubles.push(error),
  );
  t.deepEqual(waited, ['t9']);
  t.is(troubles.length, 1, 'bytes that are not what was announced are not kept');
  t.true(kept.ended[0]?.outputs.every((output) => output.inline === undefined));
  t.deepEqual(readdirSync(folder).length, 1);
  t.is(readFileSync(arrivals.getPath({ replicaId: 7, machineId: 'alpha/m' }, inline), 'utf8'), 'small');
});

test('what a report brings by itself counts for its machine like what is pushed, and no more once it is kept', async (t) => {
  const quotas = { ownerId: 'ana', rules: [{ userId: '', name: 'machine-bytes', amount: 12 }] } as const;
  const unreported = new UnreportedBytes({ quotas });
  const arrivals = await Arrivals.open(temporaryFolder(t), { now: 1, ageMax: 1, unreported });
  const outputs = ['first', 'other', 'third'].map((text, outputIndex): OutputContent => {
    const bytes = Buffer.from(text);
    return { outputIndex, path: '', content: getContent(bytes), mode: 0o644, inline: bytes, transferId: '' };
  });
  const report: MachineReport = {
    sequence: 1,
    started: [],
    ended: [{ ...anEnd(7, 'succeeded', { startedAt: 1, endedAt: 2 }), outputs }],
  };
  const keep = async (): Promise<unknown[]> => {
    const troubles: unknown[] = [];
    await keepOutputs(
      { machineId: 'alpha/m', report },
      {
        arrivals,
        pushed: { settled: () => Promise.resolve() },
        room: { retryWhileDiskFull: (act) => act() },
        known: { isOthers: () => false, isAwaited: () => true, isOpen: () => true },
      },
      (error) => troubles.push(error),
    );
    return troubles;
  };
  const [trouble, ...others] = await keep();
  t.deepEqual(others, []);
  t.like(trouble, { code: 'MUT_MACHINE_QUOTA' });
  t.regex(String(trouble), /machine alpha\/m: .*"machine-bytes" .* is 12 B; 10 B are used, and 5 B more/);
  t.is(unreported.getBytes('alpha/m'), 0);
  unreported.begin('alpha/m', '/pushed', 8);
  t.is((await keep()).length, 3, 'what was pushed before takes room from them');
});

test('what tasks printed counts for their machine, and what is too much is dropped and said', (t) => {
  const quotas = { ownerId: 'ana', rules: [{ userId: '', name: 'machine-bytes', amount: 12 }] } as const;
  const unreported = new UnreportedBytes({ quotas });
  const printing = (replicaId: number, output: string, error: string): ReplicaEnd => ({
    ...anEnd(replicaId, 'succeeded', { startedAt: 1, endedAt: 2 }),
    standardOutput: Buffer.from(output),
    standardError: Buffer.from(error),
  });
  const sent = [printing(7, 'seven', 'err'), printing(8, 'eight', 'err'), printing(9, '', '')];
  const troubles: unknown[] = [];
  const { report, release } = countPrinted(
    { machineId: 'alpha/m', report: { sequence: 1, started: [], ended: sent } },
    unreported,
    (error) => troubles.push(error),
  );
  t.deepEqual([report.ended[0], report.ended[2]], [sent[0], sent[2]]);
  t.like(report.ended[1], { replicaId: 8, outcome: 'succeeded', outputTruncated: true });
  t.is(report.ended[1]?.standardOutput.length, 0);
  t.regex(
    Buffer.from(report.ended[1]?.standardError ?? []).toString(),
    /^\[8 B that the task printed were not kept: MUT_MACHINE_QUOTA: machine alpha\/m: the quota .*\]\n$/,
  );
  t.is(troubles.length, 1);
  t.is(unreported.getBytes('alpha/m'), 8);
  release();
  t.is(unreported.getBytes('alpha/m'), 0);
});

test('what a machine prints again for a replica counts again, and takes nothing from what another machine printed', (t) => {
  const unreported = new UnreportedBytes();
  const ended = [
    { ...anEnd(7, 'succeeded', { startedAt: 1, endedAt: 2 }), standardOutput: Buffer.from('seven') },
  ] as const;
  const count = (machineId: string) =>
    countPrinted({ machineId, report: { sequence: 1, started: [], ended } }, unreported, () => undefined);
  const bytes = () => [unreported.getBytes('alpha/m'), unreported.getBytes('beta/m')];
  const counted = [count('alpha/m'), count('alpha/m')];
  t.deepEqual(bytes(), [10, 0]);
  const foreign = count('beta/m');
  t.deepEqual(bytes(), [10, 5]);
  foreign.release();
  counted[0]?.release();
  t.deepEqual(bytes(), [5, 0]);
  counted[1]?.release();
  t.deepEqual(bytes(), [0, 0]);
});

/** A report of these replicas with a small output each. */
async function smallReport(
  t: ExecutionContext,
  replicaIds: readonly number[],
): Promise<{
  readonly arrivals: Arrivals;
  readonly report: MachineReport;
  keep(known: KnownReplicas): Promise<unknown>;
  left(): string[];
}> {
  const folder = temporaryFolder(t);
  const arrivals = await Arrivals.open(folder, { now: 1, ageMax: 1 });
  const bytes = Buffer.from('small');
  const output: OutputContent = {
    outputIndex: 0,
    path: '',
    content: getContent(bytes),
    mode: 0o644,
    inline: bytes,
    transferId: '',
  };
  const ended = replicaIds.map((replicaId) => ({
    ...anEnd(replicaId, 'succeeded', { startedAt: 1, endedAt: 2 }),
    outputs: [output],
  }));
  const report: MachineReport = { sequence: 1, started: [], ended };
  const stores = {
    arrivals,
    pushed: { settled: () => Promise.resolve() },
    room: { retryWhileDiskFull: <T>(act: () => Promise<T>) => act() },
  };
  return {
    arrivals,
    report,
    left: () =>
      readdirSync(folder)
        .map((name) => name.split('-')[0] ?? '')
        .sort(),
    keep: (known) =>
      keepOutputs({ machineId: 'alpha/m', report }, { ...stores, known }, (error) => {
        t.fail(String(error));
      }),
  };
}

test('a report that is repeated after its replica has ended stores nothing', async (t) => {
  const { keep, left } = await smallReport(t, [7]);
  await keep({ isOthers: () => false, isAwaited: () => false, isOpen: () => false });
  await keep({ isOthers: () => true, isAwaited: () => true, isOpen: () => true });
  t.deepEqual(left(), []);
});

test('of a replica that ends otherwise while the outputs of its report are kept nothing stays, and what is verified meanwhile does', async (t) => {
  const { keep, left } = await smallReport(t, [7, 8, 9]);
  const [replicas, successes] = [new Set([7, 8, 9]), new Set<number>()];
  await keep({
    isOthers: () => false,
    isAwaited: (replicaId) => {
      if (replicaId !== 9) return replicas.has(replicaId);
      // The first one's output is kept when its machine is caught; a repeat of the report has the last one verified.
      replicas.delete(7);
      successes.add(9);
      return replicas.delete(9);
    },
    isOpen: (replicaId) => replicas.has(replicaId) || successes.has(replicaId),
  });
  t.deepEqual(left(), ['r8', 'r9']);
});

interface ServerBench {
  readonly server: ContentServer;
  readonly offers: ContentOffer[];
  readonly sent: Map<string, Buffer[]>;
  readonly ended: string[];
  readonly restaged: string[];
}

const prover = new HomeProver('of home');
const unnamed = getContent(Buffer.from('of another user')).sha256;
/** Of somebody who reads home. */
const reader = { challenge: 'c', homeProofs: [proveReading('of home', prover.challenge, 'c')] };

function serve(paths: Map<string, string>, onRestage: () => void = () => undefined): ServerBench {
  const offers: ContentOffer[] = [];
  const sent = new Map<string, Buffer[]>();
  const ended: string[] = [];
  const restaged: string[] = [];
  const getSink = (transferId: string): ContentSink => ({
    write: (message) => {
      sent.set(transferId, [...(sent.get(transferId) ?? []), SendContentRequest.decode(message).data]);
      return Promise.resolve();
    },
    finish: () => {
      ended.push(`finished ${transferId}`);
      return Promise.resolve();
    },
    cancel: () => {
      ended.push(`cancelled ${transferId}`);
    },
  });
  const server = new ContentServer({
    findSource: (content) => {
      const path = paths.get(content.sha256);
      return Promise.resolve(path === undefined ? undefined : { path, isLinkable: false });
    },
    prover,
    isNamed: (_machineId, sha256) => sha256 !== unnamed,
    restage: (machineId) => {
      restaged.push(machineId);
      onRestage();
      return Promise.resolve();
    },
    offer: (_machineId, offer) => offers.push(offer),
    send: getSink,
    nextTransferId: () => `t${offers.length}`,
    concurrencyMax: 1,
    onBytes: () => undefined,
    onTrouble: (error) => {
      ended.push(String(error));
    },
  });
  return { server, offers, sent, ended, restaged };
}

test('a machine that shares the file system of home receives the path of a content, and gets it over the wire if that fails', async (t) => {
  const home = temporaryFolder(t);
  const bytes = Buffer.alloc(300_000, 3);
  writeFileSync(join(home, 'file'), bytes);
  const content = getContent(bytes);
  const { server, offers, sent, ended } = serve(new Map([[content.sha256, join(home, 'file')]]));
  await server.serve('alpha/near', [content], reader);
  await server.serve('alpha/near', [{ ...content, overWire: true, offset: 100_000 }], reader);
  await until(() => ended.length > 0, 'it is sent');
  const proven = { path: join(home, 'file'), isLinkable: false };
  t.deepEqual(
    offers.map(({ source }) => source),
    [
      { kind: 'shared', ...proven, proof: provePath('of home', 'c', { content, ...proven }) },
      { kind: 'transfer', transferId: 't1', offset: 100_000 },
    ],
  );
  for (const challenge of [prover.challenge, '', 'another']) {
    await server.serve('alpha/far', [content], {
      challenge: 'c',
      homeProofs: [proveReading(challenge === prover.challenge ? 'of another' : 'of home', challenge, 'c')],
    });
    t.is(
      offers.at(-1)?.source.kind,
      'transfer',
      'one without the key, or with a proof for another challenge, gets no path',
    );
  }
  t.true(Buffer.concat(sent.get('t1') ?? []).equals(bytes.subarray(100_000)));
});

test('a small content travels in its offer, a large one on a stream of its own', async (t) => {
  const home = temporaryFolder(t);
  const small = Buffer.alloc(inlineBytesMax, 1);
  const large = Buffer.alloc(inlineBytesMax * 9 + 1, 2);
  writeFileSync(join(home, 'small'), small);
  writeFileSync(join(home, 'large'), large);
  const paths = new Map([
    [getContent(small).sha256, join(home, 'small')],
    [getContent(large).sha256, join(home, 'large')],
  ]);
  const { server, offers, sent, ended } = serve(paths);
  await server.serve('alpha/m', [getContent(small), getContent(large)]);
  t.deepEqual(
    offers.map(({ source }) => source.kind),
    ['inline', 'transfer'],
  );
  while (ended.length === 0) await new Promise(setImmediate);
  t.deepEqual(ended, ['finished t1']);
  t.deepEqual(Buffer.concat(sent.get('t1') ?? []), large);
});

test("a content that is nowhere is refused after the machine's replicas were staged again", async (t) => {
  const home = temporaryFolder(t);
  writeFileSync(join(home, 'found'), 'found');
  const paths = new Map<string, string>();
  const found = getContent(Buffer.from('found'));
  const { server, offers, restaged } = serve(paths, () => paths.set(found.sha256, join(home, 'found')));
  await server.serve('alpha/m', [found, getContent(Buffer.from('never'))]);
  t.deepEqual(restaged, ['alpha/m']);
  t.deepEqual(
    offers.map(({ source }) => source.kind),
    ['inline', 'refused'],
  );
  t.like(offers[1]?.source, { reason: 'MUT_CONTENT_NOT_FOUND' });
});

test('a file that shrank while it was sent costs its transfer', async (t) => {
  const home = temporaryFolder(t);
  writeFileSync(join(home, 'large'), Buffer.alloc(10));
  const content = { sha256: 'ab'.repeat(32), size: inlineBytesMax * 2 };
  const { server, ended } = serve(new Map([[content.sha256, join(home, 'large')]]));
  await server.serve('alpha/m', [content]);
  while (ended.length < 2) await new Promise(setImmediate);
  t.is(ended[0], 'cancelled t0');
  t.regex(ended[1] ?? '', /has 10 bytes now/);
});

test('a content that was not named to a machine is refused, also to one that knows its hash', async (t) => {
  const home = temporaryFolder(t);
  const secret = Buffer.from('of another user');
  writeFileSync(join(home, 'secret'), secret);
  const { server, offers } = serve(new Map([[unnamed, join(home, 'secret')]]));
  await server.serve('alpha/m', [getContent(secret)]);
  t.deepEqual(
    offers.map(({ source }) => source),
    [{ kind: 'refused', reason: 'MUT_CONTENT_NOT_FOUND' }],
  );
});

test('contents are named to the machine that reads them, and to no other', (t) => {
  const named = new NamedContents();
  const content = getContent(Buffer.from('in'));
  const replica = {
    replicaId: 1,
    taskIndex: 0,
    value: '',
    inputs: [{ root: 'playpen' as const, path: 'in', content, mode: 0o644 }],
    outputs: [],
  };
  named.note('alpha/m1', { template: aTemplate('true'), replicas: [replica] });
  t.deepEqual(
    ['alpha/m1', 'alpha/m2', 'alpha'].map((reader) => named.has(reader, content.sha256)),
    [true, false, false],
  );
});

test('a transfer that stands still gives its place to others, and a machine leaves one to the others before', async (t) => {
  const arrivals = await Arrivals.open(temporaryFolder(t), { now: 1, ageMax: 1 });
  const bytes = Buffer.from('hello world');
  const troubles: string[] = [];
  const timers = new HandTimers();
  const asked: string[] = [];
  const fetcher = new ContentFetcher({
    timers,
    arrivals,
    begun: new BegunOutputs(arrivals),
    refuse: () => Promise.resolve(),
    takesOffsets: () => true,
    whenRoom: () => Promise.resolve(),
    concurrencyMax: 2,
    onBytes: () => undefined,
    onTrouble: (error) => troubles.push(String(error)),
    isConnected: () => true,
    pause: () => Promise.resolve(),
    async *receive(transferId, _offset, signal) {
      asked.push(transferId);
      if (transferId.startsWith('stalled'))
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new MutiraoError('MUT_CANCELLED', 'the call was cancelled'));
          });
        });
      yield bytes;
    },
  });
  const fetch = (machineId: string, transferId: string): void => {
    fetcher.fetch(machineId, { transferId, content: getContent(bytes), isKept: false });
  };
  for (const transferId of ['stalled 1', 'stalled 2', 'late']) fetch('alpha/hostile', transferId);
  fetch('alpha/m', 'good');
  await fetcher.settled('alpha/m', 'good');
  t.deepEqual(asked, ['stalled 1', 'good'], 'one of two places is left to other machines');
  for (let rung = 0; rung < 2; rung += 1) {
    await until(() => timers.waiting.length === 1, 'a transfer stands still');
    t.is(timers.ring(), 120_000);
  }
  await fetcher.settled('alpha/hostile', 'late');
  t.deepEqual(asked, ['stalled 1', 'good', 'stalled 2', 'late']);
  t.regex(troubles.join(), /stalled 1 was waited for during 120000 ms.*stalled 2 was waited for/);
  t.deepEqual(timers.waiting, []);
});

test('a transfer that brings a byte now and then is given up as a silent one is', async (t) => {
  const arrivals = await Arrivals.open(temporaryFolder(t), { now: 1, ageMax: 1 });
  const troubles: string[] = [];
  const timers = new HandTimers();
  const delays: number[] = [];
  let now = 0;
  const fetcher = new ContentFetcher({
    timers,
    clock: { now: () => now },
    arrivals,
    begun: new BegunOutputs(arrivals),
    refuse: () => Promise.resolve(),
    takesOffsets: () => true,
    whenRoom: () => Promise.resolve(),
    concurrencyMax: 2,
    onBytes: () => undefined,
    onTrouble: (error) => troubles.push(String(error)),
    isConnected: () => true,
    pause: () => Promise.resolve(),
    async *receive(_transferId, _offset, signal) {
      for (const piece of [Buffer.alloc(1024), Buffer.alloc(1), Buffer.alloc(1)]) {
        delays.push(Math.round(timers.waiting[0]?.delay ?? -1));
        now += 50_000;
        yield piece;
      }
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(new MutiraoError('MUT_CANCELLED', 'the call was cancelled'));
        });
      });
    },
  });
  fetcher.fetch('alpha/m', { transferId: 'slow', content: getContent(Buffer.alloc(10_000)), isKept: false });
  await until(() => delays.length === 3, 'three pieces have come');
  t.deepEqual(delays, [120_000, 71_000, 21_001]);
  await until(() => timers.waiting[0]?.delay === 0, 'it has waited too long');
  timers.ring();
  await fetcher.settled('alpha/m', 'slow');
  t.regex(troubles.join(), /slow was waited for during 120000 ms; expected at least 1024 bytes/);
});
