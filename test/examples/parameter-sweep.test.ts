import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { parseJdf } from '@mutirao/formats';

const folder = join(import.meta.dirname, '../../examples/parameter-sweep');

interface Result {
  readonly contactRate: number;
  readonly recoveryRate: number;
  readonly peakShare: number;
  readonly peakDay: number;
  readonly everInfectedShare: number;
}
type Settings = { readonly infectedAtStart: number; readonly daysMax: number; readonly stepsPerDay: number };

const { simulate } = (await import(join(folder, 'epidemic.mjs'))) as {
  simulate(settings: Settings, rates: { contactRate: number; recoveryRate: number }): Result;
};
const { makeTable } = (await import(join(folder, 'collect.mjs'))) as { makeTable(results: readonly Result[]): string };
const settings: Settings = JSON.parse(readFileSync(join(folder, 'settings.json'), 'utf8')) as Settings;

test('an epidemic ends where the equation of its final size says', (t) => {
  const { everInfectedShare } = simulate(
    { ...settings, infectedAtStart: 1e-6, daysMax: 1000, stepsPerDay: 20 },
    { contactRate: 0.5, recoveryRate: 0.25 },
  );
  t.true(Math.abs(everInfectedShare - (1 - Math.exp(-2 * everInfectedShare))) < 1e-4);
});

test('the peak is where contacts and recoveries balance', (t) => {
  const { peakShare } = simulate({ ...settings, infectedAtStart: 1e-6 }, { contactRate: 0.5, recoveryRate: 0.1 });
  t.true(Math.abs(peakShare - (1 - (1 + Math.log(5)) / 5)) < 1e-4);
});

test('an epidemic that cannot spread is at its peak at the start', (t) => {
  const { peakDay, peakShare } = simulate(settings, { contactRate: 0.1, recoveryRate: 0.2 });
  t.deepEqual([peakDay, peakShare], [0, settings.infectedAtStart]);
});

test('the job file has twelve tasks with a stored program, a put, a get and a check', (t) => {
  const { job, warnings } = parseJdf(readFileSync(join(folder, 'sweep.jdf'), 'utf8'), {
    file: 'sweep.jdf',
    directory: '/jobs',
  });
  t.deepEqual(warnings, []);
  t.is(job.label, 'epidemic sweep');
  t.is(job.groups.length, 12);
  t.is(new Set(job.groups.map(({ command }) => command)).size, 12);
  t.like(job.groups[0], {
    command: 'node "$STORAGE/epidemic.mjs" settings.json 0.15 0.05 result.json',
    inputs: [
      { root: 'storage', path: 'epidemic.mjs' },
      { root: 'playpen', path: 'settings.json' },
    ],
    outputs: [{ path: 'result.json', localPath: '/jobs/results/$TASK.json' }],
    check: 'test -s "results/$TASK.json"',
    requirements: 'os == linux',
  });
});

test('the table is ordered by the rates', (t) => {
  const result = { contactRate: 0.5, recoveryRate: 0.1, peakShare: 0.4781, peakDay: 30.2, everInfectedShare: 0.993 };
  t.deepEqual(
    makeTable([result, { ...result, contactRate: 0.25 }])
      .split('\n')
      .slice(2),
    ['| 0.25 | 0.10 | 2.5 | 47.8 % | 30 | 99.3 % |', '| 0.50 | 0.10 | 5.0 | 47.8 % | 30 | 99.3 % |'],
  );
});

test.serial('the script runs the sweep and prints its table', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'sweep test '));
  t.teardown(() => rmSync(home, { recursive: true }));
  cpSync(folder, home, { recursive: true });
  const grid = `node ${join(import.meta.dirname, '../../packages/testkit/src/fake-grid.ts')}`;
  const environment = {
    ...process.env,
    MUTIRAO: grid,
    PATH: `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`,
  };
  const lines = execFileSync(join(home, 'collect'), { env: environment, encoding: 'utf8' }).trim().split('\n');
  t.is(lines[0], '12 tasks were run here');
  t.is(lines.length, 1 + 2 + 12);
  t.true(lines.includes('| 0.25 | 0.10 | 2.5 | 23.4 % | 64 | 89.3 % |'));
});
