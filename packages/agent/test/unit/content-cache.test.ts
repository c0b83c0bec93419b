import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type { Content } from '@mutirao/core/messages';
import { temporaryFolder } from '@mutirao/testkit';
import { ContentCache } from '../../src/content-cache.ts';
import { ContentCaches } from '../../src/content-caches.ts';

async function put(cache: ContentCache, fill: number, size = 100): Promise<string> {
  const content = await cache.store.putBytes(Buffer.alloc(size, fill));
  cache.add(content);
  return content.sha256;
}

test('the content that was used least lately goes first, a pinned one never', async (t) => {
  const cache = await ContentCache.open(temporaryFolder(t), 250);
  const one = await put(cache, 1);
  t.true(cache.pin(one));
  const two = await put(cache, 2);
  const three = await put(cache, 3);
  t.true(cache.pin(one));
  t.false(cache.pin(two));
  t.true(cache.pin(three));
  t.is(cache.size, 200);
  cache.unpin(one);
  await put(cache, 4);
  t.false(cache.pin(one));
  t.false(existsSync(cache.store.path(one)));
});

test('pinned contents may be more than the bound, until they are let go', async (t) => {
  const cache = await ContentCache.open(temporaryFolder(t), 150);
  const one = await put(cache, 1);
  cache.pin(one);
  const hash = (await cache.store.putBytes(Buffer.alloc(100, 2))).sha256;
  cache.pin(hash);
  cache.add({ sha256: hash, size: 100 });
  t.is(cache.size, 200);
  cache.unpin(one);
  t.is(cache.size, 100);
});

test('a later agent finds the contents of the former one', async (t) => {
  const folder = temporaryFolder(t);
  const one = await put(await ContentCache.open(folder, 1000), 1);
  const cache = await ContentCache.open(folder, 1000);
  t.true(cache.pin(one));
  t.is(cache.size, 100);
});

test('a content that a task wrote into is not taken for it any more', async (t) => {
  const cache = await ContentCache.open(temporaryFolder(t), 1000);
  for (const change of [
    (file: string) => {
      appendFileSync(file, 'x');
    },
    (file: string) => {
      writeFileSync(file, 'x');
    },
  ]) {
    const one = await put(cache, 1);
    const file = cache.store.path(one);
    chmodSync(file, 0o600);
    change(file);
    t.false(cache.pin(one));
    t.false(existsSync(file));
    t.is(cache.size, 0);
  }
});

test('a named file is a copy, is read-only, may be executed where one was put so, counts, and goes with its content', async (t) => {
  const folder = temporaryFolder(t);
  const cache = await ContentCache.open(path.join(folder, 'contents'), 450);
  const storage = path.join(folder, 'storage');
  mkdirSync(storage);
  const one: Content = { sha256: await put(cache, 1), size: 100 };
  await cache.keepCopy(one, path.join(storage, 'data'), 0o644);
  t.is(statSync(path.join(storage, 'data')).mode & 0o777, 0o444);
  await cache.keepCopy(one, path.join(storage, 'tool'), 0o644);
  const { ino } = statSync(path.join(storage, 'tool'));
  await cache.keepCopy(one, path.join(storage, 'tool'), 0o755);
  t.is(statSync(path.join(storage, 'tool')).mode & 0o777, 0o555);
  t.is(statSync(path.join(storage, 'tool')).ino, ino, 'one that is as it was put is not written again');
  t.not(ino, statSync(cache.store.path(one.sha256)).ino);
  t.is(cache.size, 300);
  t.deepEqual(readdirSync(storage).sort(), ['data', 'tool']);
  const given = path.join(storage, 'given away');
  await cache.keepCopy(one, given, 0o644);
  writeFileSync(`${given}.new`, 'mine');
  renameSync(`${given}.new`, given);
  await put(cache, 2);
  t.deepEqual(readdirSync(storage), ['given away']);
  t.is(readFileSync(given, 'utf8'), 'mine');
  t.is(cache.size, 100);
});

/** As a task would who hides what it does: other bytes of the same size, and the time of change as it was. */
function spoil(file: string): void {
  const { size, mode, atimeMs, mtimeMs } = statSync(file);
  chmodSync(file, 0o600);
  const open = openSync(file, 'r+');
  writeSync(open, Buffer.alloc(size, 'spoiled '));
  closeSync(open);
  utimesSync(file, atimeMs / 1000, mtimeMs / 1000);
  chmodSync(file, mode & 0o777);
}

for (const [shown, size] of [
  ['small', 100],
  ['large', 300_000],
] as const) {
  test(`a ${shown} content that a task wrote into is not given to the next task, whatever its size and time of change say`, async (t) => {
    const folder = temporaryFolder(t);
    const cache = await ContentCache.open(path.join(folder, 'contents'), 1_000_000);
    const sha256 = await put(cache, 1, size);
    const content = { sha256, size };
    utimesSync(cache.store.path(sha256), 1_000_000, 1_000_000);
    t.true(cache.pin(sha256) || (await cache.prove(sha256)));
    spoil(cache.store.path(sha256));
    for (const place of ['in', 'named']) {
      const placed =
        place === 'in'
          ? cache.copyTo(content, path.join(folder, place), 0o644)
          : cache.keepCopy(content, path.join(folder, place), 0o644);
      await t.throwsAsync(placed, { code: 'MUT_CONTENT_NOT_FOUND' });
      t.deepEqual(readdirSync(folder), ['contents']);
    }
    t.false(cache.pin(sha256) || (await cache.prove(sha256)));
    t.is(cache.size, 0);
  });

  test(`a ${shown} content that a former agent left is hashed before it is used`, async (t) => {
    const folder = temporaryFolder(t);
    const former = await ContentCache.open(folder, 1_000_000);
    const [good, bad] = [await put(former, 1, size), await put(former, 2, size)];
    spoil(former.store.path(bad));
    const cache = await ContentCache.open(folder, 1_000_000);
    t.true(cache.pin(good) || (await cache.prove(good)));
    t.false(cache.pin(bad) || (await cache.prove(bad)));
    t.is(cache.size, size);
  });
}

test('a large content that another agent has linked to is hashed again and stays', async (t) => {
  const folder = temporaryFolder(t);
  const cache = await ContentCache.open(path.join(folder, 'contents'), 1_000_000);
  const sha256 = await put(cache, 1, 300_000);
  linkSync(cache.store.path(sha256), path.join(folder, 'of another agent'));
  await cache.copyTo({ sha256, size: 300_000 }, path.join(folder, 'in'), 0o644);
  t.false(cache.pin(sha256));
  t.true(cache.isDoubtful(sha256));
  t.true(await cache.prove(sha256));
  t.true(cache.pin(sha256) || cache.isDoubtful(sha256));
});

test('what a task wrote is kept as a content, as a copy and within the bound', async (t) => {
  const folder = temporaryFolder(t);
  const cache = await ContentCache.open(path.join(folder, 'contents'), 250);
  const write = (name: string, fill: number, size = 100): { readonly file: string; readonly content: Content } => {
    const file = path.join(folder, name);
    writeFileSync(file, Buffer.alloc(size, fill));
    return { file, content: { sha256: createHash('sha256').update(Buffer.alloc(size, fill)).digest('hex'), size } };
  };
  const [first, second, large, wrong] = [
    write('first', 1),
    write('second', 2),
    write('large', 3, 300),
    write('wrong', 4),
  ];
  await cache.keepWritten(first.content, first.file);
  await cache.keepWritten(second.content, second.file);
  await cache.keepWritten(large.content, large.file);
  await t.throwsAsync(cache.keepWritten({ ...wrong.content, sha256: 'a'.repeat(64) }, wrong.file), {
    code: 'MUT_CONTENT_MISMATCH',
  });
  t.is(cache.size, 200);
  t.false(cache.pin(large.content.sha256));
  t.true(cache.pin(first.content.sha256));
  const third = write('third', 5);
  await cache.keepWritten(third.content, third.file);
  t.deepEqual(
    [first, second, third].map(({ content }) => cache.pin(content.sha256)),
    [true, false, true],
    'the one that nobody needs has made room',
  );
});

test('what a task wrote stays as it was kept, whatever still writes to the file', async (t) => {
  const folder = temporaryFolder(t);
  const cache = await ContentCache.open(path.join(folder, 'contents'), 250);
  const file = path.join(folder, 'written');
  writeFileSync(file, 'before');
  const content = { sha256: createHash('sha256').update('before').digest('hex'), size: 6 };
  await cache.keepWritten(content, file);
  writeFileSync(file, 'AFTER!');
  t.true(cache.pin(content.sha256));
  t.is(readFileSync(cache.store.path(content.sha256), 'utf8'), 'before');
});

test('the contents of users lie apart and keep within one limit, and the user with the most loses contents first', async (t) => {
  const folder = temporaryFolder(t);
  const caches = await ContentCaches.open(folder, 450);
  const [own, eva, bob] = [caches.own, caches.of('eva'), caches.of('../bob/ann')];
  t.is(caches.of('eva'), eva);
  const first = await put(own, 1);
  t.false(eva.pin(first), 'it is not hers because it is here');
  t.is(new Set([own, eva, bob].map((cache) => cache.store.path(first))).size, 3);
  t.true([own, eva, bob].every((cache) => cache.store.path(first).startsWith(`${folder}/contents`)));
  for (const fill of [2, 3, 4]) await put(eva, fill);
  await put(bob, 5);
  t.deepEqual([own.size, eva.size, bob.size], [100, 200, 100]);
  const again = await ContentCaches.open(folder, 450);
  t.deepEqual(
    [again.own.size, again.of('eva').size, again.of('../bob/ann').size],
    [100, 200, 100],
    'a later agent finds and counts them',
  );
});
