import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { list } from 'tar/list';
import { readGatheredIndex, type GatheredFile } from '@mutirao/runtime/files';
import { temporaryFolder } from '@mutirao/testkit';
import { Gatherer, type GathererOptions } from '../../../src/gathering/gatherer.ts';
import type { FileToGather, ResultToGather } from '../../../src/gathering/job-volumes.ts';

interface Home {
  readonly folder: string;
  /** A result with a file for each name, whose text holds the task, the replica and the name. */
  result(taskIndex: number, replicaId: number, names: readonly string[], text?: string): ResultToGather;
}

const jobId = 12;

function prepare(t: ExecutionContext): Home {
  const home = temporaryFolder(t);
  const sources = join(home, 'arrivals');
  mkdirSync(sources);
  let count = 0;
  const fileOf = (path: string, text: string): FileToGather => {
    const source = join(sources, String(count++));
    writeFileSync(source, text);
    return {
      source,
      path,
      size: Buffer.byteLength(text),
      mode: 0o640,
      sha256: createHash('sha256').update(text).digest('hex'),
    };
  };
  return {
    folder: join(home, 'gathered'),
    result: (taskIndex, replicaId, names, text) => ({
      taskIndex,
      replicaId,
      files: names.map((name) => fileOf(name, text ?? findText(taskIndex, replicaId, name))),
    }),
  };
}

const findText = (taskIndex: number, replicaId: number, name: string): string =>
  `task ${taskIndex} r${replicaId} ${name}`;

function getGatherer(changes: Partial<GathererOptions> = {}): Gatherer {
  return new Gatherer({
    brokerId: 'b1',
    instance: { name: 'i', firstJobId: 1 },
    volumeBytesMax: 1 << 20,
    isOpen: () => true,
    ...changes,
  });
}

/** What a program for tar archives finds in a volume: names and texts, in order. */
function unpack(volume: string): [name: string, text: string][] {
  const found: [string, string][] = [];
  list({
    file: volume,
    sync: true,
    strict: true,
    onReadEntry: (entry) => {
      const chunks: Buffer[] = [];
      entry.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
      });
      entry.on('end', () => {
        found.push([entry.path, Buffer.concat(chunks).toString()]);
      });
    },
  });
  return found;
}

const volumesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.tar'))
    .sort();
const everything = (folder: string): [string, string][] =>
  volumesIn(folder).flatMap((name) => unpack(join(folder, name)));
const indexOf = (folder: string): string => join(folder, `job-${jobId}.index.jsonl`);

/** All files that the index lists, each read from its place in its volume. */
async function indexed(folder: string): Promise<{ file: GatheredFile; text: string }[]> {
  const files: GatheredFile[] = [];
  await readGatheredIndex(indexOf(folder), (result) => {
    files.push(...result);
  });
  return files.map((file) => ({
    file,
    text: readFileSync(join(folder, file.volume)).toString('utf8', file.offset, file.offset + file.size),
  }));
}

test('results are in one archive that other programs read, and the index lists the place of each file', async (t) => {
  const { folder, result } = prepare(t);
  const gatherer = getGatherer();
  const results = Array.from({ length: 40 }, (_, index) =>
    result(index, 100 + index, [`out/${index}`, `log/${index}`]),
  );
  await Promise.all(results.map((one) => gatherer.gather({ jobId, folder }, one)));
  t.deepEqual(readdirSync(folder).sort(), ['job-12.000.tar', 'job-12.index.jsonl']);
  t.is(everything(folder).length, 80);
  for (const [name, text] of everything(folder))
    t.is(text, findText(Number(name.split('/')[1]), 100 + Number(name.split('/')[1]), name));
  for (const {
    file: { taskIndex, replicaId, path },
    text,
  } of await indexed(folder))
    t.is(text, findText(taskIndex, replicaId, path));
  t.false(
    results.some(({ files }) => files.some(({ source }) => existsSync(source))),
    'what is gathered is moved',
  );
});

test('names that a plain header cannot hold, and empty and large files, come back as they were', async (t) => {
  const { folder, result } = prepare(t);
  const gatherer = getGatherer({ volumeBytesMax: 1 << 30 });
  const names = [
    'a\nb',
    'naïve ✓',
    'x'.repeat(150),
    `${'deep/'.repeat(40)}file`,
    ' leading',
    '-x',
    'back\\slash',
    '"quoted"',
  ];
  await gatherer.gather({ jobId, folder }, result(0, 1, names));
  await gatherer.gather({ jobId, folder }, result(1, 2, ['empty'], ''));
  const large = 'large '.repeat(1 << 20);
  await gatherer.gather({ jobId, folder }, result(2, 3, ['large'], large));
  t.deepEqual(
    everything(folder).slice(0, names.length),
    names.map((name) => [name, findText(0, 1, name)]),
  );
  t.deepEqual(
    (await indexed(folder)).map(({ file }) => file.path),
    [...names, 'empty', 'large'],
  );
  t.true((await indexed(folder)).at(-1)?.text === large);
});

test('a volume that is full is followed by another, and no result is spread over two', async (t) => {
  const { folder, result } = prepare(t);
  const gatherer = getGatherer({ volumeBytesMax: 4096 });
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      gatherer.gather({ jobId, folder }, result(index, index + 1, [`a${index}`, `b${index}`])),
    ),
  );
  t.true(volumesIn(folder).length >= 5);
  t.is(everything(folder).length, 40);
  const found = await indexed(folder);
  for (const {
    file: { taskIndex, replicaId, path },
    text,
  } of found)
    t.is(text, findText(taskIndex, replicaId, path));
  t.is(new Set(found.map(({ file }) => `${file.taskIndex} ${file.volume}`)).size, 20);
});

for (const [what, tear] of [
  [
    'the volume',
    (folder: string) => {
      appendFileSync(join(folder, 'job-12.000.tar'), 'half a member');
    },
  ],
  [
    'the volume, over its end,',
    (folder: string) => {
      const volume = join(folder, 'job-12.000.tar');
      truncateSync(volume, statSync(volume).size - 1024);
      appendFileSync(volume, 'x'.repeat(700));
    },
  ],
  [
    'the index, within a line',
    (folder: string) => {
      appendFileSync(indexOf(folder), '{"task_index":9,"pa');
    },
  ],
  [
    'the index, within a result',
    (folder: string) => {
      const line = readFileSync(indexOf(folder), 'utf8').trimEnd().split('\n').at(-1) ?? '';
      appendFileSync(indexOf(folder), `${line.replace(/"replica_id":\d+/, '"replica_id":77')}\n`);
    },
  ],
] as const) {
  test(`what a killed broker left at the end of ${what} is cut off, and nothing is lost or there twice`, async (t) => {
    const { folder, result } = prepare(t);
    await getGatherer().gather({ jobId, folder }, result(0, 1, ['a', 'b']));
    await getGatherer().gather({ jobId, folder }, result(1, 2, ['c', 'd']));
    const whole = { volume: readFileSync(join(folder, 'job-12.000.tar')), index: readFileSync(indexOf(folder)) };
    tear(folder);
    await getGatherer().takeUp({ jobId, folder });
    t.deepEqual(readFileSync(join(folder, 'job-12.000.tar')), whole.volume);
    t.deepEqual(readFileSync(indexOf(folder)), whole.index);
    await getGatherer().gather({ jobId, folder }, result(2, 3, ['e']));
    t.deepEqual(
      everything(folder).map(([name]) => name),
      ['a', 'b', 'c', 'd', 'e'],
    );
    t.deepEqual(
      (await indexed(folder)).map(({ file }) => file.path),
      ['a', 'b', 'c', 'd', 'e'],
    );
  });
}

test('a volume that a killed broker began and the index does not mention is removed, and its results are archived once', async (t) => {
  const { folder, result } = prepare(t);
  const options = { volumeBytesMax: 1024 };
  await getGatherer(options).gather({ jobId, folder }, result(0, 1, ['a']));
  await getGatherer(options).gather({ jobId, folder }, result(1, 2, ['b']));
  const index = readFileSync(indexOf(folder), 'utf8');
  // As it is when the broker is killed after the second volume and before the index.
  renameSync(join(folder, 'job-12.001.tar'), join(folder, 'job-12.001.tar.begun'));
  writeFileSync(
    indexOf(folder),
    index
      .split('\n')
      .slice(0, 2)
      .map((line) => `${line}\n`)
      .join(''),
  );
  await getGatherer(options).takeUp({ jobId, folder });
  t.deepEqual(readdirSync(folder).sort(), ['job-12.000.tar', 'job-12.index.jsonl']);
  await getGatherer(options).gather({ jobId, folder }, result(1, 2, ['b']));
  t.deepEqual(volumesIn(folder), ['job-12.000.tar', 'job-12.001.tar']);
  t.deepEqual(
    everything(folder).map(([name]) => name),
    ['a', 'b'],
  );
});

test('a volume that the index lists gets its name when the broker was killed before that', async (t) => {
  const { folder, result } = prepare(t);
  await getGatherer().gather({ jobId, folder }, result(0, 1, ['a']));
  renameSync(join(folder, 'job-12.000.tar'), join(folder, 'job-12.000.tar.begun'));
  await getGatherer().takeUp({ jobId, folder });
  t.deepEqual(readdirSync(folder).sort(), ['job-12.000.tar', 'job-12.index.jsonl']);
  const again = result(0, 1, ['a']);
  rmSync(again.files[0]?.source ?? '');
  await getGatherer().gather({ jobId, folder }, again);
  await getGatherer().gather({ jobId, folder }, result(1, 2, ['b']));
  t.deepEqual(
    everything(folder).map(([name]) => name),
    ['a', 'b'],
  );
});

test('what was written of a result that could not be added is cut off at once, also where it was the first of its volume', async (t) => {
  const { folder, result } = prepare(t);
  mkdirSync(folder);
  for (const [taskIndex, names] of [
    ['a', 'b'],
    ['c', 'd'],
  ].entries()) {
    const gatherer = getGatherer({ volumeBytesMax: 1024 });
    const broken = result(taskIndex, 10 + taskIndex, names);
    // A folder has a size and cannot be read.
    const files = broken.files.map((file, index) =>
      index === 0 ? file : { ...file, source: folder, size: statSync(folder).size },
    );
    await t.throwsAsync(gatherer.gather({ jobId, folder }, { ...broken, files }), { code: 'MUT_OUTPUT_FORBIDDEN' });
    t.deepEqual(
      everything(folder).map(([name]) => name),
      taskIndex === 0 ? [] : ['a', 'b'],
    );
    t.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.begun')),
      [],
    );
    await gatherer.gather({ jobId, folder }, broken);
  }
  t.deepEqual(
    everything(folder).map(([name]) => name),
    ['a', 'b', 'c', 'd'],
  );
  t.deepEqual(
    (await indexed(folder)).map(({ file }) => file.path),
    ['a', 'b', 'c', 'd'],
  );
});

test('a result whose acceptance was not journaled is known again, with its files gone, and is there once', async (t) => {
  const { folder, result } = prepare(t);
  const one = result(0, 1, ['a']);
  await getGatherer().gather({ jobId, folder }, one);
  await getGatherer().gather({ jobId, folder }, one);
  t.deepEqual(
    everything(folder).map(([name]) => name),
    ['a'],
  );
  t.is((await indexed(folder)).length, 1);
});

test('a task that ran again has its last result count, as a program for archives has it too', async (t) => {
  const { folder, result } = prepare(t);
  const gatherer = getGatherer();
  await gatherer.gather({ jobId, folder }, result(0, 1, ['a']));
  await gatherer.gather({ jobId, folder }, result(0, 2, ['a']));
  t.is(new Map(everything(folder)).get('a'), findText(0, 2, 'a'));
  t.deepEqual(
    (await indexed(folder)).map(({ file }) => file.replicaId),
    [1, 2],
  );
});

test("two jobs share a folder, and another broker's job of the same number is refused", async (t) => {
  const { folder, result } = prepare(t);
  const gatherer = getGatherer();
  await gatherer.gather({ jobId, folder }, result(0, 1, ['a']));
  await gatherer.gather({ jobId: 13, folder }, result(0, 2, ['b']));
  t.deepEqual(volumesIn(folder), ['job-12.000.tar', 'job-13.000.tar']);
  const error = await t.throwsAsync(getGatherer({ brokerId: 'b2' }).gather({ jobId, folder }, result(0, 1, ['a'])), {
    code: 'MUT_OUTPUT_FORBIDDEN',
  });
  t.regex(
    error.message,
    /job-12\.index\.jsonl is of job 12 of another broker, or of one whose journal is gone; expected another folder/,
  );
  t.is(everything(folder).length, 2);
});

test('volumes that were moved away stay so, and none that is there is written over', async (t) => {
  const { folder, result } = prepare(t);
  await getGatherer().gather({ jobId, folder }, result(0, 1, ['a']));
  renameSync(join(folder, 'job-12.000.tar'), join(folder, 'kept.tar'));
  writeFileSync(join(folder, 'job-12.004.tar'), 'of the user');
  await getGatherer().gather({ jobId, folder }, result(1, 2, ['b']));
  t.deepEqual(readdirSync(folder).sort(), ['job-12.004.tar', 'job-12.005.tar', 'job-12.index.jsonl', 'kept.tar']);
  t.is(readFileSync(join(folder, 'job-12.004.tar'), 'utf8'), 'of the user');
  rmSync(indexOf(folder));
  await getGatherer().gather({ jobId, folder }, result(2, 3, ['c']));
  t.true(existsSync(join(folder, 'job-12.006.tar')), 'without its index no volume is gone on with');
});

test('a result with a file that is not there is refused alone', async (t) => {
  const { folder, result } = prepare(t);
  const gatherer = getGatherer();
  const broken = result(0, 1, ['a', 'b']);
  rmSync(broken.files[1]?.source ?? '');
  const others = [result(1, 2, ['c']), result(2, 3, ['d'])];
  const [refused, ...taken] = await Promise.allSettled(
    [broken, ...others].map((one) => gatherer.gather({ jobId, folder }, one)),
  );
  t.like(refused, { status: 'rejected', reason: { code: 'MUT_CONTENT_NOT_FOUND' } });
  t.deepEqual(
    taken.map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
  );
  t.deepEqual(
    everything(folder).map(([name]) => name),
    ['c', 'd'],
  );
});

test('files of a journal that is gone are refused under the same broker and job, and those of a job that a back-up knows are gone on with', async (t) => {
  const { folder, result } = prepare(t);
  await getGatherer({ instance: { name: 'one', firstJobId: 1 } }).gather({ jobId, folder }, result(0, 1, ['a']));
  const afresh = getGatherer({ instance: { name: 'two', firstJobId: 1 } });
  const error = await t.throwsAsync(afresh.gather({ jobId, folder }, result(0, 1, ['a'], 'new')), {
    code: 'MUT_OUTPUT_FORBIDDEN',
  });
  t.regex(error.message, /job-12\.index\.jsonl is of job 12/);
  t.deepEqual(
    (await indexed(folder)).map(({ text }) => text),
    [findText(0, 1, 'a')],
  );
  await t.throwsAsync(
    getGatherer({ instance: { name: 'two', firstJobId: jobId } }).gather({ jobId, folder }, result(0, 1, ['a'], 'new')),
    { code: 'MUT_OUTPUT_FORBIDDEN' },
  );
  await getGatherer({ instance: { name: 'two', firstJobId: jobId + 1 } }).gather(
    { jobId, folder },
    result(1, 10_000_001, ['b']),
  );
  t.deepEqual(
    (await indexed(folder)).map(({ text }) => text),
    [findText(0, 1, 'a'), findText(1, 10_000_001, 'b')],
  );
});

test('a result with other bytes, files or task than the indexed one of its replica is archived in addition to it, and counts', async (t) => {
  const { folder, result } = prepare(t);
  await getGatherer().gather({ jobId, folder }, result(0, 1, ['a']));
  await getGatherer().gather({ jobId, folder }, result(0, 1, ['a']));
  t.is((await indexed(folder)).length, 1, 'the same result is gathered once');
  await getGatherer().gather({ jobId, folder }, result(0, 1, ['a'], 'other'));
  await getGatherer().gather({ jobId, folder }, result(0, 1, ['b'], 'other'));
  await getGatherer().gather({ jobId, folder }, result(2, 1, ['b'], 'other'));
  t.deepEqual(
    (await indexed(folder)).map(({ file, text }) => `${file.taskIndex} ${file.path} ${text}`),
    [`0 a ${findText(0, 1, 'a')}`, '0 a other', '0 b other', '2 b other'],
  );
});

test('where the folder cannot be written the result is refused, and taken once it can', async (t) => {
  const { folder, result } = prepare(t);
  writeFileSync(folder, 'a file');
  const gatherer = getGatherer();
  const one = result(0, 1, ['a']);
  await t.throwsAsync(gatherer.gather({ jobId, folder }, one), { code: 'MUT_OUTPUT_FORBIDDEN' });
  rmSync(folder);
  await gatherer.gather({ jobId, folder }, one);
  t.deepEqual(
    everything(folder).map(([name]) => name),
    ['a'],
  );
});

test('a damaged index is reported and left as it is', async (t) => {
  const { folder, result } = prepare(t);
  for (const taskIndex of [0, 1])
    await getGatherer().gather({ jobId, folder }, result(taskIndex, taskIndex + 1, ['a']));
  const damaged = readFileSync(indexOf(folder), 'utf8').replace('{"task_index":0', '{"task_index":oh');
  writeFileSync(indexOf(folder), damaged);
  const error = await t.throwsAsync(
    getGatherer().gather({ jobId, folder }, result(2, 3, ['b'])),
    { code: 'MUT_OUTPUT_FORBIDDEN' },
    'neither the result nor its machine is at fault',
  );
  t.regex(error.message, /index\.jsonl:2 is not a line of an index/);
  t.is(readFileSync(indexOf(folder), 'utf8'), damaged);
});
