import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { bytesOfName } from '@mutirao/api/codecs';
import type { HeldReplica } from '@mutirao/core/machines/agent';
import { temporaryFolder } from '@mutirao/testkit';
import { collectOutputs } from '../../src/collect-outputs.ts';

interface Setting {
  readonly playpen: string;
  readonly storage: string;
  collect(...outputs: readonly string[]): Promise<Record<string, string>>;
}

/** A playpen with an output folder `res`, and what comes home of outputs, by path. */
function set(t: ExecutionContext): Setting {
  const folder = temporaryFolder(t);
  const [playpen, storage] = [path.join(folder, 'playpen'), path.join(folder, 'storage')];
  mkdirSync(path.join(playpen, 'res'), { recursive: true });
  mkdirSync(storage);
  const collect = async (...outputs: readonly string[]): Promise<Record<string, string>> => {
    const replica = {
      template: {},
      start: { outputs: outputs.map((one) => ({ root: 'playpen', path: one })) },
    } as unknown as HeldReplica;
    const found = await collectOutputs(replica, { playpen, storage }, { push: (file) => Promise.resolve(file.path) });
    return Object.fromEntries(
      found.map((output) => [bytesOfName(output.path).toString('latin1'), Buffer.from(output.inline ?? []).toString()]),
    );
  };
  return { playpen, storage, collect };
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

test("a link in an output comes home as what it leads to in the task's own folders: a file, a folder, over other links", async (t) => {
  const { playpen, storage, collect } = set(t);
  write(playpen, { 'sub/s': 'one', 'sub/d/f': 'two' });
  write(storage, { kept: 'three' });
  symlinkSync('../sub/s', path.join(playpen, 'res/s'));
  symlinkSync('s', path.join(playpen, 'res/chain'));
  symlinkSync('../sub/d', path.join(playpen, 'res/d'));
  symlinkSync(path.join(playpen, 'sub/s'), path.join(playpen, 'res/absolute'));
  symlinkSync(path.join(storage, 'kept'), path.join(playpen, 'res/kept'));
  t.deepEqual(await collect('res'), { s: 'one', chain: 'one', 'd/f': 'two', absolute: 'one', kept: 'three' });
  t.deepEqual(await collect('res/s'), { '': 'one' });
});

const unbrought: readonly (readonly [string, string, string])[] = [
  ["leads out of the task's folders", 'ln -s /etc/passwd res/x', 'MUT_OUTPUT_LINK'],
  ['leads nowhere', 'ln -s gone res/x', 'MUT_OUTPUT_LINK'],
  ['leads to itself', 'ln -s y res/x; ln -s x res/y', 'MUT_OUTPUT_LINK'],
  ['leads to a folder that it is in', 'mkdir res/d; ln -s .. res/d/up', 'MUT_OUTPUT_LINK'],
  ['is a FIFO', 'mkfifo res/x', 'MUT_OUTPUT_UNREADABLE'],
  [
    'has a path that is too long',
    'cd res; n=$(printf "d%.0s" $(seq 250)); for i in $(seq 14); do mkdir $n; cd $n; done; mkdir -p $n/$n/$n',
    'MUT_OUTPUT_UNREADABLE',
  ],
];
for (const [what, script, code] of unbrought) {
  test(`an entry of an output that ${what} fails the task by name, and is never left out`, async (t) => {
    const { playpen, collect } = set(t);
    execFileSync('sh', ['-c', script], { cwd: playpen });
    await t.throwsAsync(collect('res'), { code, message: /output "res/ });
  });
}

test('folders that link to each other in every way are given up, and not walked for ever', async (t) => {
  const { playpen, collect } = set(t);
  execFileSync(
    'sh',
    [
      '-c',
      'for i in $(seq 0 40); do mkdir d$i; ln -s ../d$((i + 1)) d$i/a; ln -s ../d$((i + 1)) d$i/b; done; mkdir ' +
        'd41; ln -s ../d0 res/x',
    ],
    { cwd: playpen },
  );
  await t.throwsAsync(collect('res'), { code: 'MUT_OUTPUT_FILES_MAX' });
});

test('file names are bytes and come home as they are', async (t) => {
  const { playpen, collect } = set(t);
  execFileSync(
    'sh',
    [
      '-c',
      'd="res/$(printf "d\\351")"; mkdir "$d"; echo one > "$d/$(printf "\\350")"; echo two > "$d/$(printf ' +
        '"\\351")"; echo three > "$d/ü"',
    ],
    { cwd: playpen },
  );
  t.deepEqual(await collect('res'), { 'd\xe9/\xe8': 'one\n', 'd\xe9/\xe9': 'two\n', 'd\xe9/\xc3\xbc': 'three\n' });
});

test('an output may be the playpen itself', async (t) => {
  const { playpen, collect } = set(t);
  write(playpen, { one: '1', 'res/two': '2' });
  t.deepEqual(await collect('.'), { one: '1', 'res/two': '2' });
});

test('an output that is not there is missing', async (t) => {
  await t.throwsAsync(set(t).collect('nothing'), { code: 'MUT_OUTPUT_MISSING' });
});
