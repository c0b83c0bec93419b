// A study as a bag of tasks: what a grid brings home is what one process measures, to the last digit, and the study
// takes it as its own.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import test from 'ava';
import { Prng } from '@mutirao/core/shared';
import { parseSwf, selectRequests } from '@mutirao/formats';
import { decodePart, encodePart, listParts, measurePart, mixes, siteSelectionRunsCsv } from '@mutirao/sim/gonzalez2010';

const bin = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mutirao-study-'));
const env = { ...process.env, MUTIRAO_HOME: join(folder, 'home'), MUTIRAO_DATA: join(folder, 'logs') };

interface Result {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `mutirao` to its end. */
function mutirao(...args: readonly string[]): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [bin, ...args], { cwd: folder, env }, (_error, out, err) => {
      resolve({ status: child.exitCode ?? -1, out, err });
    });
  });
}

/** A log under the name of a real one, of short tasks; all five together are just enough for one experiment. */
function writeLog(file: string): void {
  const prng = new Prng(file);
  let submittedAt = 0;
  const lines = Array.from({ length: 7400 }, (_, index) => {
    submittedAt += prng.below(90);
    const walltime = 1 + prng.below(600);
    const [runTime, width] = [1 + prng.below(walltime), 1 + prng.below(prng.below(4) === 0 ? 32 : 4)];
    return [index + 1, submittedAt, 0, runTime, width, -1, -1, width, walltime, -1, 1, 1, 1, 1, 1, 1, -1, -1].join(' ');
  });
  mkdirSync(join(folder, 'logs', dirname(file)), { recursive: true });
  writeFileSync(join(folder, 'logs', file), gzipSync(`${lines.join('\n')}\n`));
}

const settings = { isQuick: true, seed: '7', experiments: 10 };
/** One that draws lots and one that knows the schedules; the whole study has 14. */
const parts = listParts(settings).filter(({ strategy }) => ['random', 'min-st'].includes(strategy));

test.before(async (t) => {
  mixes.logs.files.forEach(writeLog);
  const { status, err } = await mutirao('up', '--detach', '--clusters', '2', '--machines', '0');
  t.is(status, 0, err);
});
test.after.always(async () => {
  await mutirao('down');
  rmSync(folder, { recursive: true, force: true });
});

test.serial(
  'parts that a grid has run are those of one process, byte for byte, and are taken by the study',
  async (t) => {
    const study = ['sim', 'study', 'gonzalez2010', '--quick', '--seed', '7', '--out', 'study'];
    const exported = await mutirao(...study, '--export-jdf');
    t.is(exported.status, 0, exported.err);
    const [head, ...tasks] = readFileSync(join(folder, 'study', 'gonzalez2010.jdf'), 'utf8').split('\ntask:');
    t.is(tasks.length, 14);
    const chosen = tasks.filter((task) => parts.some(({ id }) => task.includes(` ${id} `)));
    writeFileSync(join(folder, 'study', 'some.jdf'), [head, ...chosen].join('\ntask:'));

    const job = await mutirao('job', 'submit', '--wait', 'study/some.jdf');
    t.regex(job.out, /^Job 1 finished after .*, tasks 2: 2 finished\.\n$/, job.err);

    const logs = mixes.logs.files.map((file) => {
      const { records } = parseSwf(gunzipSync(readFileSync(join(folder, 'logs', file))), file);
      return selectRequests(
        records.filter(({ requestedTime }) => requestedTime > 0),
        { processors: 32 },
      ).requests;
    });
    const measured = parts.map((part) => ({ part, result: measurePart(part, logs, settings.seed) }));
    const brought = parts.map((part) => {
      const text = readFileSync(join(folder, 'study', 'parts', `${part.id}.jsonl`), 'utf8');
      t.is(text, encodePart(part, measured.find((each) => each.part === part)!.result));
      return { part, result: decodePart(text, part, settings.seed)! };
    });
    t.is(siteSelectionRunsCsv(brought), siteSelectionRunsCsv(measured));

    // Without logs it cannot run the other parts, and says how many it has before it says that.
    const again = await mutirao(...study, '--data', 'none');
    t.is(again.status, 3);
    t.true(again.err.startsWith('2 of 14 parts are done already\n'), again.err);
  },
);
