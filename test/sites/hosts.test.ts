// The whole way of a new user, from `up` to `down`, on hosts that are odd in ways that real ones are.
import { execFile } from 'node:child_process';
import { chmodSync, constants, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { packedProgram } from '@mutirao/testkit';
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
      ['-c', `${host.before ?? 'true'}; exec "$@"`, 'sh', program, ...words],
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
