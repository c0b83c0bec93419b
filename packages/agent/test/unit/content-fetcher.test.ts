import { createHash } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { WantedContent } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { AgentInput } from '@mutirao/core/machines/agent';
import type { Content } from '@mutirao/core/messages';
import { systemClock } from '@mutirao/runtime/driver';
import { temporaryFolder, until } from '@mutirao/testkit';
import { ContentCache } from '../../src/content-cache.ts';
import { ContentFetcher } from '../../src/content-fetcher.ts';
import { HostContents } from '../../src/host-contents.ts';

const bytes = Buffer.from('content');
const content: Content = { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };

interface Rig {
  readonly fetcher: ContentFetcher;
  readonly wanted: string[];
  readonly declined: string[];
  /** From which byte on each was wanted. */
  readonly offsets: number[];
  /** Resolves to the next input that is delivered. */
  next(): Promise<AgentInput>;
}

async function makeRig(
  t: ExecutionContext,
  pull: (cache: ContentCache, offset: number) => Promise<void>,
): Promise<Rig> {
  const cache = await ContentCache.open(path.join(temporaryFolder(t), 'contents'), 1000);
  const wanted: string[] = [];
  const declined: string[] = [];
  const offsets: number[] = [];
  const inputs: AgentInput[] = [];
  let waiting: ((input: AgentInput) => void) | undefined;
  const fetcher = new ContentFetcher({
    cache,
    want: (contents) => {
      for (const { sha256, offset = 0 } of contents) {
        wanted.push(sha256);
        offsets.push(offset);
      }
      // A broker that always offers a transfer.
      for (const one of contents)
        queueMicrotask(() => {
          fetcher.take({ content: one, source: { kind: 'transfer', transferId: 't', offset: one.offset ?? 0 } });
        });
    },
    decline: (transferId) => {
      declined.push(transferId);
    },
    isProvenPath: (_file, proof) => proof === 'proven',
    pull: (_transferId, _content, offset) => pull(cache, offset),
    deliver: (input) => {
      const report = waiting;
      waiting = undefined;
      if (report === undefined) inputs.push(input);
      else report(input);
    },
  });
  return {
    fetcher,
    wanted,
    declined,
    offsets,
    next: () =>
      new Promise((resolve) => {
        const input = inputs.shift();
        if (input === undefined) waiting = resolve;
        else resolve(input);
      }),
  };
}

test('a content is fetched once and found the next time', async (t) => {
  const { fetcher, wanted, next } = await makeRig(t, async (cache) => {
    await cache.store.putBytes(bytes);
  });
  fetcher.ask([content]);
  t.deepEqual(await next(), { kind: 'ContentArrived', contentKey: content.sha256 });
  fetcher.ask([content]);
  t.deepEqual(await next(), { kind: 'ContentArrived', contentKey: content.sha256 });
  t.is(wanted.length, 1);
});

test('a transfer that is offered twice, or when nobody needs its content any more, is declined, so that its broker does not wait', async (t) => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const { fetcher, declined, next } = await makeRig(t, async (cache) => {
    await promise;
    await cache.store.putBytes(bytes);
  });
  const offer = (transferId: string): void => {
    fetcher.take({ content, source: { kind: 'transfer', transferId } });
  };
  offer('early');
  fetcher.ask([content]);
  await Promise.resolve();
  offer('second');
  resolve(undefined);
  t.is((await next()).kind, 'ContentArrived');
  fetcher.release([content.sha256]);
  offer('late');
  t.deepEqual(declined, ['early', 'second', 'late']);
});

test('a transfer that fails is tried again, a few times', async (t) => {
  let tries = 0;
  const { fetcher, wanted, next } = await makeRig(t, async (cache) => {
    tries++;
    if (tries < 3) throw new MutiraoError('MUT_TRANSFER_FAILED', 'broken');
    await cache.store.putBytes(bytes);
  });
  fetcher.ask([content]);
  t.is((await next()).kind, 'ContentArrived');
  t.is(wanted.length, 3);
});

test('a transfer that always fails is given up with its reason', async (t) => {
  const { fetcher, wanted, next } = await makeRig(t, () =>
    Promise.reject(new MutiraoError('MUT_TRANSFER_FAILED', 'broken')),
  );
  fetcher.ask([content]);
  t.deepEqual(await next(), {
    kind: 'ContentRefused',
    contentKey: content.sha256,
    reason: 'MUT_TRANSFER_FAILED',
    detail: 'broken',
  });
  t.is(wanted.length, 4);
});

test('a full disk is not tried again', async (t) => {
  const { fetcher, wanted, next } = await makeRig(t, () => Promise.reject(new MutiraoError('MUT_DISK_FULL', 'full')));
  fetcher.ask([content]);
  t.like(await next(), { kind: 'ContentRefused', reason: 'MUT_NO_SPACE' });
  t.is(wanted.length, 1);
});

test('bytes that are not what they should be are not kept', async (t) => {
  const { fetcher, next } = await makeRig(t, () => Promise.reject(new Error('not asked')));
  fetcher.ask([content]);
  fetcher.take({ content, source: { kind: 'inline', bytes: Buffer.from('another') } });
  t.like(await next(), { kind: 'ContentRefused' });
});

test('a transfer that breaks goes on where it broke, as often as it takes, as long as each brings something', async (t) => {
  const brought: string[] = [];
  const { fetcher, offsets, next } = await makeRig(t, async (cache, offset) => {
    async function* oneByte() {
      brought.push(bytes.toString('utf8', offset, offset + 1));
      yield bytes.subarray(offset, offset + 1);
      await Promise.resolve();
      if (offset + 1 < bytes.length) throw new MutiraoError('MUT_TRANSFER_FAILED', 'broken');
    }
    await cache.store.putRest(oneByte(), content, offset);
  });
  fetcher.ask([content]);
  t.is((await next()).kind, 'ContentArrived');
  t.deepEqual(offsets, [0, 1, 2, 3, 4, 5, 6]);
  t.is(brought.join(''), 'content');
});

test('what a broken transfer brought is forgotten with those who needed it', async (t) => {
  const { promise: broken, resolve: fail } = Promise.withResolvers<undefined>();
  let parts = NaN;
  const { fetcher, wanted } = await makeRig(t, async (cache) => {
    async function* half() {
      yield bytes.subarray(0, 3);
      fetcher.release([content.sha256]);
      await Promise.resolve();
      throw new MutiraoError('MUT_TRANSFER_FAILED', 'broken');
    }
    await cache.store.putRest(half(), content, 0).catch((error: unknown) => {
      parts = cache.store.partSize(content.sha256);
      setImmediate(() => {
        fail(undefined);
      });
      throw error;
    });
  });
  fetcher.ask([content]);
  await broken;
  t.is(parts, 3);
  t.is(wanted.length, 1);
});

test('of two agents of a host one pulls what both want, and when it breaks down the other one does', async (t) => {
  const large = Buffer.alloc(100_000, 'content');
  const spec: Content = { sha256: createHash('sha256').update(large).digest('hex'), size: large.length };
  const folder = path.join(temporaryFolder(t), 'shared');
  const pulls: string[] = [];
  let isBroken = true;
  const makeAgent = async (
    name: string,
  ): Promise<{ fetcher: ContentFetcher; arrived: Promise<AgentInput>; cache: ContentCache }> => {
    const { promise: arrived, resolve } = Promise.withResolvers<AgentInput>();
    const cache = await ContentCache.open(path.join(temporaryFolder(t), name), 1_000_000);
    const fetcher = new ContentFetcher({
      cache,
      deliver: resolve,
      decline: () => undefined,
      isProvenPath: () => false,
      host: new HostContents({
        folder,
        provider: 'p',
        clock: systemClock,
        pause: () =>
          new Promise((turn) => {
            setImmediate(turn);
          }),
      }),
      want: (contents) => {
        for (const one of contents)
          queueMicrotask(() => {
            fetcher.take({ content: one, source: { kind: 'transfer', transferId: name, offset: 0 } });
          });
      },
      pull: async () => {
        pulls.push(name);
        if (isBroken) {
          isBroken = false;
          throw new MutiraoError('MUT_UNREACHABLE', 'broken');
        }
        await cache.store.putStream([large], { content: spec });
      },
    });
    return { fetcher, arrived, cache };
  };
  const [one, other] = [await makeAgent('one'), await makeAgent('other')];
  one.fetcher.ask([spec]);
  other.fetcher.ask([spec]);
  t.deepEqual(
    (await Promise.all([one.arrived, other.arrived])).map(({ kind }) => kind),
    ['ContentArrived', 'ContentArrived'],
  );
  t.is(pulls.length, 2);
  t.is(statSync(one.cache.store.path(spec.sha256)).ino, statSync(other.cache.store.path(spec.sha256)).ino);
});

test('a path that comes without proof is not opened: the content is wanted over the wire, a few times', async (t) => {
  const { fetcher, wanted, next, file, content } = await makeSharedRig(t);
  fetcher.ask([content]);
  fetcher.take({ content, source: { kind: 'shared', path: file, isLinkable: true, proof: 'of another' } });
  t.deepEqual(wanted, [content, { ...content, overWire: true }]);
  fetcher.take({ content, source: { kind: 'shared', path: file, isLinkable: true, proof: 'proven' } });
  t.like(await next(), { kind: 'ContentArrived', contentKey: content.sha256 });
  fetcher.release([content.sha256]);
  const other = { ...content, sha256: 'a'.repeat(64) };
  fetcher.ask([other]);
  for (let turn = 0; turn < 4; turn += 1)
    fetcher.take({ content: other, source: { kind: 'shared', path: file, isLinkable: true, proof: 'of another' } });
  t.like(await next(), { kind: 'ContentRefused', contentKey: other.sha256, reason: 'MUT_STAGING_FAILED' });
});

async function makeSharedRig(t: ExecutionContext): Promise<{
  fetcher: ContentFetcher;
  wanted: WantedContent[];
  next: () => Promise<AgentInput>;
  file: string;
  content: Content;
}> {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'shared');
  writeFileSync(file, 'content');
  const inputs: AgentInput[] = [];
  const wanted: WantedContent[] = [];
  const fetcher = new ContentFetcher({
    cache: await ContentCache.open(path.join(folder, 'contents'), 1000),
    want: (contents) => {
      wanted.push(...contents);
    },
    decline: () => undefined,
    pull: () => Promise.reject(new Error('nothing is pulled')),
    isProvenPath: (_file, proof) => proof === 'proven',
    deliver: (input) => {
      inputs.push(input);
    },
  });
  const next = async (): Promise<AgentInput> => {
    await until(() => inputs.length > 0, 'an input is delivered');
    return inputs.shift() as AgentInput;
  };
  return {
    fetcher,
    wanted,
    next,
    file,
    content: { sha256: createHash('sha256').update('content').digest('hex'), size: 7 },
  };
}
