import { readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkHome, prepareHome } from '@mutirao/runtime/files';
import { temporaryFolder } from '@mutirao/testkit';
import test from 'ava';

test('a home folder is made with its parents, readable by its owner alone, and nothing is left of the check', (t) => {
  const home = join(temporaryFolder(t), 'a', 'b');
  t.is(checkHome(home), home, 'what does not exist can become one');
  prepareHome(home);
  t.is(statSync(home).mode & 0o777, 0o700);
  prepareHome(home);
  t.deepEqual(readdirSync(home), []);
});

test('what is not a folder, and what leads nowhere, is refused with its path and the reason', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'file'), '');
  symlinkSync('loop', join(folder, 'loop'));
  symlinkSync('nothing/here', join(folder, 'dangling'));
  for (const [name, says] of [
    ['file', /file is a file; expected a folder/],
    ['file/below', /a part of the path is not a folder/],
    ['loop', /its links lead in a circle/],
    ['dangling', /a link of that name leads nowhere/],
    ['x'.repeat(300), /the path is too long/],
  ] as const)
    t.throws(
      () => {
        prepareHome(join(folder, name));
      },
      { code: 'MUT_HOME_UNUSABLE', message: says },
      name,
    );
  t.throws(
    () => {
      prepareHome('/dev/null');
    },
    { code: 'MUT_HOME_UNUSABLE', message: /is a device/ },
  );
});

test('a file system that has no new folders is refused, and not tried for ever', (t) => {
  for (const home of ['/proc/x', '/proc/self/x/y', '/proc/1'])
    t.throws(
      () => {
        prepareHome(home);
      },
      { code: 'MUT_HOME_UNUSABLE', message: /cannot be (?:written to|used)/ },
      home,
    );
});
