// The command line as its users have it: real processes, one home folder, from `up` to `down`.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { isAlive, until } from '@mutirao/testkit';

const bin = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mutirao-cli-'));
const home = join(folder, 'home');

interface Result {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Begins `mutirao`; what it has said on standard error can be read while it runs. */
function begin(...args: readonly string[]): { readonly ended: Promise<Result>; said(): string } {
  let said = '';
  const ended = new Promise<Result>((resolve) => {
    const child = execFile(
      process.execPath,
      [bin, ...args],
      { cwd: folder, env: { ...process.env, MUTIRAO_HOME: home } },
      (_error, out, err) => {
        resolve({ status: child.exitCode ?? -1, out, err });
      },
    );
    child.stderr?.on('data', (piece: string) => {
      said += piece;
    });
  });
  return { ended, said: () => said };
}

/** Runs `mutirao` to its end. */
function mutirao(...args: readonly string[]): Promise<Result> {
  return begin(...args).ended;
}

async function json<T>(...args: readonly string[]): Promise<T> {
  const split = args.includes('--') ? args.indexOf('--') : args.length;
  const { out, err, status } = await mutirao(...args.slice(0, split), '--json', ...args.slice(split));
  if (status !== 0) throw new Error(`mutirao ${args.join(' ')} ended with ${status}: ${err}`);
  return JSON.parse(out) as T;
}

interface GridJson {
  readonly processes: Record<string, number>;
}

function processes(): Record<string, number> {
  return (JSON.parse(readFileSync(join(home, 'grid.json'), 'utf8')) as GridJson).processes;
}

test.before(async (t) => {
  const { status, err } = await mutirao('up', '--detach', '--clusters', '3', '--machines', '1');
  t.is(status, 0, err);
});
test.after.always(async () => {
  await mutirao('down');
  rmSync(folder, { recursive: true, force: true });
});

test.serial('a bag comes back done, and its tasks, outputs and ledger can be read', async (t) => {
  const waited = await mutirao('job', 'submit', '--array', '1-20', '--wait', '--', 'echo $((3 * {}))');
  t.is(waited.status, 0, waited.err);
  t.regex(waited.out, /^Job 1 finished after .*, tasks 20: 20 finished\.\n$/);
  t.is((await mutirao('task', 'output', 'last', '4-6')).out, '15\n18\n21\n');
  const tasks = await json<{ status: string; replicas: { accepted: boolean }[] }[]>('task', 'list');
  t.is(tasks.length, 20);
  for (const task of tasks) t.is(task.replicas.filter(({ accepted }) => accepted).length, 1);
  const { rows } = await json<{ rows: Record<string, number>[] }>('ledger');
  t.true(rows.length > 0);
  for (const row of rows) {
    const sum = ['used', 'losers', 'killed', 'idle'].reduce(
      (total, column) => total + (row[`${column}_processor_ms`] ?? NaN),
      0,
    );
    t.is(row['held_processor_ms'], sum, JSON.stringify(row));
  }
});

test.serial('the page is served by the address that is printed, and by no other', async (t) => {
  const { url } = await json<{ url: string }>('web');
  const { page } = JSON.parse(readFileSync(join(home, 'grid.json'), 'utf8')) as { page: string };
  t.is(url, page);
  const [, address = '', token = ''] = /^(http:\/\/127\.0\.0\.1:\d+)\/#token=([\w-]{43})$/.exec(url) ?? [];
  const ask = (path: string, headers: Record<string, string>): Promise<Response> =>
    fetch(`${address}/api/v1${path}`, { headers });
  t.is((await ask('/jobs', {})).status, 401);
  const authorization = `Bearer ${token}`;
  const { jobs } = (await (await ask('/jobs', { authorization })).json()) as {
    jobs: { job_id: number; tasks: { finished: number } }[];
  };
  t.is(jobs.at(-1)?.tasks.finished, 20);
  t.is((await ask('/jobs', { authorization, origin: 'http://evil.example' })).status, 403);
  const gantt = (await (await ask('/jobs/1/gantt', { authorization })).json()) as {
    read_task_count: number;
    bars: { row: number[] };
  };
  t.is(gantt.read_task_count, 20);
  t.true(gantt.bars.row.length >= 20);
  t.false(readFileSync(join(home, 'logs', 'web.log'), 'utf8').includes(token));
});

test.serial('a report on a job is one file that anybody can open', async (t) => {
  const { file, size_bytes: size } = await json<{ file: string; size_bytes: number }>(
    'job',
    'report',
    '1',
    '--out',
    'report.html',
  );
  t.is(file, join(folder, 'report.html'));
  const html = readFileSync(file, 'utf8');
  t.is(Buffer.byteLength(html), size);
  t.regex(html, /<h1>Job 1<\/h1>/);
  t.regex(html, /default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[\w+/=]+'; img-src data:/);
  t.is(html.split('<script').length - 1, 2, 'its data and its own script');
});

test.serial('the exit status shows how the job ended', async (t) => {
  t.is((await mutirao('job', 'submit', '--wait', '--retries', '0', '--', 'exit 9')).status, 1);
  const { out: jobId } = await mutirao('job', 'submit', '--quiet', '--', 'sleep 600');
  const waiting = mutirao('job', 'wait', jobId.trim());
  t.is((await mutirao('canceljob', jobId.trim())).status, 0);
  t.is((await waiting).status, 4);
});

test.serial('a job file is run from its own folder, and its outputs come home', async (t) => {
  writeFileSync(join(folder, 'in.txt'), 'word\n');
  writeFileSync(
    join(folder, 'copy.jdf'),
    'job:\nlabel: copy\ntask:\ninit: put in.txt in.txt\nremote: tr a-z A-Z < in.txt > out.txt\nfinal: get ' +
      'out.txt out-$TASK.txt\n',
  );
  const { status, err } = await mutirao('addjob', 'copy.jdf', '--wait');
  t.is(status, 0, err);
  t.is(readFileSync(join(folder, 'out-0.txt'), 'utf8'), 'WORD\n');
});

test.serial(
  'waiting outlives a kill -9 of the broker, which is started again, and no task is accepted twice',
  async (t) => {
    // Most tasks wait for a file, so that the job cannot be over before the broker is killed, however busy the machine
    // is.
    const opened = join(folder, 'broker-is-killed');
    const { out } = await mutirao(
      'job',
      'submit',
      '--quiet',
      '--array',
      '1-24',
      '--',
      `test {} -lt 9 || until test -e '${opened}'; do sleep 0.1; done; echo {}`,
    );
    const jobId = out.trim();
    const waiting = begin('job', 'wait', jobId, '--progress');
    await until(() => waiting.said().includes(`job ${jobId}`), 'it is waited for');
    await until(
      async () => ((await json<{ finished_count: number }[]>('job', 'show', jobId))[0]?.finished_count ?? 0) > 5,
      'a quarter of the tasks has finished',
    );
    const before = processes()['broker'] ?? 0;
    process.kill(before, 'SIGKILL');
    writeFileSync(opened, '');
    const { status, out: reported, err } = await waiting.ended;
    t.is(status, 0, err);
    t.regex(reported, /tasks 24: 24 finished/);
    t.not(processes()['broker'], before);
    const tasks = await json<{ replicas: { accepted: boolean }[] }[]>('task', 'list', jobId);
    for (const task of tasks) t.is(task.replicas.filter(({ accepted }) => accepted).length, 1);
  },
);

test.serial('events are printed once each, and go on from any sequence', async (t) => {
  const { out } = await mutirao('events', '--job', '1', '--quiet');
  const sequences = out.trim().split('\n').map(Number);
  t.true(sequences.length > 2);
  const rest = await mutirao('events', '--job', '1', '--quiet', '--after', String(sequences[1]));
  t.deepEqual(rest.out.trim().split('\n').map(Number), sequences.slice(2));
});

test.serial('a local user of a cluster submits, sees the queue and cancels', async (t) => {
  const { request_id: requestId } = await json<{ request_id: string }>(
    'cluster',
    'submit',
    '--width',
    '1',
    '--walltime',
    '10m',
    '--user',
    'ana',
    '--',
    'sleep',
    '600',
  );
  const [queue] = await json<{ requests: { request_id: string; user_id: string }[] }[]>('cluster', 'queue');
  t.true(queue?.requests.some((request) => request.request_id === requestId && request.user_id === 'ana'));
  t.is((await mutirao('cluster', 'cancel', requestId)).status, 0);
  const [after] = await json<{ requests: { request_id: string }[] }[]>('cluster', 'queue');
  t.false(after?.requests.some((request) => request.request_id === requestId));
});

test.serial('a second grid in the same home folder is refused with what to do', async (t) => {
  const { status, err } = await mutirao('up', '--detach');
  t.is(status, 2);
  t.regex(err, /^error: MUT_ALREADY_RUNNING a grid already runs in .*"mutirao down" stops it/);
});

test.serial('a setting that the page does not have, and a home folder without a name, are refused', async (t) => {
  const unknown = await mutirao(
    'up',
    '--home',
    join(folder, 'other'),
    '--clusters',
    '0',
    '--machines',
    '1',
    '--set',
    'web.foo=1',
  );
  t.is(unknown.status, 2, unknown.err);
  t.regex(unknown.err, /^error: MUT_BAD_CONFIG web did not start: unknown option '--foo'/m);
  const empty = await mutirao('status', '--home', '');
  t.is(empty.status, 2, empty.err);
  t.regex(empty.err, /--home is empty, as where a variable is not set; expected a folder/);
});

test.serial('down leaves nothing running', async (t) => {
  const pids = Object.values(processes());
  t.true(pids.length >= 5);
  t.is((await mutirao('down')).status, 0);
  t.deepEqual(pids.filter(isAlive), []);
  t.is((await mutirao('job', 'list')).status, 3);
});

test.serial(
  'a grid whose supervisor was killed is cleaned up by the next one, which finds the former jobs',
  async (t) => {
    t.is((await mutirao('up', '--detach', '--clusters', '2', '--machines', '0')).status, 0);
    const { pid } = JSON.parse(readFileSync(join(home, 'grid.json'), 'utf8')) as { pid: number };
    const orphans = Object.values(processes());
    process.kill(pid, 'SIGKILL');
    await until(() => !isAlive(pid), 'the supervisor is gone');
    const { status, err } = await mutirao('up', '--detach', '--clusters', '2', '--machines', '0');
    t.is(status, 0, err);
    t.deepEqual(orphans.filter(isAlive), []);
    t.is((await json<{ status: string }[]>('job', 'show', '1'))[0]?.status, 'finished');
    t.is((await mutirao('job', 'submit', '--wait', '--', 'true')).status, 0);
    t.is((await mutirao('down')).status, 0);
  },
);

test.serial('in the foreground an interrupt stops the whole grid', async (t) => {
  const child = spawn(process.execPath, [bin, 'up', '--clusters', '0', '--machines', '1'], {
    env: { ...process.env, MUTIRAO_HOME: home },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let out = '';
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString();
  });
  await until(() => / status +#/.test(out), 'the grid prints how to use it');
  const pids = Object.values(processes());
  child.kill('SIGINT');
  await until(() => child.exitCode !== null, 'the command ends');
  t.is(child.exitCode, 0);
  t.deepEqual(pids.filter(isAlive), []);
});
