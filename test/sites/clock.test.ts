// Somebody sets the clock of a host on which a whole grid runs: libfaketime has all its processes see another wall
// clock, while the monotonic clock goes on.
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { until } from '@mutirao/testkit';

const bin = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));
const [library = ''] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');
const folder = mkdtempSync(join(tmpdir(), 'mutirao-clock-'));
const offsetFile = join(folder, 'offset');
const hour = 3_600_000;

let offset = 0;

/** Sets the clock of the host, hours off the true time. */
function setClock(hours: number): void {
  offset = hours * hour;
  writeFileSync(offsetFile, `${hours < 0 ? '-' : '+'}${Math.abs(hours)}h\n`);
}

function now(): number {
  return Date.now() + offset;
}

function mutirao(
  ...args: readonly string[]
): Promise<{ readonly status: number; readonly out: string; readonly err: string }> {
  const env = {
    ...process.env,
    MUTIRAO_HOME: join(folder, 'home'),
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: offsetFile,
    FAKETIME_NO_CACHE: '1',
    DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_RESET: '1',
  };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [bin, ...args], { cwd: folder, env }, (_error, out, err) => {
      resolve({ status: child.exitCode ?? -1, out, err });
    });
  });
}

async function json<T>(...args: readonly string[]): Promise<T> {
  const { out, err, status } = await mutirao(...args, '--json');
  if (status !== 0) throw new Error(`mutirao ${args.join(' ')} ended with ${status}: ${err}`);
  return JSON.parse(out) as T;
}

interface TaskJson {
  readonly status: string;
  readonly replicas: readonly { readonly started_unix_ms: number; readonly ended_unix_ms: number }[];
}

/**
 * Reserves a processor now or not at all; resolves to how far off its start is from now, once that is near. The
 * processes look at their clocks once a second.
 */
async function reserveNow(): Promise<number> {
  let isOff = Infinity;
  await until(
    async () => {
      const { status, out } = await mutirao(
        'reservation',
        'request',
        '--resource',
        'alpha',
        '--count',
        '1',
        '--for',
        '1m',
        '--immediate',
        '--json',
      );
      if (status === 0)
        isOff = Math.abs(
          (JSON.parse(out) as { reservation: { start_unix_ms: number } }).reservation.start_unix_ms - now(),
        );
      return isOff < 120_000;
    },
    'a reservation that is wanted now begins now',
    60_000,
  );
  return isOff;
}

test.before(async (t) => {
  t.true(existsSync(library), 'libfaketime is not installed');
  setClock(0);
  const { status, err } = await mutirao(
    'up',
    '--detach',
    '--clusters',
    '4',
    '--machines',
    '1',
    '--reservations',
    '--no-web',
  );
  t.is(status, 0, err);
});
test.after.always(async () => {
  await mutirao('down');
  rmSync(folder, { recursive: true, force: true });
});

test.serial(
  'a task keeps its time limit, and a reservation begins now, when the clock is set eight hours ahead',
  async (t) => {
    await mutirao('job', 'submit', '--limit-time', '120s', '--', 'sleep 12; echo done');
    await until(
      async () => (await json<TaskJson[]>('task', 'list', '1')).some(({ status }) => status === 'running'),
      'the task runs',
      60_000,
    );
    setClock(8);
    t.true((await reserveNow()) < 120_000);
    const { status, err } = await mutirao('job', 'wait', '1');
    t.is(status, 0, err);
    const runs = (await json<TaskJson[]>('task', 'list', '1')).flatMap(({ replicas }) =>
      replicas.map(({ started_unix_ms: from, ended_unix_ms: until }) => until - from),
    );
    t.is(runs.length, 1);
    t.true(
      runs.every((ran) => ran >= 11_000 && ran < hour),
      `it ran ${runs.join()} ms`,
    );
  },
);

test.serial('jobs run at once, and a reservation begins now, when the clock is set a day back', async (t) => {
  setClock(-16);
  const { status, err } = await mutirao('job', 'submit', '--array', '1-4', '--wait', '--', 'echo {}');
  t.is(status, 0, err);
  t.true((await reserveNow()) < 120_000);
  const { status: second } = await mutirao('job', 'submit', '--array', '1-4', '--wait', '--', 'echo {}');
  t.is(second, 0);
});
