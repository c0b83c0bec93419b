// One job with a grid of its own: what it leaves behind is read from the process table and from the queue of the
// cluster that it used.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { isAlive, Program, until } from '@mutirao/testkit';

const bin = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mutirao-here-'));
const usualHome = join(folder, 'usual');
const cluster = new Program('cluster', ['--home', usualHome, '--id', 'site', '--processors', '3'], {
  MUTIRAO_HOME: usualHome,
});

interface Result {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

const env = { ...process.env, MUTIRAO_HOME: usualHome };

/** Runs `mutirao` to its end. */
function mutirao(...args: readonly string[]): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [bin, ...args], { cwd: folder, env }, (_error, out, err) => {
      resolve({ status: child.exitCode ?? -1, out, err });
    });
  });
}

const submissions: Submission[] = [];

/** A submission that goes on while the test looks at it. */
class Submission {
  out = '';
  err = '';
  readonly child: ChildProcess;

  constructor(...args: readonly string[]) {
    this.child = spawn(process.execPath, [bin, 'job', 'submit', '--standalone', ...args], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    submissions.push(this);
    this.child.stdout?.on('data', (data: Buffer) => {
      this.out += data.toString();
    });
    this.child.stderr?.on('data', (data: Buffer) => {
      this.err += data.toString();
    });
  }

  get isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }
}

/** Processes that live and have a word in their environment. */
function processesWith(word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return pid !== process.pid && isAlive(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(word);
      } catch {
        return false;
      }
    });
}

/** What a killed agent started takes a moment to notice it; a daemon would not. */
async function nothingLeft(word: string): Promise<void> {
  await until(() => processesWith(word).length === 0, `no process is left of ${word}`);
}

async function openRequests(): Promise<unknown[]> {
  const { out, err } = await mutirao('cluster', 'queue', '--cluster', cluster.address, '--json');
  const [queue] = JSON.parse(out === '' ? `[{"requests":["${err}"]}]` : out) as { requests: { status: string }[] }[];
  return queue?.requests.filter(({ status }) => status !== 'ended') ?? ['no answer'];
}

test.before(async () => {
  await cluster.start();
});
test.after.always(async () => {
  for (const { child, isOver } of submissions) if (!isOver) child.kill('SIGKILL');
  await cluster.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

test.serial('a job file runs on a cluster of its own, its outputs come home, and nothing is left', async (t) => {
  writeFileSync(join(folder, 'in.txt'), 'word\n');
  writeFileSync(
    join(folder, 'copy.jdf'),
    'job:\nlabel: copy\ntask:\ninit: put in.txt in.txt\nremote: tr a-z A-Z < in.txt > out.txt\nfinal: get ' +
      'out.txt out-$TASK.txt\n',
  );
  const { status, out, err } = await mutirao(
    'job',
    'submit',
    '--standalone',
    '--manager',
    'embedded',
    '--standalone-processors',
    '2',
    '--heuristic',
    'adaptive',
    'copy.jdf',
  );
  t.is(status, 0, err);
  t.regex(out, /^Job 1 finished after .*, tasks 1: 1 finished\.\n$/);
  t.is(readFileSync(join(folder, 'out-0.txt'), 'utf8'), 'WORD\n');
  t.deepEqual(readdirSync(join(usualHome, 'here')), []);
  await nothingLeft(join(usualHome, 'here'));
});

test.serial(
  'on this host alone the output of tasks can be seen, and why they failed is printed before the broker goes',
  async (t) => {
    const { status, out, err } = await mutirao(
      'job',
      'submit',
      '--standalone',
      '--manager',
      'none',
      '--standalone-processors',
      '2',
      '--retries',
      '0',
      '--task-output',
      '--values',
      '0,7',
      '--',
      'echo got {}; echo no >&2; exit {}',
    );
    t.is(status, 1, err);
    t.regex(out, /^got 0\ngot 7\nJob 1 failed after .*, tasks 2: 1 finished, 1 failed\.\n$/);
    t.regex(err, /MUT_COMMAND_FAILED: exit status 7/);
    t.regex(err, /task 1: no/);
    await nothingLeft(join(usualHome, 'here'));
  },
);

test.serial('an interrupt takes its requests out of the queue of the cluster, those that run too', async (t) => {
  const home = join(folder, 'interrupted');
  const submission = new Submission(
    '--home',
    home,
    '--cluster',
    'site',
    '--array',
    '1-8',
    '--',
    `echo >${folder}/began-{}; sleep 600`,
  );
  await until(
    () => submission.isOver || [1, 2, 3].every((index) => existsSync(join(folder, `began-${index}`))),
    'tasks run',
  );
  t.true((await openRequests()).length > 1);
  submission.child.kill('SIGINT');
  await until(() => submission.isOver, 'the command ends');
  t.is(submission.child.exitCode, 4, submission.err);
  t.regex(
    submission.err,
    /error: MUT_CANCELLED the job was interrupted; "mutirao job submit --standalone --home .*" goes on with it/,
  );
  t.deepEqual(await openRequests(), []);
  await nothingLeft(home);
});

test.serial('a submission that was killed leaves no process and no request, and goes on where it was', async (t) => {
  const home = join(folder, 'killed');
  const gate = join(folder, 'gate');
  const submission = new Submission(
    '--home',
    home,
    '--cluster',
    'site',
    '--array',
    '0-5',
    '--',
    `echo ran >>${folder}/ran-{}; [ {} -lt 2 ] || while [ ! -e ${gate} ]; do sleep 0.1; done`,
  );
  await until(
    () => submission.isOver || [0, 1, 2].every((index) => existsSync(join(folder, `ran-${index}`))),
    'two tasks have run',
  );
  const shown = async (): Promise<number> => {
    const { out } = await mutirao('job', 'list', '--home', home, '--json');
    return (JSON.parse(out === '' ? '[]' : out) as { finished_count: number }[])[0]?.finished_count ?? 0;
  };
  await until(async () => submission.isOver || (await shown()) === 2, 'two tasks have finished');
  submission.child.kill('SIGKILL');
  await until(() => processesWith(home).length === 0, 'every process has ended');
  t.deepEqual(await openRequests(), []);
  const refused = await mutirao('job', 'submit', '--standalone', '--home', home, '--cluster', 'site', '--', 'true');
  t.is(refused.status, 2);
  t.regex(refused.err, /holds job 1, which was interrupted with 2 of 6 tasks finished/);
  writeFileSync(gate, '');
  const { status, out, err } = await mutirao('job', 'submit', '--standalone', '--home', home, '--cluster', 'site');
  t.is(status, 0, err);
  t.regex(err, /Continuing job 1: 2 of 6 tasks have finished\./);
  t.regex(out, /tasks 6: 6 finished\.\n$/);
  t.is(readFileSync(join(folder, 'ran-0'), 'utf8'), 'ran\n');
  t.deepEqual(await openRequests(), []);
  await nothingLeft(home);
});

test.serial('the next submission reports a temporary home whose submission was killed', async (t) => {
  const submission = new Submission(
    '--manager',
    'none',
    '--standalone-processors',
    '1',
    '--',
    `echo >${folder}/began; sleep 600`,
  );
  await until(() => submission.isOver || existsSync(join(folder, 'began')), 'the task runs');
  const [name = ''] = readdirSync(join(usualHome, 'here'));
  submission.child.kill('SIGKILL');
  await until(() => processesWith(join(usualHome, 'here')).length === 0, 'every process has ended');
  const { status, err } = await mutirao('job', 'submit', '--standalone', '--manager', 'none', '--', 'true');
  t.is(status, 0, err);
  t.true(err.includes(`"mutirao job submit --standalone --home ${join(usualHome, 'here', name)}" continues it`), err);
});

test.serial('errors are reported before anything starts, and leave nothing', async (t) => {
  const before = readdirSync(join(usualHome, 'here'));
  const wrong: readonly (readonly [RegExp, ...string[]])[] = [
    [/there is no file .*nix\.jdf/, '--standalone', 'nix.jdf'],
    [/there is nothing to submit/, '--standalone'],
    [/--manager, --heuristic without --standalone/, '--manager', 'none', '--heuristic', 'static', '--', 'true'],
    [
      /--standalone-processors is "many"/,
      '--standalone',
      '--manager',
      'none',
      '--standalone-processors',
      'many',
      '--',
      'true',
    ],
    [/--cluster needs --manager embedded/, '--standalone', '--manager', 'slurm', '--cluster', 'site', '--', 'true'],
    [/'pbs' is invalid/, '--standalone', '--manager', 'pbs', '--', 'true'],
    [/--broker cannot be used with --standalone/, '--standalone', '--broker', '127.0.0.1:1', '--', 'true'],
    [/--label without a job/, '--standalone', '--home', join(folder, 'none'), '--label', 'x'],
  ];
  for (const [message, ...args] of wrong) {
    const { status, err } = await mutirao('job', 'submit', ...args);
    t.is(status, 2, err);
    t.regex(err, message);
  }
  t.deepEqual(readdirSync(join(usualHome, 'here')), before);
});

test.serial('the output of a process that cannot start is printed, and the others end', async (t) => {
  const { status, err } = await mutirao(
    'job',
    'submit',
    '--standalone',
    '--manager',
    'embedded',
    '--cluster',
    'nowhere',
    '--',
    'true',
  );
  t.is(status, 3, err);
  t.regex(err, /provider-here did not start: there is no cluster "nowhere" in .*usual/);
  const heuristic = await mutirao(
    'job',
    'submit',
    '--standalone',
    '--manager',
    'none',
    '--heuristic',
    'clever',
    '--',
    'true',
  );
  t.is(heuristic.status, 2);
  t.regex(heuristic.err, /heuristic is "clever"; expected one of/);
  await nothingLeft(join(usualHome, 'here'));
});
