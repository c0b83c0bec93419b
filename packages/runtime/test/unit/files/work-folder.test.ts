// Whether the same path on two hosts is the same folder.
import type { WorkFolder } from '@mutirao/core/messages';
import { temporaryFolder } from '@mutirao/testkit';
import test from 'ava';
import { describeWorkFolder, findDifference } from '../../../src/files/work-folder.ts';

const ours: WorkFolder = {
  path: '/study',
  inode: '7',
  device: '64768',
  fileSystem: 'ef53',
  bootId: 'one',
  isBesideHome: false,
};

test('a folder is the same one by inode and device on one host', (t) => {
  t.is(findDifference(ours, ours), undefined);
  t.regex(findDifference(ours, { ...ours, inode: '8' }) ?? '', /inode/);
  t.regex(findDifference(ours, { ...ours, device: '64769' }) ?? '', /another file system of the same host/);
  t.regex(
    findDifference({ ...ours, isBesideHome: true }, { ...ours, device: '64769', isBesideHome: true }) ?? '',
    /same host/,
    'on one host the device decides',
  );
});

test('on another host it is the same one on the file system of the home folder that both share, or on a network file system', (t) => {
  const there = { ...ours, bootId: 'two', device: '5' };
  t.regex(findDifference(ours, there) ?? '', /local disk/, 'two local disks may have the same inode number');
  t.is(findDifference({ ...ours, isBesideHome: true }, { ...there, isBesideHome: true }), undefined);
  t.regex(findDifference({ ...ours, isBesideHome: true }, there) ?? '', /local disk/);
  t.is(findDifference({ ...ours, fileSystem: '6969' }, { ...there, fileSystem: '6969' }), undefined);
  t.regex(
    findDifference({ ...ours, fileSystem: '6969' }, { ...there, fileSystem: 'bd00bd0' }) ?? '',
    /another file system/,
  );
  t.regex(
    findDifference({ ...ours, bootId: '' }, { ...ours, bootId: '' }) ?? '',
    /local disk/,
    'hosts that do not say when they started are not one',
  );
});

test('a folder is described as the system has it, and a path that is not a folder is refused', async (t) => {
  const folder = temporaryFolder(t);
  const described = await describeWorkFolder(folder, folder);
  t.true(described.isBesideHome);
  t.is(findDifference(described, await describeWorkFolder(folder, '/proc')), undefined);
  t.false((await describeWorkFolder('/proc', folder)).isBesideHome);
  await t.throwsAsync(describeWorkFolder(`${folder}/gone`, folder), {
    code: 'MUT_WORK_FOLDER',
    message: /it is not there/,
  });
  await t.throwsAsync(describeWorkFolder('/proc/version', folder), {
    code: 'MUT_WORK_FOLDER',
    message: /not a folder/,
  });
});
