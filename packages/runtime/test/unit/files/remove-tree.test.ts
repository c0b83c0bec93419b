// What removals of trees promise: they take all that is ours, nothing that is not, and never throw.
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import {
  describeLeft,
  inFolder,
  isRemoved,
  makeFreshFolder,
  mendFolder,
  openUpFolder,
  parseMounts,
  removeTree,
  removeTreeLater,
  removeUnderOtherName,
  type Mounts,
  type Removal,
} from '@mutirao/runtime/files';
import { temporaryFolder } from '@mutirao/testkit';

const nothingLeft: Removal = { isComplete: true, left: [], leftCount: 0 };
const forms = {
  'before it returns': (path: string, mounts?: Mounts) => Promise.resolve(removeTree(path, mounts && { mounts })),
  'while others work': (path: string, mounts?: Mounts) => removeTreeLater(path, mounts && { mounts }),
};

/** Takes a folder by that name, at any depth, for the top of another mount. */
function mountedAt(name: string): Mounts {
  return {
    idOf: (file) => (readlinkSync(`/proc/self/fd/${file}`).split('/').includes(name) ? '2' : '1'),
    describe: () => 'fuse of example:/data',
  };
}

function makeDeep(folder: string, depth: number): void {
  let file = openSync(folder, constants.O_RDONLY);
  for (let level = 0; level < depth; level++) {
    const below = `/proc/self/fd/${file}/a-folder-with-a-rather-long-name`;
    mkdirSync(below);
    const next = openSync(below, constants.O_RDONLY);
    closeSync(file);
    file = next;
  }
  writeFileSync(`/proc/self/fd/${file}/deepest`, '');
  closeSync(file);
}

for (const [form, remove] of Object.entries(forms)) {
  test(`${form}: a tree goes whole, whatever its names, and what its links lead to stays`, async (t) => {
    const folder = temporaryFolder(t);
    const [tree, other] = [join(folder, 'tree'), join(folder, 'other')];
    mkdirSync(join(tree, 'sub', 'empty'), { recursive: true });
    mkdirSync(other);
    writeFileSync(join(other, 'kept'), 'kept');
    symlinkSync(other, join(tree, 'link'));
    symlinkSync('nowhere', join(tree, 'sub', 'dangling'));
    linkSync(join(other, 'kept'), join(tree, 'shared'));
    for (const name of [
      Buffer.from([0xff, 0xfe]),
      Buffer.from('n'.repeat(255)),
      Buffer.from('-rf *\n'),
      Buffer.from('\u00e9\u4e2d'),
    ]) {
      writeFileSync(Buffer.concat([Buffer.from(`${tree}/sub/`), name]), 'x');
      mkdirSync(Buffer.concat([Buffer.from(`${tree}/`), name]));
    }
    for (let file = 0; file < 150; file++) writeFileSync(join(tree, `many-${file}`), '');
    t.deepEqual(await remove(tree), nothingLeft);
    t.deepEqual(readdirSync(folder), ['other']);
    t.is(readFileSync(join(other, 'kept'), 'utf8'), 'kept');
  });

  test(`${form}: a tree deeper than a path may be long goes whole`, async (t) => {
    const tree = join(temporaryFolder(t), 'tree');
    mkdirSync(tree);
    makeDeep(tree, 150); // 5,000 bytes of names; the kernel takes 4,096 at a time.
    t.deepEqual(await remove(tree), nothingLeft);
    t.false(existsSync(tree));
  });

  test(`${form}: what is mounted in a tree stays with all that is in it, is reported, and the rest goes`, async (t) => {
    const tree = join(temporaryFolder(t), 'tree');
    mkdirSync(join(tree, 'deep', 'mounted', 'sub'), { recursive: true });
    mkdirSync(join(tree, 'deep', 'ours'));
    for (const name of ['a', 'deep/mounted/b', 'deep/mounted/sub/c', 'deep/ours/d'])
      writeFileSync(join(tree, name), '');
    const removal = await remove(tree, mountedAt('mounted'));
    t.deepEqual(removal, {
      isComplete: false,
      leftCount: 1,
      left: [
        { path: join(tree, 'deep', 'mounted'), reason: 'fuse of example:/data is mounted there, and may not be ours' },
      ],
    });
    t.deepEqual(readdirSync(tree, { recursive: true }).sort(), [
      'deep',
      'deep/mounted',
      'deep/mounted/b',
      'deep/mounted/sub',
      'deep/mounted/sub/c',
    ]);
    t.is(
      describeLeft(removal),
      `${join(tree, 'deep', 'mounted')}: fuse of example:/data is mounted there, and may not be ours`,
    );
  });

  test(`${form}: a tree that is itself a mount point is not entered`, async (t) => {
    const tree = join(temporaryFolder(t), 'mounted');
    mkdirSync(tree);
    writeFileSync(join(tree, 'kept'), '');
    t.false((await remove(tree, mountedAt('mounted'))).isComplete);
    t.deepEqual(readdirSync(tree), ['kept']);
  });

  test(`${form}: a link, a file and nothing at all are removed as they are`, async (t) => {
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, 'aim'));
    writeFileSync(join(folder, 'aim', 'kept'), '');
    symlinkSync('aim', join(folder, 'link'));
    writeFileSync(join(folder, 'file'), '');
    for (const name of ['link', 'file', 'nothing', 'nothing/at/all', 'file/below'])
      t.deepEqual(await remove(join(folder, name)), nothingLeft, name);
    t.deepEqual(readdirSync(folder, { recursive: true }).sort(), ['aim', 'aim/kept']);
  });

  test(`${form}: a removal opens nothing for good, also where something stays`, async (t) => {
    const tree = join(temporaryFolder(t), 'tree');
    mkdirSync(tree);
    makeDeep(tree, 100);
    const opened: number[] = [];
    const mounts: Mounts = {
      idOf: (file) => {
        opened.push(file);
        return opened.length > 60 ? '2' : '1';
      },
      describe: () => 'tmpfs',
    };
    t.false((await remove(tree, mounts)).isComplete);
    // Other tests open files meanwhile, but none a folder of this tree.
    for (const file of new Set(opened)) t.false(isOpenAt(file, tree), `descriptor ${file}`);
  });

  test(`${form}: a removal that cannot be done says so, and throws nothing`, async (t) => {
    t.deepEqual(await remove('/'), {
      isComplete: false,
      left: [{ path: '/', reason: 'it is the root of all files' }],
      leftCount: 1,
    });
    t.false((await remove('/proc/self/status')).isComplete);
    const tree = join(temporaryFolder(t), 'tree');
    mkdirSync(tree);
    const broken: Mounts = {
      idOf: () => {
        throw new Error('no mount table');
      },
      describe: () => '',
    };
    t.deepEqual((await remove(tree, broken)).left, [{ path: tree, reason: 'no mount table' }]);
    t.true(existsSync(tree));
  });
}

function isOpenAt(file: number, folder: string): boolean {
  try {
    return fstatSync(file).isDirectory() && readlinkSync(`/proc/self/fd/${file}`).startsWith(folder);
  } catch {
    return false;
  }
}

test('a report names the first places and counts the rest', (t) => {
  const tree = join(temporaryFolder(t), 'tree');
  for (let number = 0; number < 30; number++) mkdirSync(join(tree, `${number}`, 'mounted'), { recursive: true });
  const removal = removeTree(tree, { mounts: mountedAt('mounted') });
  t.is(removal.leftCount, 30);
  t.is(removal.left.length, 20);
  t.regex(describeLeft(removal), /; and 27 more$/);
});

test('a fresh folder has another name where the usual one cannot be had, and loses what is left under each', (t) => {
  const path = join(temporaryFolder(t), 'begun');
  t.is(makeFreshFolder(path), path);
  writeFileSync(join(path, 'left'), '');
  mkdirSync(`${path}-2`);
  mkdirSync(`${path}-of-others`);
  t.is(makeFreshFolder(path), path);
  t.deepEqual(readdirSync(join(path, '..')).sort(), ['begun', 'begun-of-others']);
  t.deepEqual(readdirSync(path), []);
  t.is(lstatSync(path).mode & 0o777, 0o700);
});

test('a folder that is being removed has a name that nobody takes for one in use', (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'agent'));
  t.deepEqual(removeUnderOtherName(join(folder, 'agent')), nothingLeft);
  t.deepEqual(readdirSync(folder), []);
  t.true(isRemoved('.removed-agent'));
});

test('the mount table of the kernel is read with blanks in its names', (t) => {
  t.deepEqual(parseMounts('36 35 98:0 /mnt1 /a\\040b\\134 rw,noatime master:1 - ext3 /dev/a\\011b rw\n36 35'), [
    { id: '36', point: '/a b\\', type: 'ext3', source: '/dev/a\tb', options: ['rw', 'noatime'] },
  ]);
});

test('making a folder usable adds what its owner lacks, and changes no mode otherwise', async (t) => {
  const folder = temporaryFolder(t);
  const inner = join(folder, 'shared', 'inner');
  mkdirSync(join(folder, 'shared'));
  for (const mode of [0o1777, 0o755, 0o750]) {
    for (const path of [folder, join(folder, 'shared')]) chmodSync(path, mode);
    openUpFolder(join(folder, 'shared'));
    makeFreshFolder(inner);
    mendFolder(inner);
    await t.throwsAsync(inFolder(inner, () => Promise.reject(Object.assign(new Error('again'), { code: 'EACCES' }))));
    for (const path of [folder, join(folder, 'shared')]) t.is(statSync(path).mode & 0o7777, mode, path);
  }
  chmodSync(join(folder, 'shared'), 0o1055);
  openUpFolder(join(folder, 'shared'));
  t.is(statSync(join(folder, 'shared')).mode & 0o7777, 0o1755);
});
