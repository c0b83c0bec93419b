import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import test from 'ava';

import type { JobSpec, TaskGroup } from '@mutirao/core/messages';
import { temporaryFolder } from '@mutirao/testkit';

import { FileHashes } from '../../../src/staging/file-hashes.ts';
import { HomeFiles } from '../../../src/staging/home-files.ts';
import type { WrittenFile } from '../../../src/staging/task-outputs.ts';
import { Stager, type StagedBatch, type StageOrder } from '../../../src/staging/stager.ts';

const plain: TaskGroup = {
  values: { kind: 'list', values: ['red', 'blue'] },
  command: 'draw {}',
  noOp: false,
  inputs: [],
  outputs: [],
  check: '',
  requirements: '',
};

function orderOf(group: Partial<TaskGroup>): StageOrder {
  const spec: JobSpec = {
    label: '',
    groups: [{ ...plain, ...group }],
    environment: { A: 'b' },
    limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
    processors: 1,
    replicasMax: 2,
    failuresMax: 3,
    homeDirectory: '',
    deadline: undefined,
  };
  return {
    jobId: 3,
    userId: 'ana',
    spec,
    groupIndex: 0,
    groupFirst: 10,
    machineId: 'alpha/m1',
    attributes: { os: 'linux' },
    starts: [
      { replicaId: 71, taskIndex: 10 },
      { replicaId: 72, taskIndex: 11 },
    ],
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function createStager(
  read: string[] = [],
  written: readonly WrittenFile[] = [],
): { readonly stager: Stager; readonly homeFiles: HomeFiles } {
  const hashFile = (path: string): Promise<{ sha256: string; size: number }> => {
    read.push(path);
    const text = readFileSync(path, 'utf8');
    return Promise.resolve({ sha256: digest(text), size: text.length });
  };
  const homeFiles = new HomeFiles(new FileHashes({ hashFile }));
  return { stager: new Stager(homeFiles, { getFiles: () => Promise.resolve([...written]) }), homeFiles };
}

test('a batch that reads no file is staged at once, with values and output paths filled in', (t) => {
  const outputs = [
    { root: 'playpen', path: '{}/out-$TASK-$JOB.png', localPath: '', condition: '' },
    { root: 'playpen', path: 'only.exe', localPath: '', condition: 'os == windows' },
    { root: 'storage', path: '$os', localPath: '', condition: 'os == linux' },
  ] as const;
  const { stager } = createStager();
  const staged = stager.stage(orderOf({ outputs })) as StagedBatch;
  t.deepEqual(staged.unstartable, []);
  t.like(staged.batch.template, {
    jobId: 3,
    userId: 'ana',
    command: 'draw {}',
    environment: { A: 'b' },
    processors: 1,
  });
  t.deepEqual(staged.batch.replicas, [
    {
      replicaId: 71,
      taskIndex: 10,
      value: 'red',
      inputs: [],
      outputs: [
        { root: 'playpen', path: 'red/out-10-3.png' },
        { root: 'storage', path: 'linux' },
      ],
    },
    {
      replicaId: 72,
      taskIndex: 11,
      value: 'blue',
      inputs: [],
      outputs: [
        { root: 'playpen', path: 'blue/out-11-3.png' },
        { root: 'storage', path: 'linux' },
      ],
    },
  ]);
});

test('a value that leads out of the playpen costs its own replica, not the batch', (t) => {
  const { stager } = createStager();
  const values = { kind: 'list', values: ['../../etc', 'fine'] } as const;
  const staged = stager.stage(
    orderOf({ values, outputs: [{ root: 'playpen', path: '{}', localPath: '', condition: '' }] }),
  ) as StagedBatch;
  t.deepEqual(
    staged.batch.replicas.map((one) => one.replicaId),
    [72],
  );
  t.like(staged.unstartable, [{ replicaId: 71, reason: 'MUT_PATH_ESCAPES' }]);
});

test('inputs are hashed once, folders become their files, and modes are kept', async (t) => {
  const home = temporaryFolder(t);
  mkdirSync(join(home, 'data/deep'), { recursive: true });
  writeFileSync(join(home, 'data/a'), 'aa');
  writeFileSync(join(home, 'data/deep/b'), 'bb');
  symlinkSync('..', join(home, 'data/deep/round'));
  writeFileSync(join(home, 'tool'), 'tt');
  chmodSync(join(home, 'tool'), 0o755);
  writeFileSync(join(home, 'red.txt'), 'rr');
  writeFileSync(join(home, 'blue.txt'), 'bl');
  const inputs = [
    { source: { kind: 'path', path: join(home, 'data') }, root: 'playpen', path: 'in', condition: '' },
    { source: { kind: 'path', path: join(home, 'tool') }, root: 'storage', path: 'bin/', condition: 'os == linux' },
    { source: { kind: 'path', path: join(home, '{}.txt') }, root: 'playpen', path: '', condition: '' },
    { source: { kind: 'path', path: join(home, 'never') }, root: 'playpen', path: 'x', condition: 'os == windows' },
  ] as const;
  const read: string[] = [];
  const { stager, homeFiles } = createStager(read);
  const { batch, unstartable } = await stager.stage(orderOf({ inputs }));
  t.deepEqual(unstartable, []);
  t.deepEqual(
    batch.replicas[0]?.inputs.map(({ root, path, content }) => [root, path, content.sha256]),
    [
      ['playpen', 'in/a', digest('aa')],
      ['playpen', 'in/deep/b', digest('bb')],
      ['storage', 'bin/tool', digest('tt')],
      ['playpen', 'red.txt', digest('rr')],
    ],
  );
  t.is(batch.replicas[0]?.inputs[2]?.mode, 0o755);
  t.is(batch.replicas[1]?.inputs[3]?.path, 'blue.txt');
  t.is(read.length, 5, 'each file once, although both tasks read most of them');
  t.is((await homeFiles.findSource({ sha256: digest('aa'), size: 2 }))?.path, join(home, 'data/a'));
  writeFileSync(join(home, 'data/a'), 'other');
  t.is(
    await homeFiles.findSource({ sha256: digest('aa'), size: 2 }),
    undefined,
    'a file that changed holds another content',
  );
});

test('a missing input makes its replica unstartable, and a content is passed as it is', async (t) => {
  const home = temporaryFolder(t);
  writeFileSync(join(home, 'blue'), 'b');
  const content = { sha256: 'ab'.repeat(32), size: 9 };
  const inputs = [
    { source: { kind: 'path', path: join(home, '{}') }, root: 'playpen', path: 'in', condition: '' },
    { source: { kind: 'content', content }, root: 'storage', path: '/lib/x', condition: '' },
  ] as const;
  const { stager } = createStager();
  const { batch, unstartable } = await stager.stage(orderOf({ inputs }));
  t.like(unstartable, [{ replicaId: 71, reason: 'MUT_INPUT_MISSING' }]);
  t.regex(unstartable[0]?.detail ?? '', /red is not there/);
  t.deepEqual(batch.replicas[0]?.inputs[1], { root: 'storage', path: 'lib/x', content, mode: 0o644 });
  rmSync(join(home, 'blue'));
  t.is((await stager.stage(orderOf({ inputs }))).unstartable.length, 2);
});

test('an input that is not what it was at submission costs its tasks, whether it was read then or only looked at', async (t) => {
  const home = temporaryFolder(t);
  const folder = join(home, 'in');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a'), 'as submitted');
  const { stager, homeFiles } = createStager();
  for (const isRead of [true, false]) {
    writeFileSync(join(folder, 'a'), 'as submitted');
    const fingerprint = await homeFiles.fingerprintOf(folder, () => isRead);
    const order = orderOf({
      inputs: [{ source: { kind: 'path', path: folder }, root: 'playpen', path: 'in', condition: '', fingerprint }],
    });
    t.is((await stager.stage(order)).batch.replicas.length, 2);
    if (isRead) {
      // Written again with the same content it is what it was.
      utimesSync(join(folder, 'a'), 5, 5);
      t.is((await stager.stage(order)).batch.replicas.length, 2);
    }
    writeFileSync(join(folder, 'a'), 'changed');
    const changed = await stager.stage(order);
    t.is(changed.batch.replicas.length, 0);
    t.like(changed.unstartable, [
      { replicaId: 71, reason: 'MUT_INPUT_CHANGED' },
      { replicaId: 72, reason: 'MUT_INPUT_CHANGED' },
    ]);
    t.regex(
      changed.unstartable[0]?.detail ?? '',
      /in is not what it was when the job was submitted: it has 7 bytes now/,
    );
  }
});

test('what another task wrote comes under the name that its reader wants, a folder with all that is in it', async (t) => {
  const content = { sha256: digest('x'), size: 1 };
  const { stager } = createStager(
    [],
    [
      { below: '', content, mode: 0o755 },
      { below: 'sub/b', content, mode: 0o644 },
    ],
  );
  const inputs = [
    { source: { kind: 'output', taskIndex: 2, path: 'a' }, root: 'playpen', path: 'from/{}', condition: '' },
  ] as const;
  const { batch, unstartable } = await stager.stage(orderOf({ inputs }));
  t.deepEqual(unstartable, []);
  t.deepEqual(batch.replicas[0]?.inputs, [
    { root: 'playpen', path: 'from/red', content, mode: 0o755 },
    { root: 'playpen', path: 'from/red/sub/b', content, mode: 0o644 },
  ]);
});

test('a replica receives what was chosen for it, or what its task takes, or what its job says', (t) => {
  const { stager } = createStager();
  const findWidth = (order: StageOrder): number => (stager.stage(order) as StagedBatch).batch.template.processors;
  t.is(findWidth(orderOf({})), 1);
  t.is(findWidth(orderOf({ processors: 2, processorsMax: 4 })), 2);
  t.is(findWidth({ ...orderOf({ processors: 2, processorsMax: 4 }), processors: 3 }), 3);
  t.is(findWidth({ ...orderOf({ processors: 2, alternatives: [{ processors: 8 }] }), alternative: 1 }), 8);
});
