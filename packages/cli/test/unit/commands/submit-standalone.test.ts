import { readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { aJobSummary, runCommandLine, temporaryFolder } from '@mutirao/testkit';
import { readSite } from '../../../src/commands/job/standalone-options.ts';
import { closeHereHome, listAbandoned, openHereHome } from '../../../src/grid/here-home.ts';
import { noManager } from '../../../src/grid/plan.ts';
import { claimHome } from '../../../src/grid/record.ts';
import { reportWaiting } from '../../../src/watch/report-waiting.ts';

test('without a word the machines come from Slurm, Grid Engine or OAR where their commands are, else from this host', (t) => {
  const folder = temporaryFolder(t);
  t.is(readSite({}, '/usual', folder).manager, noManager);
  writeFileSync(join(folder, 'qsub'), '', { mode: 0o755 });
  t.is(readSite({}, '/usual', folder).manager, noManager, 'PBS has such a command too');
  writeFileSync(join(folder, 'oarsub'), '', { mode: 0o755 });
  t.deepEqual(readSite({}, '/usual', folder).manager, ['--manager', 'oar']);
  writeFileSync(join(folder, 'qconf'), '', { mode: 0o755 });
  t.deepEqual(readSite({}, '/usual', folder).manager, ['--manager', 'grid-engine']);
  writeFileSync(join(folder, 'sbatch'), '', { mode: 0o755 });
  t.deepEqual(readSite({}, '/usual', `/nowhere:${folder}`).manager, ['--manager', 'slurm']);
});

test('a cluster that runs already is looked for in the usual home, and one without a name is started', (t) => {
  t.deepEqual(readSite({ cluster: 'site' }, '/usual', '').manager, [
    '--manager',
    'embedded',
    '--cluster',
    'site',
    '--cluster-home',
    '/usual',
  ]);
  t.like(readSite({ manager: 'embedded', standaloneProcessors: '3' }, '/usual', ''), {
    manager: undefined,
    processors: 3,
  });
  t.throws(() => readSite({ cluster: 'site', standaloneProcessors: '3' }, '/usual', ''), {
    message: /--standalone-processors cannot be used with a cluster/,
  });
  t.throws(() => readSite({ cluster: 'site', manager: 'slurm' }, '/usual', ''), {
    message: /--cluster needs --manager embedded/,
  });
});

test('heuristic, default task time and settings become options of the processes', (t) => {
  const { settings } = readSite(
    {
      manager: 'slurm',
      heuristic: 'mixed',
      defaultTaskTime: '90s',
      set: ['provider.slurm-partition=main', 'broker.suspect-grace=5s'],
    },
    '/usual',
    '',
  );
  t.deepEqual(settings.provider, ['--slurm-partition', 'main', '--heuristic', 'mixed', '--default-task-time', '90s']);
  t.deepEqual(settings.broker, ['--suspect-grace', '5s']);
});

test('a home that was given stays; a temporary one is made in the usual home, and goes', async (t) => {
  const context = { output: { note: t.fail }, sleep: () => Promise.resolve() };
  const usual = temporaryFolder(t);
  await closeHereHome(openHereHome(usual, '/elsewhere'), context);
  const home = openHereHome(undefined, usual);
  t.deepEqual(
    readdirSync(join(usual, 'here')).map((name) => join(usual, 'here', name)),
    [home.path],
  );
  await closeHereHome(home, context);
  t.deepEqual(readdirSync(join(usual, 'here')), []);
});

test('only temporary homes whose submission is gone from this host count as abandoned', (t) => {
  const usual = temporaryFolder(t);
  const record = { startedUnixMs: 0, broker: '', clusters: [], machines: 0, processes: {} };
  const [starting, gone, elsewhere] = [1, 2, 3].map(() => openHereHome(undefined, usual).path);
  claimHome(gone ?? '', { ...record, pid: 999_999_999, host: hostname() });
  claimHome(elsewhere ?? '', { ...record, pid: 999_999_999, host: `not-${hostname()}` });
  t.deepEqual(listAbandoned(usual), [gone]);
  t.truthy(starting);
  t.deepEqual(listAbandoned('/nowhere'), []);
});

test('the reasons why a job waits are printed once each, until a task runs', async (t) => {
  let now = 0;
  let running = 0;
  const reported: string[] = [];
  const broker = {
    getJob: () =>
      Promise.resolve({
        job: aJobSummary({ status: JobStatus.RUNNING, runningCount: running, finishedCount: 0, failedCount: 0 }),
      }),
    listProviders: () =>
      Promise.resolve({
        providers: [{ providerId: 'here', address: 'h:1', connected: true, lastError: '', machines: 0 }],
      }),
  };
  const context = {
    clock: { now: () => now },
    signal: new AbortController().signal,
    output: { note: (line: string) => reported.push(line) },
    sleep: () => {
      now += 1000;
      running = now > 8000 ? 1 : 0;
      return Promise.resolve();
    },
    provider: () =>
      Promise.resolve({
        getResource: () =>
          Promise.resolve({
            reasons: [
              now < 6000
                ? { code: 'limits-unknown', text: 'The limits are not known.' }
                : { code: 'request-slots-taken', text: `All slots are in use at ${now}.` },
              { code: 'no-pending-tasks', text: 'more' },
            ],
          }),
      }),
  };
  await reportWaiting(context as never, broker as never, {
    jobId: 1,
    unreachableMax: 1000,
    isOver: () => now > 12_000,
    onUnreachable: () => {
      t.fail('what it says is another trouble');
    },
  });
  t.deepEqual(
    reported,
    ['The limits are not known.', 'All slots are in use at 6000.'],
    'each code once, whatever its numbers',
  );
});

test('a resource manager that stays out of reach is given up with its reason, unless a task has begun, and counted again when it answered once', async (t) => {
  const trouble = 'The queue of the resource cannot be read: MUT_UNREACHABLE, no route.';
  const play = async (
    running: number,
    answersAt: number,
    isProviderThere = true,
  ): Promise<{ at: number; reason: string }> => {
    let now = 0;
    let given = { at: 0, reason: '' };
    const broker = {
      getJob: () =>
        Promise.resolve({
          job: aJobSummary({ status: JobStatus.RUNNING, runningCount: running, finishedCount: 0, failedCount: 0 }),
        }),
      listProviders: () =>
        Promise.resolve({
          providers: [{ providerId: 'here', address: 'h:1', connected: true, lastError: '', machines: 0 }],
        }),
    };
    const context = {
      clock: { now: () => now },
      signal: new AbortController().signal,
      output: { note: () => undefined },
      sleep: () => {
        now += 1000;
        return Promise.resolve();
      },
      provider: () =>
        isProviderThere
          ? Promise.resolve({
              getResource: () =>
                Promise.resolve({
                  reasons: [{ code: 'limits-unknown', text: 'another sentence first' }],
                  ...(now === answersAt ? {} : { queueTrouble: { code: 'queue-unreadable', text: trouble } }),
                }),
            })
          : Promise.reject(new Error('connection refused')),
    };
    await reportWaiting(context as never, broker as never, {
      jobId: 1,
      unreachableMax: 20_000,
      isOver: () => now > 60_000,
      onUnreachable: (reason) => {
        given = { at: now, reason };
      },
    });
    return given;
  };
  t.deepEqual(await play(0, 0), { at: 20_000, reason: trouble });
  t.deepEqual(await play(0, 10_000), { at: 30_000, reason: trouble });
  t.deepEqual(await play(1, 0), { at: 0, reason: '' });
  t.deepEqual(await play(0, 0, false), {
    at: 20_000,
    reason: 'The provider "here" does not answer: connection refused.',
  });
});

test("options for one's own grid are refused without one", async (t) => {
  for (const words of [
    ['--manager', 'none'],
    ['--set', 'broker.nats=x'],
    ['--task-output'],
    ['--standalone-patience', '1m'],
  ]) {
    const { status, err } = await runCommandLine(['job', 'submit', ...words, '--', 'true']);
    t.is(status, 2);
    t.regex(err, new RegExp(`MUT_BAD_REQUEST ${words[0] ?? ''} without --standalone`));
  }
});
