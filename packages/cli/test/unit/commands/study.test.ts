import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import {
  decodeChunk,
  decodeStarts,
  encodeChunk,
  encodeStarts,
  listChunks,
  listParts,
  listStarts,
  requestsMaxima,
  studyHeuristics,
  studyTraces,
  type AnyChunk,
  type StartsChunk,
  type StudyChunk,
} from '@mutirao/sim/costa2005';
import { encodePart, listCases, listParts as listSiteSelectionParts, mixes } from '@mutirao/sim/gonzalez2010';
import { runCommandLine, temporaryFolder } from '@mutirao/testkit';
import { runChunks } from '../../../src/simulation/study/chunk-pool.ts';
import { StudyFolder } from '../../../src/simulation/study/study-folder.ts';

const fixture = readFileSync(new URL('../../../../core/test/fixtures/backfilling-40.swf', import.meta.url), 'utf8');

/** A folder with small logs under the names of the real ones. */
function writeData(folder: string): string {
  mkdirSync(join(folder, 'data', 'swf'), { recursive: true });
  for (const { file } of studyTraces) writeFileSync(join(folder, 'data', file), gzipSync(fixture));
  return join(folder, 'data');
}

const settings = { isQuick: true, seed: '1' };
const pool = { study: 'costa2005', groupOf: ({ trace }: AnyChunk): string => trace.id } as const;
const [first] = listChunks(settings) as [StudyChunk];
const [starts] = listStarts(settings) as [StartsChunk];
const small: StudyChunk[] = studyTraces.slice(0, 3).flatMap((trace) =>
  [1, 2].map((count) => ({
    ...first,
    id: `${trace.id}-${count}`,
    trace,
    type: { ...first.type, taskCount: 10 * count },
    instantCount: 1,
  })),
);

test('worker threads run parts as one thread does', async (t) => {
  const data = writeData(temporaryFolder(t));
  const { signal } = new AbortController();
  const [one, two] = [new Map<string, string>(), new Map<string, string>()];
  const all: AnyChunk[] = [...small, starts];
  await runChunks(all, {
    ...pool,
    data,
    seed: '1',
    workerCount: 1,
    signal,
    onResult: ({ id }, text) => {
      one.set(id, text);
    },
  });
  await runChunks(all, {
    ...pool,
    data,
    seed: '1',
    workerCount: 2,
    signal,
    onResult: ({ id }, text) => {
      two.set(id, text);
    },
  });
  t.deepEqual([...one.keys()].sort(), all.map(({ id }) => id).sort());
  t.is(decodeStarts(one.get(starts.id) ?? '', starts, '1')?.requestCount, 40);
  t.deepEqual(new Map([...two].sort()), new Map([...one].sort()));
  for (const chunk of small) t.is(decodeChunk(one.get(chunk.id) ?? '', chunk, '1')?.facts.requestCount, 40);
});

test('a log that is missing ends the study with its name', async (t) => {
  const folder = temporaryFolder(t);
  const setup = {
    ...pool,
    data: folder,
    seed: '1',
    workerCount: 2,
    signal: new AbortController().signal,
    onResult: () => {
      t.fail();
    },
  };
  await t.throwsAsync(runChunks(small, setup), { code: 'MUT_FILE_NOT_FOUND', message: /there is no file swf\// });
});

test('parts that are done are found again, unless they are cut short', async (t) => {
  const folder = temporaryFolder(t);
  const data = writeData(folder);
  const study = StudyFolder.open(join(folder, 'out'), settings);
  const { signal } = new AbortController();
  await runChunks(small.slice(0, 2), {
    ...pool,
    data,
    seed: '1',
    workerCount: 1,
    signal,
    onResult: (chunk, text) => {
      study.keep(chunk, text);
    },
  });
  const again = StudyFolder.open(join(folder, 'out'), settings);
  t.deepEqual(
    small.map((chunk) => again.find(chunk) !== undefined),
    [true, true, false, false, false, false],
  );
  const path = again.getPath(small[0]!);
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, -30));
  t.is(again.find(small[0]!), undefined);
});

test('an interrupted pool stops and keeps what it has', async (t) => {
  const data = writeData(temporaryFolder(t));
  const interrupt = new AbortController();
  const done: string[] = [];
  await runChunks(small, {
    ...pool,
    data,
    seed: '1',
    workerCount: 1,
    signal: interrupt.signal,
    onResult: ({ id }) => {
      done.push(id);
      interrupt.abort();
    },
  });
  t.is(done.length, 1);
});

test('a folder of another study, or of something else, is refused', async (t) => {
  const directory = temporaryFolder(t);
  writeData(directory);
  StudyFolder.open(join(directory, 'out'), { isQuick: false, seed: '1' });
  const words = ['sim', 'study', 'costa2005', '--data', 'data', '--out'];
  const other = await runCommandLine([...words, 'out', '--quick'], { directory });
  t.is(other.status, 2);
  t.regex(other.err, /MUT_BAD_REQUEST .*out holds another study: .*"quick":false.*expected .*"quick":true/);
  t.is((await runCommandLine([...words, 'out', '--seed', '2'], { directory })).status, 2);
  const foreign = await runCommandLine([...words, 'data', '--quick'], { directory });
  t.is(foreign.status, 2);
  t.regex(foreign.err, /data holds swf and no study\.json/);
  t.deepEqual(readdirSync(join(directory, 'data')), ['swf']);
});

test('without logs the study says where they are and exits with 3', async (t) => {
  const { status, err } = await runCommandLine(['sim', 'study', 'costa2005', '--data', '', '--out', 'out'], {
    directory: temporaryFolder(t),
  });
  t.is(status, 3);
  t.regex(err, /MUT_DATA_MISSING .*SDSC-SP2-1998-4\.2-cln, .*LANL-CM5-1994-4\.1-cln/);
  t.regex(err, /Parallel Workloads Archive .*MUTIRAO_DATA/);
});

test('a folder that lacks logs ends the study before it begins, with their names', async (t) => {
  const directory = temporaryFolder(t);
  writeData(directory);
  const { status, err } = await runCommandLine(
    ['sim', 'study', 'costa2005', '--quick', '--data', 'data', '--out', 'out'],
    { directory },
  );
  t.is(status, 3);
  t.regex(err, /MUT_DATA_MISSING .*data lacks logs that the study needs: swf\/LANL-CM5-1994-4\.1-cln\.swf\.gz\n/);
  const part = await runCommandLine(
    ['sim', 'study-chunk', 'costa2005', 'lanl-starts-reinsert', '--data', 'data', '--out', 'part.jsonl'],
    { directory },
  );
  t.is(part.status, 3);
  t.regex(part.err, /MUT_DATA_MISSING .*data lacks logs that the study needs: swf\/LANL/);
});

test('an unknown study or part is refused', async (t) => {
  const directory = temporaryFolder(t);
  t.regex(
    (await runCommandLine(['sim', 'study', 'costa2006', '--data', '.', '--out', 'out'], { directory })).err,
    /the study is "costa2006"; expected one of ahead, buc2020, costa2005/,
  );
  t.regex(
    (await runCommandLine(['sim', 'study', 'costa2005', '--seed', 'a b', '--data', '.', '--out', 'out'], { directory }))
      .err,
    /--seed is "a b"/,
  );
  const part = await runCommandLine(['sim', 'study-chunk', 'costa2005', 'sp2-1', '--data', '.', '--out', 'out'], {
    directory,
  });
  t.is(part.status, 2);
  t.regex(part.err, /the part is "sp2-1"; expected one of this study, such as sp2-100x100s-1x/);
});

test('the study of workflows takes no logs and no threads, and writes nothing when asked not to', async (t) => {
  const directory = temporaryFolder(t);
  const { status, err } = await runCommandLine(['sim', 'study', 'moreira2009', '--workers', '2', '--out', 'out'], {
    directory,
  });
  t.is(status, 2);
  t.regex(err, /MUT_BAD_REQUEST .*--workers is for the study costa2005; moreira2009 runs in one thread/);
  t.deepEqual(readdirSync(directory), []);
});

test('one part can be run by itself and is taken by the study', async (t) => {
  const directory = temporaryFolder(t);
  writeData(directory);
  const { status, out } = await runCommandLine(
    ['sim', 'study-chunk', 'costa2005', first.id, '--quick', '--data', 'data', '--out', 'part.jsonl', '--json'],
    { directory },
  );
  t.is(status, 0);
  t.deepEqual(JSON.parse(out), { part: first.id, run_count: 360, file: join(directory, 'part.jsonl') });
  t.truthy(decodeChunk(readFileSync(join(directory, 'part.jsonl'), 'utf8'), first, '1'));
});

test('a study whose parts are all done is reported without running anything', async (t) => {
  const directory = temporaryFolder(t);
  const study = StudyFolder.open(join(directory, 'out'), settings);
  for (const chunk of listChunks(settings)) {
    const runs = requestsMaxima.flatMap((requestsMax) =>
      studyHeuristics.flatMap((heuristic) =>
        Array.from({ length: chunk.instantCount }, (_, run) => ({
          requestsMax,
          heuristic,
          run,
          instant: run,
          turnaround: 1000,
          waste: 5,
          taskTime: 500,
          requestCount: 1,
          endsAfterLog: false,
        })),
      ),
    );
    study.keep(chunk, encodeChunk(chunk, { seed: '1', facts: { requestCount: 9, offeredLoad: 0.5 }, runs }));
  }
  for (const chunk of listStarts(settings)) {
    study.keep(
      chunk,
      encodeStarts(chunk, {
        seed: '1',
        requestCount: 100,
        differing: { settled: 0, 'ends-first': 1, 'last-submitted-first': 2 },
      }),
    );
  }
  const { status, out, err } = await runCommandLine(
    ['sim', 'study', 'costa2005', '--quick', '--data', 'none', '--out', 'out', '--json'],
    { directory },
  );
  t.is(status, 0);
  const count = listParts(settings).length;
  t.true(err.includes(`${count} of ${count} parts are done already`));
  t.like(JSON.parse(out), {
    study: 'costa2005',
    quick: true,
    part_count: count,
    run_count: 360 * listChunks(settings).length,
    report: join(directory, 'out', 'costa2005.md'),
  });
  t.true(readFileSync(join(directory, 'out', 'costa2005.md'), 'utf8').includes('| SDSC SP2 | 1.00 +- 0.00 | 2.05 |'));
  t.is(readdirSync(join(directory, 'out', 'costa2005')).length, 10);
});

test('an exported study is a job file next to its results, and calls mutirao as the user says', async (t) => {
  const directory = temporaryFolder(t);
  const words = ['sim', 'study', 'costa2005', '--quick', '--data', 'data', '--out', 'out', '--export-jdf'];
  const { status, out } = await runCommandLine([...words, '--command', 'npx mutirao'], { directory });
  t.is(status, 0);
  t.is(out, `${join(directory, 'out', 'costa2005.jdf')}\n`);
  t.regex(
    readFileSync(join(directory, 'out', 'costa2005.jdf'), 'utf8'),
    /\nremote: npx mutirao sim study-chunk costa2005 sp2-100x100s-1x --quick --seed 1 --data "\$STORAGE" /,
  );
  await runCommandLine(words, { directory });
  t.regex(
    readFileSync(join(directory, 'out', 'costa2005.jdf'), 'utf8'),
    /\nremote: node '.*bin\/mutirao\.js' sim study-chunk /,
  );
});

test('a study of costa2005 may have fewer instants and smaller jobs, which its job file and its folder say', async (t) => {
  const directory = temporaryFolder(t);
  const words = [
    'sim',
    'study',
    'costa2005',
    '--instants',
    '20',
    '--max-tasks',
    '10000',
    '--data',
    'data',
    '--out',
    'out',
    '--export-jdf',
  ];
  t.is((await runCommandLine([...words, '--command', 'mutirao'], { directory })).status, 0);
  const text = readFileSync(join(directory, 'out', 'costa2005.jdf'), 'utf8');
  t.regex(text, /sim study-chunk costa2005 sp2-10000x100s-4x --instants 20 --max-tasks 10000 --seed 1 /u);
  t.false(text.includes('100000x'));
  t.regex(
    (await runCommandLine([...words, '--quick'], { directory })).err,
    /--quick has its own extent, and --instants is given too/u,
  );
  const getError = async (instants: string): Promise<string> =>
    (
      await runCommandLine(
        words.map((word) => (word === '20' ? instants : word)),
        { directory },
      )
    ).err;
  t.regex(await getError('19'), /--instants is "19"; expected a whole number in 20\.\./u);
  t.regex(await getError('30'), /holds another study/u);
  t.regex(
    (await runCommandLine(['sim', 'study', 'trust', '--max-tasks', '1000', '--out', 'other'], { directory })).err,
    /--max-tasks is for the study costa2005, not for trust/u,
  );
});

test('the study of site selection says how many experiments there are, and needs its logs', async (t) => {
  const directory = temporaryFolder(t);
  const words = ['sim', 'study', 'gonzalez2010', '--data', 'none', '--out', 'out'];
  for (const count of ['0', '11', 'x'])
    t.regex(
      (await runCommandLine([...words, '--experiments', count], { directory })).err,
      /--experiments is ".*"; expected a whole number in 1\.\.10/,
    );
  const { status, err } = await runCommandLine([...words, '--experiments', '1'], { directory });
  t.is(status, 3);
  t.regex(err, /MUT_DATA_MISSING .*none lacks logs that the study needs: swf\/SDSC-SP2.*grid\/LCG-2005-1\.swf\.gz/);
  t.regex(
    (await runCommandLine(['sim', 'study', 'eager', '--experiments', '1', '--out', 'other'], { directory })).err,
    /--experiments is for the study gonzalez2010, not for eager/,
  );
  const job = await runCommandLine([...words, '--export-jdf'], { directory });
  t.is(job.status, 3, 'a job whose inputs are not there could not be submitted');
  t.false(existsSync(join(directory, 'out', 'gonzalez2010.jdf')));
  const nameless = await runCommandLine(['sim', 'study', 'gonzalez2010', '--data', '', '--out', 'out'], { directory });
  t.is(nameless.status, 3);
  t.regex(
    nameless.err,
    /MUT_DATA_MISSING the study needs logs that are not part of Mutirao: SDSC-SP2-1998-4\.2-cln, CTC-SP2-1996-3\.1-cln, DAS2-fs1-2003-1, .*, LCG-2005-1\n/,
  );
  t.regex(
    (await runCommandLine([...words, '--quick', '--experiments', '1'], { directory })).err,
    /MUT_BAD_REQUEST --quick is of one experiment and --experiments is 1; expected one of both/,
  );
});

test('an unknown part of the study of site selection is refused: another experiment, load or strategy', async (t) => {
  const directory = temporaryFolder(t);
  for (const part of [
    'logs-9-1-min-st',
    'logs-0-0-min-st',
    'logs-0-0_9-min-st',
    'logs-0-0_85-min-xx',
    'serial-0-1-min-st',
    'logs-0-0_85-min-st:1.5',
    '',
  ]) {
    const { status, err } = await runCommandLine(
      ['sim', 'study-chunk', 'gonzalez2010', part, '--experiments', '2', '--data', '.', '--out', 'part'],
      { directory },
    );
    t.is(status, 2, part);
    t.true(err.includes(`the part is "${part}"; expected one of this study, such as logs-0-0_7-random`), err);
  }
  const { status, err } = await runCommandLine(
    ['sim', 'study-chunk', 'gonzalez2010', 'serial-0-0_85-min-st', '--data', '', '--out', 'part'],
    { directory },
  );
  t.is(status, 3);
  t.regex(err, /MUT_DATA_MISSING .*: SDSC-SP2-1998-4\.2-cln, CTC-SP2-1996-3\.1-cln, DAS2-fs1-2003-1, LCG-2005-1\n/);
  t.deepEqual(readdirSync(directory), []);
});

test('parts of the study of site selection are kept, gone on with, reported and exported', async (t) => {
  const directory = temporaryFolder(t);
  const words = ['sim', 'study', 'gonzalez2010', '--quick', '--data', 'none', '--out', 'out'];
  for (const file of mixes.logs.files) {
    mkdirSync(join(directory, 'logs', dirname(file)), { recursive: true });
    writeFileSync(join(directory, 'logs', file), '');
  }
  const job = await runCommandLine(
    [
      'sim',
      'study',
      'gonzalez2010',
      '--quick',
      '--data',
      'logs',
      '--out',
      'out',
      '--export-jdf',
      '--command',
      'npx mutirao',
    ],
    { directory },
  );
  t.is(job.out, `${join(directory, 'out', 'gonzalez2010.jdf')}\n`);
  t.regex(
    readFileSync(join(directory, 'out', 'gonzalez2010.jdf'), 'utf8'),
    /\nremote: npx mutirao sim study-chunk gonzalez2010 logs-0-0_85-random --quick --seed 1 --data "\$STORAGE" /,
  );
  const facts = { taskCount: 36_770, span: 1, overestimate: 1, taskShares: [1, 0, 0, 0], workShares: [1, 0, 0, 0] };
  const parts = listSiteSelectionParts({ isQuick: true, seed: '1', experiments: 10 });
  for (const each of parts) {
    const cases = listCases(each).map((one) => ({
      ...one,
      metrics: new Array<number>(14).fill(1.5),
      meanAdmissibility: 1,
      theoremRatio: 1,
    }));
    writeFileSync(join(directory, 'out', 'parts', `${each.id}.jsonl`), encodePart(each, { seed: '1', facts, cases }));
  }
  const { status, out, err } = await runCommandLine([...words, '--json'], { directory });
  t.is(status, 0);
  t.true(err.includes('14 of 14 parts are done already'));
  t.like(JSON.parse(out), {
    study: 'gonzalez2010',
    quick: true,
    part_count: 14,
    report: join(directory, 'out', 'gonzalez2010.md'),
  });
  t.deepEqual(readdirSync(join(directory, 'out', 'gonzalez2010')), ['bound.svg', 'factors.svg']);
  writeFileSync(join(directory, 'out', 'parts', `${parts[3]!.id}.jsonl`), '');
  t.is(
    (await runCommandLine(words, { directory })).status,
    3,
    'what is cut short is run again, for which the logs are wanted',
  );
});
