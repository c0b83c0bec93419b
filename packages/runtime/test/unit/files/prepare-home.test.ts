import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkHome, prepareHome } from '@mutirao/runtime/files';
import { temporaryFolder } from '@mutirao/testkit';
import { nobody } from '@mutirao/testkit/world';
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

test('a home folder that was made too open is closed', (t) => {
  const home = join(temporaryFolder(t), 'open');
  mkdirSync(home);
  writeFileSync(join(home, 'token'), 'x');
  for (const [before, after] of [
    [0o775, 0o755],
    [0o2770, 0o2750],
    [0o777, 0o755],
    [0o500 | 0o200, 0o700],
  ] as const) {
    chmodSync(home, before);
    prepareHome(home);
    t.is(statSync(home).mode & 0o7777, after);
  }
});

test('a home folder that another account has, or may write to, is refused', (t) => {
  if (process.getuid?.() !== 0) {
    t.pass('only root has files of several accounts');
    return;
  }
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o777);
  const make = (name: string, uid: number, mode: number): string => {
    const home = join(folder, name);
    mkdirSync(home);
    chmodSync(home, mode);
    chownSync(home, uid, uid);
    return home;
  };
  const [theirs, openRoot, rooted, planted] = [
    make('theirs', 54_321, 0o777),
    make('open-root', 0, 0o1777),
    make('rooted', 0, 0o755),
    make('planted', nobody.uid, 0o777),
  ];
  writeFileSync(join(planted, 'grid.json'), '{}');
  symlinkSync(theirs, join(folder, 'link'));
  process.seteuid?.(nobody.uid);
  try {
    for (const [home, message] of [
      [theirs, /belongs to user 54321, who could change what is run from it/],
      [join(folder, 'link'), /belongs to user 54321/],
      [openRoot, /others may write to the home folder .* \(mode 1777\)/],
      [planted, /others may write to the home folder .* \(mode 777\)/],
      [rooted, /you have no permission/],
    ] as const)
      t.throws(
        () => {
          prepareHome(home);
        },
        { code: 'MUT_HOME_UNUSABLE', message },
        home,
      );
    prepareHome(join(openRoot, 'mine'));
    t.is(statSync(join(openRoot, 'mine')).mode & 0o777, 0o700);
    t.deepEqual(readdirSync(theirs), []);
  } finally {
    process.seteuid?.(0);
  }
  prepareHome(theirs.replace('theirs', 'rooted'));
  const [open, used] = [make('open', 54_321, 0o775), make('used', 54_321, 0o777)];
  prepareHome(open);
  t.is(statSync(open).mode & 0o777, 0o755, 'root closes one of another user, as in a container');
  writeFileSync(join(used, 'notes'), '');
  t.throws(
    () => {
      prepareHome(used);
    },
    { code: 'MUT_HOME_UNUSABLE', message: /run "chmod go-w / },
    'root, too, runs nothing that anybody can change',
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
