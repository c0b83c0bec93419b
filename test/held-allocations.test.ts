// A site without reservations of its own, with real processes: the provider pre-acquires allocations among the requests
// of another user.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { until } from '@mutirao/testkit';

const bin = fileURLToPath(new URL('../packages/cli/bin/mutirao.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mutirao-held-'));
const home = join(folder, 'home');
const env = { ...process.env, MUTIRAO_HOME: home };
const pids: number[] = [];

function mutirao(
  ...args: readonly string[]
): Promise<{ readonly status: number; readonly out: string; readonly err: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [bin, ...args], { cwd: folder, env }, (_error, out, err) => {
      resolve({ status: child.exitCode ?? -1, out, err });
    });
  });
}

async function done(...args: readonly string[]): Promise<string> {
  const { status, out, err } = await mutirao(...args);
  if (status !== 0) throw new Error(`mutirao ${args.join(' ')} ended with ${status}: ${err}`);
  return out.trim();
}

interface Reported {
  readonly address: string;
  readonly pid: number;
}

/** What a process has reported of itself; undefined before. */
function reportedIn(file: string): Reported | undefined {
  try {
    return JSON.parse(readFileSync(join(home, file), 'utf8')) as Reported;
  } catch {
    return undefined;
  }
}

/** Starts a process and returns what it reports of itself. */
async function run(file: string, ...args: readonly string[]): Promise<Reported> {
  const before = reportedIn(file)?.pid;
  spawn(process.execPath, [bin, 'run', ...args], { cwd: folder, env, stdio: 'ignore' });
  await until(() => Promise.resolve(![undefined, before].includes(reportedIn(file)?.pid)), `${args[0] ?? ''} listens`);
  const reported = reportedIn(file);
  if (reported === undefined) throw new Error(`${file} is gone`);
  pids.push(reported.pid);
  return reported;
}

let cluster = '';
let managerAddress = '';
let providerArgs: readonly [string, ...string[]] = [''];
let providerPid = 0;

test.serial.before(async () => {
  const manager = await run('reservations/local/reservations.json', 'reservations');
  managerAddress = manager.address;
  cluster = (await run('clusters/alpha/cluster.json', 'cluster', '--id', 'alpha', '--processors', '2')).address;
  providerArgs = [
    'providers/alpha/provider.json',
    'provider',
    '--id',
    'alpha',
    '--cluster',
    'alpha',
    '--reservations',
    manager.address,
    '--reservation-resource',
    'alpha',
    '--pre-acquire',
    'fixed:10m',
    '--queue-interval',
    '500ms',
  ];
  const started = await run(...providerArgs);
  providerPid = started.pid;
  await run('broker.json', 'broker', '--provider', `alpha=${started.address}`);
  await until(
    async () => (await mutirao('reservation', 'resource', 'list')).out.includes('alpha'),
    'the provider makes its resource known',
  );
});
test.serial.after.always(() => {
  for (const pid of pids.reverse()) process.kill(pid, 'SIGTERM');
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

test.serial(
  "what was asked ahead comes after another user's work, is held through a kill, runs the reservation's bag, and goes back when it is cancelled",
  async (t) => {
    await done('cluster', 'submit', '--cluster', cluster, '--width', '2', '--walltime', '10m', '--', 'sleep', '5');
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
      '+40s',
      '--quiet',
    );
    await until(
      async () =>
        (await done('provider', 'show', 'alpha')).includes(`Reservation ${reservation}: 2 of 2 processors ready`),
      'the allocation is held',
    );
    await until(
      async () =>
        (await done('reservation', 'show', reservation)).includes('Held: 2 of 2 processors ready, 0 requested'),
      'its user sees it',
    );
    process.kill(providerPid, 'SIGKILL');
    pids.splice(pids.indexOf(providerPid), 1);
    await run(...providerArgs);
    await until(
      async () =>
        (await done('provider', 'show', 'alpha')).includes(`Reservation ${reservation}: 2 of 2 processors ready`),
      'it is held after the kill',
    );
    const job = await done('job', 'submit', '--quiet', '--reservation', reservation, '--array', '1-4', '--', 'echo {}');
    t.regex(await done('job', 'wait', job), /4 finished/);
    const tasks = JSON.parse(await done('task', 'list', job, '--json')) as { replicas: { machine_id: string }[] }[];
    t.true(
      tasks.every(({ replicas }) => replicas.every(({ machine_id: machine }) => machine.startsWith('alpha/q1.'))),
      JSON.stringify(tasks),
    );
    t.regex(
      await done('explain', 'reservation', reservation),
      /is claimed, began at .*\n(.*\n)*.*Honoured: 2 of 2 processors ready/,
    );
    await done('reservation', 'cancel', reservation);
    await until(
      async () => !(await done('cluster', 'queue', '--cluster', cluster)).includes('running'),
      'what was held goes back',
    );
  },
);

test.serial(
  'a job that waits for a reservation ends with its cancellation before it begins, though the claim was found good',
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
      '--from',
      '+9m',
      '--quiet',
    );
    const job = await done(
      'job',
      'submit',
      '--quiet',
      '--reservation',
      reservation,
      '--on-reservation-end',
      'wait',
      '--',
      'true',
    );
    await until(
      async () => (await done('explain', 'job', job)).includes('Held: 1 of 1 processor ready'),
      'its broker learns what is held, so the claim was accepted',
    );
    await done('reservation', 'cancel', reservation);
    await until(
      async () => (await done('explain', 'job', job)).includes('MUT_RESERVATION_OVER'),
      'its broker learns that the reservation is over',
    );
    await done('job', 'cancel', job);
    await until(
      async () => !(await done('cluster', 'queue', '--cluster', cluster)).includes('running'),
      'what was held goes back',
    );
    t.pass();
  },
);

test.serial(
  'where another user has the processors all the time nothing is held, and the bag goes on as an ordinary one when the reservation is over',
  async (t) => {
    await done('cluster', 'submit', '--cluster', cluster, '--width', '2', '--walltime', '10m', '--', 'sleep', '600');
    const reservation = await done(
      'reservation',
      'request',
      '--resource',
      'alpha',
      '--count',
      '1',
      '--for',
      '30s',
      '--from',
      '+3s',
      '--quiet',
    );
    const job = await done('job', 'submit', '--quiet', '--reservation', reservation, '--', 'true');
    t.regex(await done('provider', 'show', 'alpha'), new RegExp(`Reservation ${reservation}: 0 of 1 processor ready`));
    await until(
      async () =>
        /(Late|Queued|Asked): 0 of 1 processor ready, 1 requested/.test(await done('reservation', 'show', reservation)),
      'its user sees that it is not there',
    );
    await until(
      async () => (await done('explain', 'job', job)).includes('MUT_RESERVATION_OVER'),
      'the reservation is over',
    );
    t.regex(await done('explain', 'job', job), /the remaining tasks continued on any machine/);
  },
);

test.serial(
  'a provider that would pre-acquire at a cluster that honours reservations itself is refused before it begins',
  async (t) => {
    await run(
      'clusters/beta/cluster.json',
      'cluster',
      '--id',
      'beta',
      '--processors',
      '2',
      '--reservations',
      managerAddress,
    );
    await until(
      async () => (await mutirao('reservation', 'resource', 'list')).out.includes('beta'),
      'the cluster makes itself known',
    );
    const { status, err } = await mutirao(
      'run',
      'provider',
      '--id',
      'beta',
      '--cluster',
      'beta',
      '--reservations',
      managerAddress,
      '--pre-acquire',
      'fixed:1h',
    );
    t.not(status, 0);
    t.regex(err, /MUT_PRE_ACQUIRE_NOT_SUPPORTED/);
  },
);
