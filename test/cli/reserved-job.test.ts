// A bag inside a reservation, with real processes: two commands make the grid and the reservation, a third runs the bag
// in it.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { until } from '@mutirao/testkit';

const bin = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mutirao-reserved-'));

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

async function done(...args: readonly string[]): Promise<string> {
  const { status, out, err } = await mutirao(...args);
  if (status !== 0) throw new Error(`mutirao ${args.join(' ')} ended with ${status}: ${err}`);
  return out.trim();
}

interface TaskJson {
  readonly status: string;
  readonly replicas: readonly { readonly machine_id: string; readonly accepted: boolean }[];
}

async function machinesOf(job: string): Promise<string[]> {
  const tasks = JSON.parse(await done('task', 'list', job, '--json')) as TaskJson[];
  return tasks.flatMap(({ replicas }) =>
    replicas.filter(({ accepted }) => accepted).map(({ machine_id: machineId }) => machineId),
  );
}

test.serial.before(async () => {
  await done('up', '--detach', '--reservations', '--clusters', '3', '--machines', '1');
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
  'a bag waits for its reservation, runs inside it and nowhere else, and leaves the rest of the grid to others',
  async (t) => {
    const reservation = await done(
      'reservation',
      'request',
      '--resource',
      'alpha',
      '--count',
      '2',
      '--for',
      '10m',
      '--from',
      '+1h',
      '--quiet',
    );
    const job = await done('job', 'submit', '--quiet', '--reservation', reservation, '--array', '1-4', '--', 'echo {}');
    t.regex(await done('explain', 'job', job), /Waiting for reservation 1 of alpha, which begins in/);
    t.regex(await done('job', 'list'), new RegExp(`${job}  waiting for reservation 1, from \\d`));
    t.regex(await done('job', 'show', job), /^status +waiting for reservation 1, from \d/m);
    const beside = await done('job', 'submit', '--quiet', '--array', '1-3', '--wait', '--', 'echo {}');
    await done('reservation', 'renegotiate', reservation, '--from', '+1s');
    t.regex(await done('job', 'wait', job), /4 finished/);
    const inside = await machinesOf(job);
    t.true(
      inside.every((machine) => machine.startsWith('alpha/q')),
      inside.join(' '),
    );
    t.false((await machinesOf(beside)).some((machine) => inside.includes(machine)));
    const requests = JSON.parse(await done('request', 'list', '--all', '--json')) as {
      request_id: string;
      reasons: { parameters: { reservation_id?: number } }[];
    }[];
    const reserved = requests
      .filter(({ reasons }) => reasons[0]?.parameters.reservation_id === 1)
      .map(({ request_id: id }) => id);
    t.true(
      inside.every((machine) => reserved.some((id) => machine.startsWith(`alpha/${id}.`))),
      `${inside.join(' ')} of ${reserved.join(' ')}`,
    );
    await done('reservation', 'cancel', reservation);
  },
);

test.serial('when its reservation is cancelled a job says so and goes on, or waits until it is let go', async (t) => {
  const reservation = await done(
    'reservation',
    'request',
    '--resource',
    'alpha',
    '--count',
    '2',
    '--for',
    '10m',
    '--quiet',
  );
  const job = await done(
    'job',
    'submit',
    '--quiet',
    '--reservation',
    reservation,
    '--',
    'case $MUTIRAO_MACHINE in lab/*) echo beside;; *) sleep 600;; esac',
  );
  const waiting = await done(
    'job',
    'submit',
    '--quiet',
    '--reservation',
    reservation,
    '--on-reservation-end',
    'wait',
    '--',
    'sleep 600',
  );
  await until(async () => (await done('task', 'list', job)).includes('running'), 'the job runs inside');
  await done('reservation', 'cancel', reservation);
  await until(
    async () => (await done('explain', 'job', job)).includes('MUT_RESERVATION_OVER'),
    'the job explains the end of the reservation',
  );
  await until(
    async () =>
      (await done('explain', 'job', waiting)).includes('the remaining tasks wait, as requested on submission'),
    'the other waits',
  );
  t.regex(await done('job', 'show', waiting), /^status +waiting, reservation \d+ is over$/m);
  const late = await mutirao('job', 'submit', '--reservation', reservation, '--', 'true');
  t.regex(late.err, /^error: MUT_RESERVATION_OVER reservation \d+ is cancelled/);
  t.regex(await done('job', 'retry', waiting), /1 task of job \d+ will run again/);
  t.notRegex(await done('explain', 'job', waiting), /as requested on submission/);
  await done('job', 'cancel', `${job},${waiting}`);
});

test.serial(
  'a claim that was changed by a letter is refused by the cluster, and its job goes on without',
  async (t) => {
    const reservation = await done(
      'reservation',
      'request',
      '--resource',
      'alpha',
      '--count',
      '1',
      '--for',
      '10m',
      '--quiet',
    );
    const claim = /^claim +(\S+)$/m.exec(await done('reservation', 'show', reservation))?.[1] ?? '';
    const job = await done(
      'job',
      'submit',
      '--quiet',
      '--reservation',
      `${claim.slice(0, -4)}${claim.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`,
      '--',
      'true',
    );
    t.regex(await done('job', 'wait', job), /1 finished/);
    t.regex(await done('explain', 'job', job), /MUT_CLAIM_FORGED/);
    const good = await done('job', 'submit', '--quiet', '--reservation', reservation, '--', 'true');
    t.regex(await done('job', 'wait', good), /1 finished/);
    t.notRegex(await done('explain', 'job', good), /MUT_/);
  },
);
