import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { requireUsableHost } from '@mutirao/runtime/files';
import { temporaryFolder } from '@mutirao/testkit';

const root = '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n';

test('a folder whose file system runs no programs is refused, also before it is made', (t) => {
  const folder = temporaryFolder(t);
  const table = `${root}30 20 0:40 / ${folder} rw,nosuid,noexec - tmpfs scratch rw\n`;
  for (const home of [folder, join(folder, 'not', 'yet')])
    t.throws(
      () => {
        requireUsableHost(home, table);
      },
      { code: 'MUT_HOME_UNUSABLE', message: /\(tmpfs at .*\) is mounted with "noexec"; expected/ },
    );
});

test('what is mounted elsewhere, around or over it decides nothing or all', (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'home'));
  symlinkSync(join(folder, 'home'), join(folder, 'link'));
  const around = `30 20 0:40 / ${folder} rw,noexec - tmpfs scratch rw\n`;
  const over = `31 30 0:41 / ${folder}/home rw - tmpfs home rw\n`;
  const beside = `32 20 0:42 / ${folder}/ho rw,noexec - tmpfs other rw\n`;
  for (const home of ['home', 'link'])
    t.notThrows(() => {
      requireUsableHost(join(folder, home), root + beside + around + over);
    });
  t.throws(
    () => {
      requireUsableHost(join(folder, 'link'), root + over + `33 31 0:43 / ${folder}/home rw,noexec - tmpfs last rw\n`);
    },
    { code: 'MUT_HOME_UNUSABLE' },
  );
  t.notThrows(() => {
    requireUsableHost(folder, '');
  });
});
