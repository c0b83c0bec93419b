import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { killGroup, runCommand, startProcess, Watchdog, type ProcessExit } from '@mutirao/runtime/processes';
import { isAlive, until } from '@mutirao/testkit';

const folder = mkdtempSync(path.join(tmpdir(), 'mutirao-processes-'));
test.after.always(() => {
  rmSync(folder, { recursive: true });
});

test.serial('a command gives its status and both of its streams', async (t) => {
  const result = await runCommand({
    command: '/bin/sh',
    args: ['-c', 'echo out; echo err >&2; exit 3'],
    deadlineMs: 60_000,
  });
  t.is(result.status, 3);
  t.is(result.stdout.toString(), 'out\n');
  t.is(result.stderr.toString(), 'err\n');
  t.false(result.isTruncated);
  t.false(result.isTimedOut);
});

test.serial('a command past its deadline is killed with all that it started', async (t) => {
  const pids = path.join(folder, 'deadline');
  const result = await runCommand({
    command: '/bin/sh',
    args: ['-c', `sleep 600 & echo $! >${pids}; wait`],
    deadlineMs: 300,
  });
  t.true(result.isTimedOut);
  t.is(result.status, 137);
  await until(() => !isAlive(Number(readFileSync(pids, 'utf8'))), 'the grandchild is gone');
});

test.serial('a command that leaves a process holding its output ends all the same', async (t) => {
  const result = await runCommand({ command: '/bin/sh', args: ['-c', 'sleep 600 & echo done'], deadlineMs: 60_000 });
  t.is(result.status, 0);
  t.is(result.stdout.toString(), 'done\n');
  t.false(result.isTimedOut);
});

test.serial(
  'what another process writes on for a command that has ended is read while it comes, and what comes for ever is not',
  async (t) => {
    // As a client of a shared ssh connection, whose output the other process writes.
    const slow = await runCommand({
      command: '/bin/sh',
      args: ['-c', '(for n in 1 2 3 4 5; do sleep 0.08; echo $n; done) & exit 0'],
      deadlineMs: 60_000,
    });
    t.is(slow.stdout.toString(), '1\n2\n3\n4\n5\n');
    const endless = await runCommand({
      command: '/bin/sh',
      args: ['-c', 'while :; do echo line; done & exit 0'],
      deadlineMs: 60_000,
    });
    t.false(endless.isTimedOut);
    t.regex(endless.stdout.toString(), /^line\nline\n/);
  },
);

test.serial('a command whose end stands on both of its streams is waited for no longer than a moment', async (t) => {
  const begin = performance.now();
  const held = await runCommand({
    command: '/bin/sh',
    args: ['-c', 'echo out; echo :end; echo :end >&2; exec sleep 50'],
    deadlineMs: 45_000,
    endMark: ':end',
  });
  t.false(held.isTimedOut);
  t.true(performance.now() - begin < 40_000);
  t.is(held.stdout.toString(), 'out\n:end\n');
  // One mark is not the end, and who ends by herself keeps her status.
  const half = await runCommand({
    command: '/bin/sh',
    args: ['-c', 'echo :end; sleep 1.5; echo more; exit 3'],
    deadlineMs: 45_000,
    endMark: ':end',
  });
  t.like({ ...half, stdout: half.stdout.toString() }, { status: 3, stdout: ':end\nmore\n', isTimedOut: false });
});

test.serial('output beyond the bound is read and thrown away', async (t) => {
  const result = await runCommand({
    command: '/bin/sh',
    args: ['-c', 'head -c 1000000 /dev/zero'],
    deadlineMs: 60_000,
    outputBytesMax: 1000,
  });
  t.is(result.status, 0);
  t.is(result.stdout.length, 1000);
  t.true(result.isTruncated);
});

test.serial('a command that is not there ends with 127 and says why', async (t) => {
  const result = await runCommand({ command: path.join(folder, 'nothing'), deadlineMs: 60_000 });
  t.is(result.status, 127);
  t.regex(result.startError, /ENOENT/);
});

test.serial('input reaches a command', async (t) => {
  t.is((await runCommand({ command: 'cat', input: 'line\n', deadlineMs: 60_000 })).stdout.toString(), 'line\n');
});

test.serial('a signal reaches the whole group and is reported as 128 + its number', async (t) => {
  const output = path.join(folder, 'group');
  const ended = Promise.withResolvers<ProcessExit>();
  const started = startProcess({
    command: '/bin/sh',
    args: ['-c', 'sleep 600 & echo $!; wait'],
    stdout: { kind: 'file', path: output },
    onExit: ended.resolve,
  });
  await until(() => readFileSync(output, 'utf8').endsWith('\n'), 'the group has started');
  t.true(killGroup(started.pid ?? 0, 'SIGTERM'));
  t.is((await ended.promise).status, 143);
  await until(() => !isAlive(Number(readFileSync(output, 'utf8'))), 'the other process is gone');
});

test.serial('a process writes to a file and sees the environment and folder it was given', async (t) => {
  const output = path.join(folder, 'file');
  writeFileSync(output, 'before\n');
  const ended = Promise.withResolvers<ProcessExit>();
  startProcess({
    command: '/bin/sh',
    args: ['-c', 'echo $GREETING; pwd'],
    env: { GREETING: 'hello', PATH: '/usr/bin:/bin' },
    cwd: folder,
    stdout: { kind: 'file', path: output },
    onExit: ended.resolve,
  });
  t.is((await ended.promise).status, 0);
  t.is(readFileSync(output, 'utf8'), `before\nhello\n${folder}\n`);
});

test.serial('closing a watchdog kills the groups that it guards and no other', async (t) => {
  const watchdog = new Watchdog();
  const guarded = startSleeper();
  const released = startSleeper();
  watchdog.guard(guarded.pid);
  watchdog.guard(released.pid);
  watchdog.release(released.pid);
  watchdog.close();
  t.is((await guarded.ended).status, 137);
  t.true(isAlive(released.pid));
  killGroup(released.pid, 'SIGTERM');
  t.is((await released.ended).status, 143);
});

test.serial('a watchdog that is killed is replaced and its groups stay guarded', async (t) => {
  const watchdog = new Watchdog();
  const first = watchdog.pid ?? 0;
  const sleeper = startSleeper();
  watchdog.guard(sleeper.pid);
  process.kill(first, 'SIGKILL');
  await until(() => watchdog.pid !== first, 'another watchdog has started');
  watchdog.close();
  t.is((await sleeper.ended).status, 137);
});

test.serial('a watchdog removes the folder that it was given, when all that it guards is dead', async (t) => {
  const [mine, other] = [path.join(folder, 'mine'), path.join(folder, 'other')];
  for (const made of [mine, other]) mkdirSync(path.join(made, 'below'), { recursive: true });
  const watchdog = new Watchdog(mine);
  const first = watchdog.pid ?? 0;
  process.kill(first, 'SIGKILL');
  await until(() => watchdog.pid !== first, 'another watchdog has started');
  const sleeper = startSleeper();
  watchdog.guard(sleeper.pid);
  t.true(existsSync(mine));
  watchdog.close();
  await until(() => !existsSync(mine), 'the folder is gone');
  t.false(isAlive(sleeper.pid));
  t.true(existsSync(other));
});

test.serial(
  'a watchdog leaves a folder alone that was made again under the name of the one that it is removing',
  async (t) => {
    const mine = path.join(folder, 'again');
    mkdirSync(path.join(mine, 'below'), { recursive: true });
    // What takes long to be removed.
    for (let index = 0; index < 5000; index++) writeFileSync(path.join(mine, 'below', String(index)), '');
    const watchdog = new Watchdog(mine);
    const pid = watchdog.pid ?? 0;
    watchdog.close();
    await until(() => !existsSync(mine), 'the removal has begun');
    mkdirSync(path.join(mine, 'storage'), { recursive: true });
    await until(() => !isAlive(pid), 'the removal is over');
    t.deepEqual(readdirSync(mine), ['storage']);
    t.deepEqual(
      readdirSync(folder).filter((name) => name.includes('removed')),
      [],
    );
  },
);

test.serial('a watchdog kills what it guards when its holder dies by kill -9', async (t) => {
  const program = `
    import { startProcess, Watchdog } from '@mutirao/runtime/processes';
    const watchdog = new Watchdog();
    const { pid } = startProcess({ command: 'sleep', args: ['600'], onExit: () => {} });
    watchdog.guard(pid);
    process.stdout.write(pid + '\\n');
    setInterval(() => {}, 1000);`;
  const output = path.join(folder, 'holder');
  const ended = Promise.withResolvers<ProcessExit>();
  const holder = startProcess({
    command: process.execPath,
    args: ['--input-type=module', '-e', program],
    cwd: process.cwd(),
    stdout: { kind: 'file', path: output },
    stderr: { kind: 'inherit' },
    onExit: ended.resolve,
  });
  await until(() => readFileSync(output, 'utf8').endsWith('\n'), 'the holder has started its process');
  const sleeper = Number(readFileSync(output, 'utf8'));
  t.true(isAlive(sleeper));
  killGroup(holder.pid ?? 0, 'SIGKILL');
  await ended.promise;
  await until(() => !isAlive(sleeper), 'the guarded process is gone');
});

function startSleeper(): { pid: number; ended: Promise<ProcessExit> } {
  const ended = Promise.withResolvers<ProcessExit>();
  const { pid } = startProcess({ command: 'sleep', args: ['600'], onExit: ended.resolve });
  return { pid: pid ?? 0, ended: ended.promise };
}
