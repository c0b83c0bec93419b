import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { completeSearchPath, isOnPath } from '../../../src/processes/search-path.ts';

test('a search path gets the standard folders that it lacks, behind its own', (t) => {
  for (const [own, completed] of [
    ['/nowhere', '/nowhere:/usr/bin:/bin'],
    ['/opt/bin:/bin', '/opt/bin:/bin:/usr/bin'],
    ['/usr/local/bin:/usr/bin:/bin', '/usr/local/bin:/usr/bin:/bin'],
    ['', '/usr/bin:/bin'],
    [undefined, undefined],
  ] as const) {
    const environment: Record<string, string | undefined> = { PATH: own };
    completeSearchPath(environment);
    t.is(environment['PATH'], completed);
  }
});

test('a program is a file that may be executed, in a folder that the path names', (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'a-folder'));
  const file = join(folder, 'a-program');
  writeFileSync(file, '');
  t.false(isOnPath('a-program', folder), 'nobody may execute it');
  chmodSync(file, 0o755);
  t.true(isOnPath('a-program', `/nowhere::${folder}`));
  t.false(isOnPath('a-folder', folder));
  t.false(isOnPath(file, ''), 'an empty part is not a folder');
  t.false(isOnPath('a-program'));
});
