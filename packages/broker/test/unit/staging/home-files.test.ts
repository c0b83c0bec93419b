// Inputs that nobody should bring as they are, and what to do instead.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { FilledPath } from '@mutirao/core/bag';
import { getHomeKey } from '@mutirao/runtime/files';
import { temporaryFolder } from '@mutirao/testkit';
import { FileHashes } from '../../../src/staging/file-hashes.ts';
import { hashFile } from '../../../src/staging/hash-file.ts';
import { HomeFiles } from '../../../src/staging/home-files.ts';

/** A path that its user wrote whole. */
const named = (path: string): FilledPath => ({ path, machineFrom: undefined });

const homeFiles = new HomeFiles(new FileHashes({ hashFile }));

/** A folder of the user's with a home folder of Mutirao in it. */
function set(t: ExecutionContext): string {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, '.mutirao/broker'), { recursive: true });
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data/token'), 'a file of the user');
  writeFileSync(join(folder, '.mutirao/token'), 'secret');
  getHomeKey(join(folder, '.mutirao'));
  return folder;
}

test('a folder with a home folder of Mutirao in it is refused by the name of that, also behind a link', async (t) => {
  const folder = set(t);
  const refused = {
    code: 'MUT_INPUT_UNUSABLE',
    message: /\.mutirao is a home folder of Mutirao.*Name the files and folders/,
  };
  await t.throwsAsync(homeFiles.resolve(named(folder)), refused);
  await t.throwsAsync(
    homeFiles.fingerprintOf(folder, () => false),
    refused,
  );
  await t.throwsAsync(homeFiles.resolve(named(join(folder, '.mutirao'))), refused);
  mkdirSync(join(folder, 'study'));
  symlinkSync('../.mutirao', join(folder, 'study/link'));
  await t.throwsAsync(homeFiles.resolve(named(join(folder, 'study'))), { code: 'MUT_INPUT_UNUSABLE' });
});

test('folders that look a little like one are brought', async (t) => {
  const folder = set(t);
  mkdirSync(join(folder, 'data/shared'));
  t.deepEqual(
    (await homeFiles.resolve(named(join(folder, 'data')))).map(({ below }) => below),
    ['token'],
  );
});

test('a file that the system generates is refused with the way to bring a copy', async (t) => {
  await t.throwsAsync(homeFiles.resolve(named('/proc/cpuinfo')), {
    code: 'MUT_INPUT_UNUSABLE',
    message: /the system generates it at each read.*"cp \/proc\/cpuinfo cpuinfo" and "--put cpuinfo"/,
  });
});

test('a file that grows while it is read is refused, and not called a generated one', async (t) => {
  const file = join(temporaryFolder(t), 'log');
  writeFileSync(file, 'one');
  const growing = new HomeFiles(new FileHashes({ hashFile: async (path) => ({ ...(await hashFile(path)), size: 5 }) }));
  await t.throwsAsync(growing.resolve(named(file)), {
    code: 'MUT_INPUT_UNUSABLE',
    message: /has 5 bytes, and had 3 a moment ago: a program is writing to it/,
  });
});
