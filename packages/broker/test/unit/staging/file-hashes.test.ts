import test from 'ava';

import { FileHashes } from '../../../src/staging/file-hashes.ts';

const status = { size: 3, mtimeMs: 10, ino: 7 };

function counting(): { readonly hashes: FileHashes; readonly read: string[] } {
  const read: string[] = [];
  const hashes = new FileHashes({
    entriesMax: 2,
    hashFile: (path) => {
      read.push(path);
      return path === 'gone'
        ? Promise.reject(new Error('gone'))
        : Promise.resolve({ sha256: `${path}${read.length}`, size: 3 });
    },
  });
  return { hashes, read };
}

test('a file is read once as long as size, time and inode stay', async (t) => {
  const { hashes, read } = counting();
  await hashes.getContent('a', status);
  t.deepEqual(await hashes.getContent('a', { ...status }), { sha256: 'a1', size: 3 });
  t.deepEqual(read, ['a']);
  for (const change of [{ size: 4 }, { mtimeMs: 11 }, { ino: 8 }])
    await hashes.getContent('a', { ...status, ...change });
  t.is(read.length, 4);
});

test('of two who ask at once one reads', async (t) => {
  const { hashes, read } = counting();
  await Promise.all([hashes.getContent('a', status), hashes.getContent('a', status)]);
  t.deepEqual(read, ['a']);
});

test('a file that could not be read is tried again', async (t) => {
  const { hashes, read } = counting();
  await t.throwsAsync(hashes.getContent('gone', status));
  await t.throwsAsync(hashes.getContent('gone', status));
  t.is(read.length, 2);
});

test('what was used least lately is forgotten first', async (t) => {
  const { hashes, read } = counting();
  for (const path of ['a', 'b', 'a', 'c', 'a', 'b']) await hashes.getContent(path, status);
  t.deepEqual(read, ['a', 'b', 'c', 'b']);
});
