// The whole way of a new user, from `up` to `down`, on hosts that are odd in ways that real ones are.
import { execFile } from 'node:child_process';
import {
  chmodSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { packedProgram, until } from '@mutirao/testkit';
import { giveTo, nameless, nobody, type Account } from '@mutirao/testkit/world';

/** A host that differs from the usual one. */
interface OddHost {
  readonly title: string;
  readonly account?: Account;
  /** Name of the home folder, below a folder of the test's own. */
  readonly home?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A shell's words before the command, run in the same shell. */
  readonly before?: string;
  /** As `before`, for the command that starts the grid alone. */
  readonly beforeUp?: string;
}

const hosts: readonly OddHost[] = [
  { title: 'an ordinary account', account: nobody },
  { title: 'an account that no password file names', account: nameless },
  {
    title: 'an account without HOME, USER and LOGNAME',
    account: nobody,
    env: { HOME: undefined, USER: undefined, LOGNAME: undefined },
  },
  {
    title: 'a home folder with a path longer than a socket may have',
    account: nobody,
    home: `${'deep/'.repeat(20)}${'long'.repeat(20)}`,
  },
  {
    title: 'a home folder named with blanks, quotes, a percent sign and letters beyond ASCII',
    account: nobody,
    home: 'my "home" é 日本 $HOME it\'s 100% [x]',
  },
  { title: 'a umask that lets nobody do anything', account: nobody, before: 'umask 0777' },
  { title: 'a umask that lets everybody do everything', account: nobody, before: 'umask 0' },
  { title: 'a working folder that was removed', account: nobody, before: 'mkdir gone; cd gone; rmdir ../gone' },
  { title: 'few open files', account: nobody, before: 'ulimit -n 256' },
  { title: 'no open streams', account: nobody, beforeUp: 'exec 0<&- 1>&- 2>&-' },
  {
    title: 'a search path that leads nowhere, a shell that does nothing and a time zone that is none',
    account: nobody,
    env: { PATH: '/nowhere', SHELL: '/bin/false', TZ: ':Nowhere/Else' },
  },
  { title: 'a search path that is not set', account: nobody, env: { PATH: undefined } },
  {
    title: 'no locale, no terminal type and a search path of two folders',
    account: nobody,
    env: { LANG: undefined, LC_ALL: 'nowhere', TERM: undefined, PATH: '/usr/bin:/bin' },
  },
];

const folder = mkdtempSync(join(tmpdir(), 'mutirao-hosts-'));
const program = join(folder, 'mutirao');

test.before(() => {
  chmodSync(folder, 0o755);
  copyFileSync(packedProgram, program, constants.COPYFILE_FICLONE);
  chmodSync(program, 0o755);
});
test.after.always(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Result {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line on a host to its end. */
function run(host: OddHost, own: string, ...words: readonly string[]): Promise<Result> {
  const home = host.home === undefined ? join(own, 'home') : join(own, host.home);
  const env = { ...process.env, HOME: own, MUTIRAO_HOME: home, ...host.env };
  return new Promise((resolve) => {
    const child = execFile(
      '/bin/sh',
      [
        '-c',
        `${(words[0] === 'up' ? host.beforeUp : undefined) ?? host.before ?? 'true'}; exec "$@"`,
        'sh',
        program,
        ...words,
      ],
      {
        cwd: own,
        env,
        timeout: 120_000,
        ...host.account,
      },
      (_error, out, err) => {
        resolve({ status: child.exitCode ?? -1, out, err });
      },
    );
  });
}

function getFolder(t: ExecutionContext, { account, home }: OddHost): string {
  const own = mkdtempSync(join(folder, 'own-'));
  if (home?.includes('/') === true) mkdirSync(join(own, home, '..'), { recursive: true });
  giveTo(own, account);
  for (let path = home === undefined ? '.' : join(home, '..'); path !== '.'; path = join(path, '..'))
    giveTo(join(own, path), account);
  t.teardown(() => {
    rmSync(own, { recursive: true, force: true });
  });
  return own;
}

for (const host of hosts) {
  test.serial(`a grid comes up, works and goes down with ${host.title}`, async (t) => {
    const own = getFolder(t, host);
    t.teardown(() => run(host, own, 'down').then(() => undefined));
    const up = await run(host, own, 'up', '--detach', '--clusters', '2', '--machines', '1');
    t.is(up.status, 0, up.err);
    const job = await run(host, own, 'job', 'submit', '--array', '1-6', '--wait', '--', 'echo own-{}');
    t.is(job.status, 0, job.err);
    const output = await run(host, own, 'task', 'output', 'last', '0-5');
    t.is(output.out, 'own-1\nown-2\nown-3\nown-4\nown-5\nown-6\n', output.err);
    // In an allocation of the cluster as well as on the lab's machine.
    for (const site of ['alpha', 'lab']) {
      const there = await run(
        host,
        own,
        'job',
        'submit',
        '--array',
        '1-2',
        '--requirements',
        `site == ${site}`,
        '--wait',
        '--',
        'echo {}',
      );
      t.is(there.status, 0, there.err);
    }
    const down = await run(host, own, 'down');
    t.is(down.status, 0, down.err);
    t.is(down.err, '');
  });
}

/** Runs a line of the shell in mounts and processes of its own, as the first process, as in a container. */
function runFirst(own: string, line: string): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(
      'unshare',
      ['--pid', '--fork', '--mount', '--mount-proc', 'sh', '-c', line, 'sh', program],
      { env: { ...process.env, HOME: own, MUTIRAO_HOME: join(own, 'home') }, timeout: 120_000 },
      (_error, out, err) => {
        resolve({ status: child.exitCode ?? -1, out, err });
      },
    );
  });
}

test.serial('a grid as the first process of a container leaves no zombies, and ends with its signal', async (t) => {
  const own = getFolder(t, { title: '' });
  const host = { title: '' };
  const grid = runFirst(own, 'exec "$1" up --clusters 2 --machines 1 --no-web');
  await until(async () => (await run(host, own, 'status')).status === 0, 'the grid is up', 60_000);
  const leaves = '(setsid sleep 0.1 &); (sleep 0.1 &); echo own-{}';
  const job = await run(host, own, 'job', 'submit', '--array', '1-10', '--wait', '--', leaves);
  t.is(job.status, 0, job.err);
  const first = await findFirst(own);
  await until(() => listChildren(first).every(({ state }) => state !== 'Z'), 'all orphans are waited for', 20_000);
  process.kill(first, 'SIGTERM');
  const ended = await grid;
  t.is(ended.status, 0, ended.err);
  t.regex(ended.err, /The grid has stopped/);
});

const refusals = [
  {
    title: 'whose file system runs no programs',
    before: 'mkdir "$HOME/home" && mount -t tmpfs -o noexec none "$HOME/home"',
    says: /MUT_HOME_UNUSABLE .* is mounted with "noexec"; expected a home folder/,
  },
  {
    title: 'without /proc',
    before: 'umount -l /proc && umount -l /proc',
    says: /MUT_PATH_UNUSABLE there is no \/proc on this host/,
  },
];
for (const { title, before, says } of refusals)
  test.serial(`a grid is refused at once on a host ${title}`, async (t) => {
    const { status, err } = await runFirst(getFolder(t, { title }), `${before} && "$1" up --detach`);
    t.is(status, 2, err);
    t.regex(err, says);
  });

test.serial('a grid whose home folder was moved or removed ends by itself', async (t) => {
  const host = { title: '' };
  const own = getFolder(t, host);
  const up = await run(host, own, 'up', '--detach', '--clusters', '2', '--machines', '1');
  t.is(up.status, 0, up.err);
  renameSync(join(own, 'home'), join(own, 'elsewhere'));
  await until(() => listMentioning(own).length === 0, 'no process of the grid is left', 60_000);
});

/** Processes of this host whose command line names a folder. */
function listMentioning(folderName: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => (readOr(`/proc/${pid}/cmdline`).includes(folderName) ? [Number(pid)] : []));
}

/** The first process of the container of a grid. */
async function findFirst(own: string): Promise<number> {
  let found: number | undefined;
  await until(
    () => {
      const inside = listMentioning(own).find((pid) => /^NSpid:\t\d+\t\d+$/m.test(readOr(`/proc/${pid}/status`)));
      found = readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
        .find((pid) => inside !== undefined && isFirst(pid) && isSameNamespace(pid, inside));
      return found !== undefined;
    },
    'the first process is found',
    20_000,
  );
  return found ?? -1;
}

function isFirst(pid: number): boolean {
  return /^NSpid:\t\d+\t1$/m.test(readOr(`/proc/${pid}/status`));
}

function isSameNamespace(one: number, other: number): boolean {
  try {
    return readlinkSync(`/proc/${one}/ns/pid`) === readlinkSync(`/proc/${other}/ns/pid`);
  } catch {
    return false;
  }
}

function listChildren(pid: number): { readonly state: string }[] {
  return readOr(`/proc/${pid}/task/${pid}/children`)
    .split(' ')
    .filter((word) => word !== '')
    .map((child) => ({ state: /^State:\t(\w)/m.exec(readOr(`/proc/${child}/status`))?.[1] ?? '' }));
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
