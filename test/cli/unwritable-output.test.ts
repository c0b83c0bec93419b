// What every command does when its output cannot be written: a full disk is an error, a reader that has gone is not.
import { execFile, spawn } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import test from 'ava';

const root = fileURLToPath(new URL('../../', import.meta.url));
const bin = join(root, 'packages/cli/bin/mutirao.js');
const folder = mkdtempSync(join(tmpdir(), 'mutirao-output-'));
const env = { ...process.env, MUTIRAO_HOME: join(folder, 'home') };
const run = promisify(execFile);

/** Where standard output goes: a device without room, or a pipe that nobody reads. */
type Sink = 'full' | 'closed';

interface Ended {
  readonly status: number;
  readonly err: string;
}

function start(command: string, args: readonly string[], sink: Sink): Promise<Ended> {
  const full = openSync('/dev/full', 'w');
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', sink === 'full' ? full : 'pipe', 'pipe'] });
  closeSync(full);
  child.stdout?.destroy();
  let err = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    err += piece;
  });
  return new Promise((resolve) => {
    child.once('close', (status) => {
      resolve({ status: status ?? -1, err });
    });
  });
}

/** Runs command lines one after the other in one process; prints the exit status of each on standard error. */
const walk = (lines: readonly (readonly string[])[]): string => `
  const { main } = await import(${JSON.stringify(join(root, 'packages/cli/src/main.ts'))});
  for (const line of ${JSON.stringify(lines)}) process.stderr.write('STATUS ' + await main(line) + ' of ' + line.join(' ') + '\\n');
  process.exit(0);`;

async function listStatuses(
  lines: readonly (readonly string[])[],
  sink: Sink,
): Promise<{ readonly statuses: string[]; readonly err: string }> {
  const { status, err } = await start(
    process.execPath,
    ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', walk(lines)],
    sink,
  );
  if (status !== 0) throw new Error(`the walk ended with ${status}: ${err}`);
  return { statuses: err.split('\n').filter((line) => line.startsWith('STATUS ')), err };
}

/** Of every command, those that start nothing when asked for help; the processes have help of their own. */
async function helpLines(): Promise<string[][]> {
  const { entries } = await import('../../packages/cli/src/commands/index.ts');
  return [
    ['--help'],
    ['--version'],
    ...entries.filter(({ path }) => path[0] !== 'run').map(({ path }) => [...path, '--help']),
  ];
}

const workflow = join(folder, 'two.yaml');
writeFileSync(workflow, 'tasks:\n  one: {command: echo 1, outputs: [a]}\n  two: {command: cat a, inputs: [a]}\n');
const withoutGrid = [
  ['completion', 'bash'],
  ['completion', 'zsh'],
  ['completion', 'fish'],
  ['workflow', 'show', workflow],
  ['workflow', 'show', workflow, '--json'],
  ['workflow', 'convert', workflow, '--to', 'dot'],
  ['workflow', 'show', workflow, '-q'],
];
const withGrid = [
  ['job', 'list'],
  ['job', 'list', '--json'],
  ['job', 'show', 'last'],
  ['job', 'wait', 'last'],
  ['job', 'machines', 'last'],
  ['task', 'list', 'last'],
  ['task', 'list', 'last', '--json'],
  ['task', 'output', 'last', '0', '--stdout'],
  ['task', 'output', 'last', '0', '--json'],
  ['task', 'output', 'last', '0', '--stderr'],
  ['events'],
  ['events', '--json'],
  ['events', '-q'],
  ['status'],
  ['status', '--json'],
  ['machine', 'list'],
  ['provider', 'list'],
  ['request', 'list', '--json'],
  ['explain', 'job', 'last'],
  ['explain', 'task', 'last', '0', '--json'],
  ['ledger'],
];

test.after.always(async () => {
  await run(process.execPath, [bin, 'down'], { env }).catch(() => undefined);
  rmSync(folder, { recursive: true, force: true });
});

test.serial('a command whose output goes to a full disk says so and fails', async (t) => {
  const lines = [...(await helpLines()), ...withoutGrid];
  const { statuses, err } = await listStatuses(lines, 'full');
  t.deepEqual(
    statuses,
    lines.map((line) => `STATUS 3 of ${line.join(' ')}`),
  );
  t.is(err.split('cannot write standard output: no space left on device').length - 1, lines.length);
});

test.serial('a command whose reader has gone ends quietly', async (t) => {
  const lines = [...(await helpLines()), ...withoutGrid];
  const { statuses, err } = await listStatuses(lines, 'closed');
  t.deepEqual(
    statuses,
    lines.map((line) => `STATUS 0 of ${line.join(' ')}`),
  );
  t.notRegex(err, /MUT_|EPIPE|\.[jt]s:\d/);
});

test.serial('the help of a process is written, or its failure reported', async (t) => {
  t.deepEqual(await start(process.execPath, [bin, 'run', 'broker', '--help'], 'closed'), { status: 0, err: '' });
  const { status, err } = await start(process.execPath, [bin, 'run', 'broker', '--help'], 'full');
  t.is(status, 3);
  t.regex(err, /cannot write standard output: .*no space left on device/);
});

test.serial('commands of a grid, those that stream included, end the same way', async (t) => {
  await run(process.execPath, [bin, 'up', '--detach', '--clusters', '0', '--machines', '1'], { env });
  await run(process.execPath, [bin, 'job', 'submit', '--array', '1-3', '--wait', '--', 'echo {}; echo {} >&2'], {
    env,
    cwd: folder,
  });
  const { statuses, err } = await listStatuses(withGrid, 'full');
  t.deepEqual(
    statuses,
    withGrid.map((line) => `STATUS 3 of ${line.join(' ')}`),
  );
  t.is(err.split('cannot write standard output: no space left on device').length - 1, withGrid.length);
  const quiet = await listStatuses(withGrid, 'closed');
  t.deepEqual(
    quiet.err.split('\n').slice(0, -1),
    withGrid.map((line) => `STATUS 0 of ${line.join(' ')}`),
  );
  const followed = await start(process.execPath, [bin, 'events', '--follow'], 'closed');
  t.deepEqual(followed, { status: 0, err: '' });
  t.is((await start(process.execPath, [bin, 'events', '--follow', '--json'], 'full')).status, 3);
});

test.serial('a job that failed is a failed job, also where nobody reads its end', async (t) => {
  t.is(
    (await start(process.execPath, [bin, 'job', 'submit', '--retries', '0', '--wait', '--', 'exit 3'], 'closed'))
      .status,
    1,
  );
});

test.serial('a file that does not fit is not left behind in part', async (t) => {
  const limited = (...args: readonly string[]): Promise<Ended> =>
    start('/bin/sh', ['-c', 'trap "" XFSZ; ulimit -f 0; exec "$@"', 'sh', process.execPath, bin, ...args], 'closed');
  for (const [name, args] of [
    ['two.dot', ['workflow', 'convert', workflow, '--to', 'dot', '--output', 'two.dot']],
    ['report.html', ['job', 'report', 'last', '--out', 'report.html']],
  ] as const) {
    const { status, err } = await limited(...args);
    t.is(status, 3, err);
    t.regex(err, /^error: MUT_DISK_FULL cannot write /m, name);
    t.false(existsSync(join(folder, name)), name);
  }
  t.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith('.tmp')),
    [],
  );
});

test.serial('/dev/stdout as a file is standard output, also where that goes to a file', async (t) => {
  const { status, err } = await start(
    '/bin/sh',
    [
      '-c',
      'echo before > out; "$0" "$1" workflow convert "$2" --to dot --output /dev/stdout >> out',
      process.execPath,
      bin,
      workflow,
    ],
    'closed',
  );
  t.is(status, 0, err);
  t.regex(readFileSync(join(folder, 'out'), 'utf8'), /^before\ndigraph /);
});
