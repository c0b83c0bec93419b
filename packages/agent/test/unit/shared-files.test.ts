import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Content } from '@mutirao/core/messages';
import {
  findHomeKeys,
  freeBytes,
  getHomeKey,
  offerHomeKey,
  proveDropFolder,
  provePath,
  proveReading,
} from '@mutirao/runtime/files';
import { temporaryFolder } from '@mutirao/testkit';
import { ContentCache } from '../../src/content-cache.ts';
import { SharedFolders } from '../../src/shared-folders.ts';

const bytes = Buffer.from('the content of a file at home');
const content: Content = { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };

/** A cache and a file that somebody else has just written. */
async function prepare(t: ExecutionContext): Promise<{ cache: ContentCache; file: string; folder: string }> {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'home.bin');
  writeFileSync(file, bytes);
  return { cache: await ContentCache.open(path.join(folder, 'contents'), 1000), file, folder };
}

test('a file that may be linked is shared, and outlives its first name', async (t) => {
  const { cache, file, folder } = await prepare(t);
  await cache.takeFile(content, { path: file, isLinkable: true });
  t.is(statSync(cache.store.path(content.sha256)).ino, statSync(file).ino);
  t.true(cache.pin(content.sha256));
  await cache.copyTo(content, path.join(folder, 'playpen', 'in'), 0o644);
  const copy = path.join(folder, 'playpen', 'in');
  t.deepEqual(readFileSync(copy), bytes);
  t.not(statSync(copy).ino, statSync(file).ino);
});

test("a file of somebody else's is copied for a task, which may write to its copy", async (t) => {
  const { cache, file, folder } = await prepare(t);
  await cache.takeFile(content, { path: file, isLinkable: false });
  t.true(cache.pin(content.sha256));
  const copy = path.join(folder, 'playpen', 'deep', 'in');
  await cache.copyTo(content, copy, 0o600);
  writeFileSync(copy, 'other');
  t.deepEqual(readFileSync(file), bytes);
  const named = path.join(folder, 'storage', 'named');
  await cache.keepCopy(content, named, 0o644);
  t.not(statSync(named).ino, statSync(file).ino);
  t.deepEqual(readFileSync(named), bytes);
});

test('a file that is not what it should be, or not there, is refused', async (t) => {
  const { cache, file, folder } = await prepare(t);
  writeFileSync(file, Buffer.alloc(bytes.length));
  for (const isLinkable of [true, false])
    await t.throwsAsync(cache.takeFile(content, { path: file, isLinkable }), { code: 'MUT_CONTENT_MISMATCH' });
  await t.throwsAsync(cache.takeFile(content, { path: path.join(folder, 'none'), isLinkable: false }), {
    code: 'MUT_FILE_NOT_FOUND',
  });
  await t.throwsAsync(cache.takeFile(content, { path: folder, isLinkable: false }), { code: 'MUT_FILE_NOT_FOUND' });
  t.false(cache.pin(content.sha256));
});

test('a file that was written a moment ago is copied, since it may change again without its status showing it', async (t) => {
  const { cache, file, folder } = await prepare(t);
  await cache.takeFile(content, { path: file, isLinkable: false });
  writeFileSync(file, 'changed by its owner');
  await cache.copyTo(content, path.join(folder, 'in'), 0o644);
  t.deepEqual(readFileSync(path.join(folder, 'in')), bytes);
});

test('an agent that finds the key of a folder leaves outputs there, for a broker that proves to have it, and they no longer change with the file', async (t) => {
  const home = temporaryFolder(t);
  const drops = path.join(home, 'drops');
  mkdirSync(drops);
  const key = offerHomeKey(home, 'broker-b', drops);
  const shared = new SharedFolders(home, 'incarnation');
  const file = path.join(home, 'output');
  writeFileSync(file, bytes);
  const leftover = openSync(file, 'r+');
  t.teardown(() => {
    closeSync(leftover);
  });
  const challenge = 'of the broker';
  const proven = { challenge, proof: proveDropFolder(key, challenge, 'incarnation') };
  const dropped = await shared.drop(proven, file);
  writeSync(leftover, 'written by what the task left behind');
  t.deepEqual(dropped?.content, content);
  t.deepEqual(readFileSync(path.join(drops, dropped?.name ?? '')), bytes);
  for (const proof of [
    proveDropFolder('another key', challenge, 'incarnation'),
    proveDropFolder(key, challenge, 'another'),
    proveDropFolder(key, 'another', 'incarnation'),
    '',
  ]) {
    t.is(await shared.drop({ challenge, proof }, file), undefined);
  }
  t.is(await shared.drop(proven, path.join(home, 'none')), undefined);
});

test('an output with a hole larger than the disk is left for nobody, and takes no room', async (t) => {
  const home = temporaryFolder(t);
  const drops = path.join(home, 'drops');
  mkdirSync(drops);
  const key = offerHomeKey(home, 'broker-b', drops);
  const shared = new SharedFolders(home, 'incarnation');
  const file = path.join(home, 'output');
  writeFileSync(file, bytes);
  truncateSync(file, freeBytes(home) + 1024 ** 3);
  const challenge = 'of the broker';
  const began = performance.now();
  const proof = proveDropFolder(key, challenge, 'incarnation');
  t.is(await shared.drop({ challenge, proof }, file), undefined);
  t.deepEqual(readdirSync(drops), []);
  // To copy it until the disk is full takes minutes.
  t.true(performance.now() - began < 5000);
});

test('keys are proven for each challenge and never shown, and a path is believed of those alone who have one', (t) => {
  const home = temporaryFolder(t);
  const key = offerHomeKey(home, 'provider-p', '');
  const ofHome = getHomeKey(home);
  const shared = new SharedFolders(home, 'incarnation');
  t.deepEqual(shared.show().homeProofs, []);
  shared.meet('one');
  shared.meet('other');
  const { challenge, homeProofs } = shared.show();
  t.deepEqual(
    homeProofs,
    ['one', 'other'].flatMap((of) => [ofHome, key].map((one) => proveReading(one, of, challenge))),
  );
  t.false(JSON.stringify(shared.show()).includes(key) || JSON.stringify(shared.show()).includes(ofHome));
  const file = { content, path: '/home/ana/data', isLinkable: false };
  const proof = provePath(key, challenge, file);
  t.true(shared.isProven(file, proof));
  for (const changed of [
    { ...file, path: '/home/ana/.ssh/id' },
    { ...file, isLinkable: true },
    { ...file, content: { ...content, size: 1 } },
  ])
    t.false(shared.isProven(changed, proof));
  t.false(shared.isProven(file, provePath(key, 'another', file)));
  t.false(shared.isProven(file, provePath('another key', challenge, file)));
});

test('a key file that others may read, a copy of one, or a link to one, does not count as a key', (t) => {
  const home = temporaryFolder(t);
  const key = offerHomeKey(home, 'provider-p', '');
  t.is(offerHomeKey(home, 'provider-p', ''), key);
  const file = path.join(home, 'shared', 'provider-p.json');
  writeFileSync(path.join(home, 'shared', 'copied.json'), readFileSync(file), { mode: 0o600 });
  symlinkSync(file, path.join(home, 'shared', 'linked.json'));
  t.deepEqual(findHomeKeys(home), [{ key, folder: '' }]);
  chmodSync(file, 0o644);
  t.deepEqual(findHomeKeys(home), []);
  for (const folder of ['', path.join(home, 'none')]) {
    const shared = new SharedFolders(folder, 'incarnation');
    shared.meet('one');
    t.deepEqual(shared.show().homeProofs, []);
  }
});

test('a named pipe or a link in place of a named file is refused and does not block', async (t) => {
  const { cache, file, folder } = await prepare(t);
  const [pipe, link] = [path.join(folder, 'pipe'), path.join(folder, 'link')];
  execFileSync('mkfifo', [pipe]);
  symlinkSync(file, link);
  for (const named of [pipe, link]) {
    for (const isLinkable of [true, false])
      await t.throwsAsync(
        cache.takeFile({ ...content, size: named === pipe ? 0 : content.size }, { path: named, isLinkable }),
        { code: 'MUT_FILE_NOT_FOUND' },
      );
  }
});

test('what a reference stands for is looked at again when it is needed', async (t) => {
  const { file, folder } = await prepare(t);
  const cache = await ContentCache.open(path.join(folder, 'later'), 1000, {
    now: () => statSync(file).ctimeMs + 10_000,
  });
  await cache.takeFile(content, { path: file, isLinkable: false });
  t.true(cache.pin(content.sha256));
  t.is(cache.size, 0);
  t.false(existsSync(cache.store.path(content.sha256)));
  writeFileSync(file, Buffer.from(bytes).fill(1, 0, 3));
  utimesSync(file, 1, 1);
  await t.throwsAsync(cache.copyTo(content, path.join(folder, 'in'), 0o644), { code: 'MUT_CONTENT_NOT_FOUND' });
  t.false(cache.pin(content.sha256));
});
