import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { bucLogs } from '@mutirao/sim/buc2020';
import { runCommandLine, temporaryFolder } from '@mutirao/testkit';

const fixture = readFileSync(new URL('../../../../core/test/fixtures/backfilling-40.swf', import.meta.url), 'utf8');
const words = ['sim', 'study', 'buc2020', '--data', 'data', '--out', 'out'];

/** A folder with small logs under the names of the real ones; the first only, where `isWhole` is false. */
function writeData(folder: string, isWhole: boolean): void {
  for (const sub of ['swf', 'grid']) mkdirSync(join(folder, 'data', sub), { recursive: true });
  for (const { file } of isWhole ? bucLogs : bucLogs.slice(0, 1))
    writeFileSync(join(folder, 'data', file), gzipSync(fixture));
}

test('the study of the queue by scores writes its page, a figure of each kind for each log and load, and a line for each user of each run', async (t) => {
  const directory = temporaryFolder(t);
  writeData(directory, true);
  const { status, out, err } = await runCommandLine([...words, '--quick', '--json'], { directory });
  t.is(status, 0, err);
  t.like(JSON.parse(out), { study: 'buc2020', quick: true, part_count: 12, run_count: 12 * 3 * 3 });
  t.is(readdirSync(join(directory, 'out', 'buc2020')).length, 8);
  t.regex(readFileSync(join(directory, 'out', 'buc2020.md'), 'utf8'), /## Compared with the seed/);
  t.is(
    readFileSync(join(directory, 'out', 'buc2020-runs.csv'), 'utf8')
      .trimEnd()
      .split('\n').length,
    1 + 108 * 7,
  );
});

test('a log that is missing is named before anything is run, and options of another study are refused', async (t) => {
  const directory = temporaryFolder(t);
  t.regex(
    (await runCommandLine(['sim', 'study', 'buc2020', '--data', '', '--out', 'out'], { directory })).err,
    /MUT_DATA_MISSING .*SDSC-SP2-1998-4\.2-cln, DAS2-fs1-2003-1/,
  );
  writeData(directory, false);
  const missing = await runCommandLine(words, { directory });
  t.is(missing.status, 3);
  t.regex(missing.err, /MUT_DATA_MISSING .*data lacks logs that the study needs: grid\/DAS2-fs1-2003-1\.swf\.gz\n/);
  writeData(directory, true);
  const foreign = await runCommandLine([...words, '--workers', '2'], { directory });
  t.is(foreign.status, 2);
  t.regex(foreign.err, /--workers is for the study costa2005; buc2020 runs in one thread/);
  t.false(existsSync(join(directory, 'out')));
});
