// A bag with a deadline asks for a reservation by itself: one command makes the grid, and one submits.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { until } from '@mutirao/testkit';

const bin = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mutirao-deadline-'));

interface Result {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

function mutirao(...args: readonly string[]): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [bin, ...args],
      { cwd: folder, env: { ...process.env, MUTIRAO_HOME: join(folder, 'home') } },
      (_error, out, err) => {
        resolve({ status: child.exitCode ?? -1, out, err });
      },
    );
  });
}

async function done(...args: readonly string[]): Promise<Result> {
  const result = await mutirao(...args);
  if (result.status !== 0) throw new Error(`mutirao ${args.join(' ')} ended with ${result.status}: ${result.err}`);
  return result;
}

async function statusOf(reservation: string): Promise<string> {
  return /^status +(\S+)$/m.exec((await done('reservation', 'show', reservation)).out)?.[1] ?? '';
}

function inMinutes(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString();
}

/** Number of the reservation that a submission printed. */
function reservationIn({ err }: Result): string {
  return /^Reservation (\d+) is its own: /m.exec(err)?.[1] ?? '';
}

test.serial.before(async () => {
  await done('up', '--detach', '--reservations', '--clusters', '2');
  await until(
    async () => (await mutirao('reservation', 'resource', 'list')).out.includes('alpha'),
    'the cluster makes itself known',
  );
});
test.serial.after.always(async () => {
  await mutirao('down');
  rmSync(folder, { recursive: true, force: true });
});

test.serial(
  'a bag with a deadline reserves what it needs, runs, and gives the reservation back when it has ended',
  async (t) => {
    const submitted = await done(
      'job',
      'submit',
      '--quiet',
      '--deadline',
      inMinutes(60),
      '--task-time',
      '60s',
      '--array',
      '1-4',
      '--',
      'echo {}',
    );
    const reservation = reservationIn(submitted);
    t.not(reservation, '', submitted.err);
    t.regex(submitted.err, /2 of alpha from/);
    t.regex((await done('job', 'wait', submitted.out.trim())).out, /4 finished/);
    await until(async () => (await statusOf(reservation)) === 'cancelled', 'the reservation is given back');
    t.regex((await done('reservation', 'show', reservation)).out, /job 1, which asked for it, has ended/);
    t.regex(
      (await done('job', 'submit', '--deadline', inMinutes(60), '--array', '1-2', '--', 'echo {}')).err,
      /tasks taken to last .*, as nine tenths of those of job 1 did/,
    );
  },
);

test.serial(
  "among others' reservations it gets the first place before its deadline, and a cancelled job gives that back before its window",
  async (t) => {
    const others = (
      await done('reservation', 'request', '--resource', 'alpha', '--count', '2', '--for', '20m', '--quiet')
    ).out.trim();
    const submitted = await done(
      'job',
      'submit',
      '--quiet',
      '--deadline',
      inMinutes(60),
      '--task-time',
      '60s',
      '--array',
      '1-2',
      '--',
      'sleep 600',
    );
    const reservation = reservationIn(submitted);
    t.is(await statusOf(reservation), 'confirmed');
    t.regex(
      (await done('explain', 'job', submitted.out.trim())).out,
      new RegExp(
        `also inside reservation ${reservation} of alpha: 2 processors reserved to meet the deadline, from .* from now`,
      ),
    );
    await done('job', 'cancel', submitted.out.trim());
    await until(async () => (await statusOf(reservation)) === 'cancelled', 'the reservation is given back');
    const near = await done(
      'job',
      'submit',
      '--quiet',
      '--deadline',
      inMinutes(10),
      '--task-time',
      '60s',
      '--array',
      '1-2',
      '--',
      'true',
    );
    t.is(reservationIn(near), '');
    t.regex(near.err, /^alpha: MUT_NO_ROOM [^]*ALTERNATIVE[^]*\nNothing is reserved for the deadline/);
    await done('job', 'cancel', near.out.trim());
    await done('reservation', 'cancel', others);
  },
);

test.serial('a manager that is away keeps no job back', async (t) => {
  const submitted = await done(
    'job',
    'submit',
    '--quiet',
    '--reservations',
    `unix:${join(folder, 'home')}/nobody`,
    '--deadline',
    inMinutes(60),
    '--task-time',
    '1s',
    '--',
    'true',
  );
  t.regex(submitted.err, /^Nothing is reserved for the deadline: MUT_UNREACHABLE /);
  t.regex((await done('job', 'wait', submitted.out.trim())).out, /1 finished/);
});
