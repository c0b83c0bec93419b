import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type { Content } from '@mutirao/core/messages';
import { temporaryFolder } from '@mutirao/testkit';
import { PartWriter } from '../../../src/contents/part-writer.ts';
import { SiteStore } from '../../../src/contents/site-store.ts';

const now = 1_800_000_000_000;

function openStore(folder: string, bytesMax = 1000): SiteStore {
  return new SiteStore({ folder, bytesMax, now, partAgeMax: 60_000 });
}

function getContent(bytes: Buffer): Content {
  return { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
}

/** Keeps a content as a transfer would. */
async function keep(store: SiteStore, brokerId: string, bytes: Buffer): Promise<Content> {
  const content = getContent(bytes);
  store.makeRoom(content.size);
  const writer = await PartWriter.open(store.takePart(brokerId, content), content, 0);
  writer.writeBytes(bytes);
  await writer.finish();
  await writer.close();
  await store.publish(brokerId, content);
  return content;
}

test('what one broker brought is not visible to another', async (t) => {
  const store = openStore(temporaryFolder(t));
  const content = await keep(store, 'b1', Buffer.from('of b1'));
  t.truthy(store.find('b1', content));
  t.is(store.find('b2', content), undefined);
});

test('the least recently used content goes when room is needed; one that is held or pinned does not', async (t) => {
  const store = openStore(temporaryFolder(t), 100);
  const [one, two, three] = [
    await keep(store, 'b', Buffer.alloc(30, 1)),
    await keep(store, 'b', Buffer.alloc(30, 2)),
    await keep(store, 'b', Buffer.alloc(30, 3)),
  ];
  store.find('b', one);
  const four = await keep(store, 'b', Buffer.alloc(30, 4));
  t.deepEqual(
    [one, two, three, four].map((content) => store.find('b', content) !== undefined),
    [true, false, true, true],
  );
  store.pin('b', new Set([one.sha256]));
  store.hold('b', three.sha256);
  const five = await keep(store, 'b', Buffer.alloc(35, 5));
  t.deepEqual(
    [one, three, four, five].map((content) => store.find('b', content) !== undefined),
    [true, true, false, true],
  );
  t.false(store.makeRoom(80));
  t.true(store.bytes <= 100);
});

test('a restart finds what was whole, and hashes it before it is used', async (t) => {
  const folder = temporaryFolder(t);
  const before = openStore(folder);
  const [good, bad] = [
    await keep(before, 'b', Buffer.from('as it was')),
    await keep(before, 'b', Buffer.from('cut short')),
  ];
  const badPath = before.find('b', bad) ?? '';
  // As after a fall of the host: the name is there, the bytes are not.
  chmodSync(badPath, 0o600);
  writeFileSync(badPath, Buffer.alloc(bad.size));
  const store = openStore(folder);
  t.is(store.bytes, good.size + bad.size);
  t.truthy(store.find('b', good));
  t.true(await store.prove('b', good.sha256));
  t.truthy(store.find('b', bad));
  t.false(await store.prove('b', bad.sha256));
  t.is(store.find('b', bad), undefined);
  t.false(existsSync(badPath));
});

test('a part outlives a restart, counts, and goes when it is old', async (t) => {
  const folder = temporaryFolder(t);
  const whole = Buffer.from('a content whose transfer breaks');
  const content = getContent(whole);
  const before = openStore(folder);
  const partPath = before.takePart('b', content);
  const writer = await PartWriter.open(partPath, content, 0);
  writer.writeBytes(whole.subarray(0, 10));
  await writer.close();
  utimesSync(partPath, now / 1000, now / 1000);
  const store = openStore(folder);
  t.is(store.partSize('b', content), 10);
  t.is(store.bytes, 10);
  const again = await PartWriter.open(store.takePart('b', content), content, 10);
  again.writeBytes(whole.subarray(10));
  await again.finish();
  await again.close();
  await store.publish('b', content);
  t.is(store.bytes, content.size);
  t.truthy(store.find('b', content));

  const other = { ...content, sha256: 'ab'.repeat(32) };
  const oldPath = store.takePart('b', other);
  writeFileSync(oldPath, 'old');
  utimesSync(oldPath, now / 1000 - 61, now / 1000 - 61);
  t.is(openStore(folder).partSize('b', other), 0);
  t.false(existsSync(oldPath));
});

test('a content that is not what it should be is never kept', async (t) => {
  const folder = temporaryFolder(t);
  const store = openStore(folder);
  const content = getContent(Buffer.from('right'));
  for (const bytes of ['wrong', 'too long by far', 'cut']) {
    const writer = await PartWriter.open(store.takePart('b', content), content, 0);
    writer.writeBytes(Buffer.from(bytes));
    await t.throwsAsync(writer.finish(), { code: 'MUT_CONTENT_MISMATCH' });
    await writer.close();
    store.leavePart('b', content.sha256, false);
  }
  t.is(store.bytes, 0);
  t.deepEqual(
    readdirSync(path.dirname(store.takePart('b', content))).filter((name) => !name.endsWith('.part')),
    [],
  );
});
