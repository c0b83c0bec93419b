// Launchers in scopes of a real user manager, which runs with control groups and a /run of its own: what a task leaves
// is found there, without a subreaper, and does not outlive us.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { isAlive, until } from '@mutirao/testkit';
import { TaskAccounts } from '@mutirao/testkit/world';

const folder = mkdtempSync(path.join(tmpdir(), 'mutirao-scopes-'));
test.after.always(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a user manager and then a program as if that manager had started it. */
const setup = `
uid=$1; shift; as="setpriv --reuid=$uid --regid=$uid --clear-groups"; [ $uid = 0 ] && as=
mount -t tmpfs none /run && mkdir -p /run/systemd/system /run/u && chmod 700 /run/u || exit 90
umount -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup || exit 91
group=/sys/fs/cgroup/mutirao-$$/user@$uid.service
mkdir -p $group/manager $group/tests || exit 92
chown -R $uid:$uid /run/u /sys/fs/cgroup/mutirao-$$
export XDG_RUNTIME_DIR=/run/u
(echo 0 >$group/cgroup.procs; exec $as /lib/systemd/systemd --user) >/run/log 2>&1 & manager=$!
for try in $(seq 100); do $as systemd-run --user --scope --quiet --collect -- true 2>/dev/null && break; sleep 0.1; done
(echo 0 >$group/tests/cgroup.procs; exec $as "$@"); status=$?
kill $manager; wait $manager
for try in $(seq 50); do find /sys/fs/cgroup/mutirao-$$ -depth -type d -exec rmdir {} \\; 2>/dev/null; [ -e /sys/fs/cgroup/mutirao-$$ ] || break; sleep 0.1; done
exit $status`;

const opening = `
import { readdirSync, readFileSync } from 'node:fs';
import { Launchers, TaskAccount, Watchdog } from '@mutirao/runtime/processes';
const account = ACCOUNT;
const ends = [];
const launchers = await Launchers.open({
  folder: process.argv[1], width: 1, environment: { PATH: '/usr/bin:/bin', XDG_RUNTIME_DIR: '/run/u' }, watchdog: new Watchdog(), usesScopes: true, usesSubreaper: false, ...(account === undefined ? {} : { account }),
  onEnded: (slot, end) => { ends.shift()?.({ status: end.status, out: Buffer.from(end.standardOutput).toString() }); },
});
const run = (line, more = {}) => new Promise((resolve) => {
  ends.push(resolve);
  launchers.launch(0, { folder: process.argv[1], line, command: "/bin/sh -c '" + line + "'", environment: '', exports: 'X=1', ...more });
});
const listWords = (pid) => { try { return readFileSync('/proc/' + pid + '/cmdline', 'latin1').split('\\0'); } catch { return []; } };
/** Two sleeps of so many seconds run: the task's own, and the one that left it. */
const untilRuns = async (seconds) => {
  const deadline = Date.now() + 60_000;
  const count = () => readdirSync('/proc').filter((name) => { const [program, time] = listWords(name); return program === 'sleep' && time === seconds; }).length;
  while (count() < 2) {
    if (Date.now() > deadline) throw new Error('two sleeps of ' + seconds + ' s do not run');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
`;

/** @param uid of the account whose manager and program it is. */
async function runInside(
  program: string,
  uid = 0,
  at = path.join(folder, 'launchers'),
  account = 'undefined',
): Promise<string> {
  const { status, stdout, stderr } = await runCommand({
    command: 'unshare',
    args: [
      '--mount',
      '--propagation',
      'private',
      '/bin/sh',
      '-c',
      setup,
      'sh',
      String(uid),
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '-e',
      opening.replace('ACCOUNT', account) + program,
      at,
    ],
    deadlineMs: 120_000,
    cwd: process.cwd(),
  });
  return status === 0 ? stdout.toString() : `status ${status}: ${stderr.toString()}`;
}

/** Processes with this word in their command line. */
function processesWith(word: string): string[] {
  return readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && isAlive(Number(name)) && readOr(`/proc/${name}/cmdline`).split('\0').includes(word),
  );
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

test.serial(
  'what left its group, its parent and its environment is found in the scope and ended before the end is reported',
  async (t) => {
    const said = await runInside(`
    const first = await run('cat /proc/self/cgroup; (setsid env -i sleep 1000021 >/dev/null 2>&1 &); exit 3');
    const second = await run('ps -eo args | grep -c "^sleep 1000021"; cat /proc/self/cgroup');
    console.log(JSON.stringify({ status: first.status, group: /^0::.*mutirao-\\d+-[0-9a-f]{12}\\.scope$/m.test(first.out), left: second.out.split('\\n')[0] }));
    const killed = run('setsid env -i sh -c "trap : TERM; while :; do setsid sleep 1000022 & sleep 0.01; done" & sleep 1000022');
    await untilRuns('1000022');
    launchers.signal(0, 'SIGKILL');
    const { status } = await killed;
    const third = await run('ps -eo args | grep -c "^sleep 1000022"');
    console.log(JSON.stringify({ status, left: third.out }));
    process.exit(0);`);
    t.is(said, '{"status":3,"group":true,"left":"0"}\n{"status":137,"left":"0\\n"}\n');
  },
);

test.serial('what is in the scope ends with us, however we end', async (t) => {
  const said = await runInside(`
    void run('setsid env -i sleep 1000023 & sleep 1000023');
    await untilRuns('1000023');
    console.log('killed');
    process.kill(process.pid, 'SIGKILL');`);
  t.regex(said, /^status 137/);
  await until(() => processesWith('1000023').length === 0, 'nothing is left');
  t.pass();
});

/** What makes a sandbox, as an agent's tasks have. */
const sandboxed = `
import { mkdirSync } from 'node:fs';
import { describeSandbox, sandboxLine } from '@mutirao/runtime/processes';
for (const name of ['playpen', 'temporary']) mkdirSync(process.argv[1] + '/' + name, { recursive: true });
const sandbox = sandboxLine(describeSandbox({ hidden: [], writable: [], environment: { PATH: '/usr/bin:/bin' } }), {
  temporary: process.argv[1] + '/temporary', writable: [process.argv[1] + '/playpen'], start: process.argv[1] + '/playpen',
});
`;

test.serial('a task in a sandbox is in the scope too: what it leaves and what it runs ends with it', async (t) => {
  const said = await runInside(`${sandboxed}
    const first = await run('[ -e /run/u ] || echo hidden; cat /proc/self/cgroup; (setsid env -i sleep 1000031 >/dev/null 2>&1 &); exit 3', { sandbox });
    const second = await run('ps -eo args | grep -c "^sleep 1000031"');
    console.log(JSON.stringify({ status: first.status, group: /^0::.*mutirao-\\d+-[0-9a-f]{12}\\.scope$/m.test(first.out), isApart: first.out.startsWith('hidden'), left: second.out }));
    const killed = run('trap : TERM; setsid sleep 1000032 & sleep 1000032; sleep 1000032', { sandbox });
    await untilRuns('1000032');
    launchers.signal(0, 'SIGKILL');
    const { status } = await killed;
    const third = await run('ps -eo args | grep -c "^sleep 1000032"');
    console.log(JSON.stringify({ status, left: third.out }));
    process.exit(0);`);
  t.is(said, '{"status":3,"group":true,"isApart":true,"left":"0\\n"}\n{"status":137,"left":"0\\n"}\n');
});

test.serial('a task in a sandbox ends with us, however we end', async (t) => {
  const said = await runInside(`${sandboxed}
    void run('setsid env -i sleep 1000033 & sleep 1000033', { sandbox });
    await untilRuns('1000033');
    process.kill(process.pid, 'SIGKILL');`);
  t.regex(said, /^status 137/);
  await until(() => processesWith('1000033').length === 0, 'nothing is left');
  t.pass();
});

test.serial('a task in another account is in the scope too, and what it leaves is ended by that account', async (t) => {
  const accounts = new TaskAccounts();
  t.teardown(() => {
    accounts.remove();
  });
  accounts.allow();
  const account = `new TaskAccount('${accounts.tasksName}', '/usr/bin/sudo')`;
  const said = await runInside(
    `
    const begun = 'printf . 1>&0; ';
    const as = (line) => ({ account: begun + line });
    const first = await run('', as('id -un; cat /proc/self/cgroup; (setsid env -i sleep 1000041 >/dev/null 2>&1 &); exit 3'));
    const second = await run('', as('ps -eo args | grep -c "^sleep 1000041"'));
    console.log(JSON.stringify({ status: first.status, name: first.out.split('\\n')[0], group: /^0::.*mutirao-\\d+-[0-9a-f]{12}\\.scope$/m.test(first.out), left: second.out }));
    const killed = run('', as('trap : TERM; setsid sleep 1000042 & sleep 1000042; sleep 1000042'));
    await untilRuns('1000042');
    launchers.signal(0, 'SIGKILL');
    const { status } = await killed;
    const third = await run('', as('ps -eo args | grep -c "^sleep 1000042"'));
    console.log(JSON.stringify({ status, left: third.out }));
    process.exit(0);`,
    accounts.account.uid,
    path.join(accounts.home, 'launchers'),
    account,
  );
  t.is(said, `{"status":3,"name":"${accounts.tasksName}","group":true,"left":"0\\n"}\n{"status":137,"left":"0\\n"}\n`);
});
