import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { renderGatheredOwner, renderGatheredResult, type GatheredFile } from '@mutirao/runtime/files';
import { gatheredShapes } from '../../../src/json/gathered-shapes.ts';
import { aJobSpec, aJobSummary, runCommandLine, temporaryFolder, type CommandResult } from '@mutirao/testkit';

interface Reported {
  readonly taskIndex: number;
  readonly replicaId: number;
  readonly path: string;
  readonly text: string;
  readonly sha256?: string;
}

interface World {
  readonly folder: string;
  run(...argv: readonly string[]): Promise<CommandResult>;
}

/** A folder with the results of job 3, the bytes of all of them one after the other in a volume. */
function world(t: ExecutionContext, results: readonly (readonly Reported[])[], spec = aJobSpec()): World {
  const folder = temporaryFolder(t);
  const gathered = join(folder, 'gathered');
  mkdirSync(gathered);
  let volume = '';
  const lines = results.map((files) =>
    renderGatheredResult(
      files.map(({ text, sha256, ...rest }): GatheredFile => {
        volume += 'head|';
        const offset = volume.length;
        volume += text;
        return {
          ...rest,
          volume: 'job-3.000.tar',
          offset,
          size: text.length,
          mode: 0o640,
          sha256: sha256 ?? createHash('sha256').update(text).digest('hex'),
        };
      }),
    ),
  );
  writeFileSync(join(gathered, 'job-3.000.tar'), volume);
  writeFileSync(
    join(gathered, 'job-3.index.jsonl'),
    [renderGatheredOwner({ jobId: 3, brokerId: 'b', instance: 'i' }), ...lines].join(''),
  );
  const job = aJobSummary({ jobId: 3, taskCount: 5 });
  const broker = {
    listJobs: () => Promise.resolve({ jobs: [job] }),
    getJob: () => Promise.resolve({ job, spec: { ...spec, gathering: { folder: gathered } } }),
  };
  return { folder, run: (...argv) => runCommandLine(argv, { broker, directory: folder }) };
}

const results = [
  [{ taskIndex: 1, replicaId: 7, path: 'out/1', text: 'former' }],
  [
    { taskIndex: 0, replicaId: 8, path: 'out/0', text: 'zero' },
    { taskIndex: 0, replicaId: 8, path: 'log\n0', text: 'log' },
  ],
  [{ taskIndex: 1, replicaId: 9, path: 'out/1', text: 'later' }],
];

test('gathered outputs are listed by task, the last of each, with their places; names keep to their line', async (t) => {
  const { run } = world(t, results);
  t.is(
    (await run('job', 'outputs', 'last')).out,
    [
      'TASK  SIZE  VOLUME         OFFSET  PATH',
      '   0   4 B  job-3.000.tar      16  out/0',
      '   0   3 B  job-3.000.tar      25  log\\n0',
      '   1   5 B  job-3.000.tar      33  out/1',
      '',
    ].join('\n'),
  );
  t.is((await run('job', 'outputs', '3', '1', '-q')).out, 'out/1\n');
  const reported = JSON.parse((await run('job', 'outputs', '3', '1', '--json')).out) as Record<string, unknown>[];
  t.deepEqual(Object.keys(reported[0] ?? {}).toSorted(), Object.keys(gatheredShapes.gathered_output).toSorted());
  t.like(reported, [{ task_index: 1, replica_id: 9, path: 'out/1', size_bytes: 5, mode: '640', extracted_path: null }]);
});

test('outputs are written below a folder, under their names and with their modes', async (t) => {
  const { folder, run } = world(t, results);
  t.is(
    (await run('job', 'outputs', '3', '--extract', 'new/here')).out,
    `3 files are below ${join(folder, 'new/here')}.\n`,
  );
  t.is(readFileSync(join(folder, 'new/here/out/1'), 'utf8'), 'later');
  t.is(readFileSync(join(folder, 'new/here/log\n0'), 'utf8'), 'log');
  t.is(statSync(join(folder, 'new/here/out/0')).mode & 0o777, 0o640);
  t.is((await run('job', 'outputs', '3', '0', '--extract', 'other')).status, 0);
  t.false(existsSync(join(folder, 'other/out/1')));
});

test('bytes that are not those that were gathered, and names that lead out, are refused', async (t) => {
  const wrong = await world(t, [[{ taskIndex: 0, replicaId: 1, path: 'a', text: 'x', sha256: 'ab'.repeat(32) }]]).run(
    'job',
    'outputs',
    '3',
    '--extract',
    'into',
  );
  t.is(wrong.status, 3);
  t.regex(wrong.err, /MUT_CONTENT_MISMATCH a in job-3\.000\.tar has hash/);
  const { folder, run } = world(t, [[{ taskIndex: 0, replicaId: 1, path: '../a', text: 'x' }]]);
  t.regex((await run('job', 'outputs', '3', '--extract', 'into')).err, /MUT_PATH_ESCAPES/);
  t.false(existsSync(join(folder, 'a')));
});

test('a job that gathers nothing, and one whose folder is gone, say so', async (t) => {
  const job = aJobSummary();
  const broker = {
    listJobs: () => Promise.resolve({ jobs: [job] }),
    getJob: () => Promise.resolve({ job, spec: aJobSpec() }),
  };
  const { status, err } = await runCommandLine(['job', 'outputs', 'last'], { broker });
  t.is(status, 2);
  t.regex(err, /MUT_BAD_REQUEST job \d+ was submitted without --archive-outputs: its outputs are separate files/);
  const gone = {
    ...broker,
    getJob: () => Promise.resolve({ job, spec: { ...aJobSpec(), gathering: { folder: '/nowhere' } } }),
  };
  t.regex(
    (await runCommandLine(['job', 'outputs', 'last'], { broker: gone })).err,
    /MUT_FILE_NOT_FOUND \/nowhere\/job-\d+\.index\.jsonl is not there/,
  );
});
