import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Launchers, ProgramFinder, renderAssignments, renderCommand, runCommand, startProcess, Watchdog, type ProcessExit } from '@mutirao/runtime/processes';
import { isAlive, until } from '@mutirao/testkit';

const folder = mkdtempSync(path.join(tmpdir(), 'mutirao-launchers-'));
test.after.always(() => { rmSync(folder, { recursive: true, force: true }); });
const finder = new ProgramFinder('/usr/bin:/bin');

/** Launchers with what their tasks did. */
class Rig {
  readonly ended: { slot: number; status: number; out: string; err: string }[] = [];
  readonly watchdog = new Watchdog();
  readonly playpen = mkdtempSync(path.join(folder, 'playpen '));
  private opened: Launchers | undefined;

  static async open(t: ExecutionContext, shell: string, width = 1): Promise<Rig> {
    const rig = new Rig();
    await rig.#open(shell, width);
    t.teardown(() => { rig.launchers.close(); rig.watchdog.close(); });
    return rig;
  }

  get launchers(): Launchers {
    return this.opened!;
  }

  async #open(shell: string, width: number): Promise<void> {
    this.opened = await Launchers.open({
      folder: mkdtempSync(path.join(folder, "it's ")), width, shell, watchdog: this.watchdog,
      environment: { PATH: '/usr/bin:/bin', PROC: 'me@here' },
      onEnded: (slot, status) => {
        const output = this.launchers.readOutput(slot, 1000);
        this.ended.push({ slot, status, out: text(output.standardOutput), err: text(output.standardError) });
      },
    });
  }

  start(line: string, variables: Record<string, string> = {}, slot = 0): void {
    this.launchers.launch(slot, {
      folder: this.playpen, line, command: renderCommand(line, (name) => finder.find(name)), environment: renderAssignments(variables), exports: `STORAGE=/st`,
    });
  }

  async run(line: string, variables: Record<string, string> = {}): Promise<{ status: number; out: string; err: string }> {
    const count = this.ended.length;
    this.start(line, variables);
    await until(() => this.ended.length > count, `the end of ${line.slice(0, 60)}`);
    return this.ended.at(-1)!;
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

function readPid(file: string): number {
  return existsSync(file) ? Number(readFileSync(file, 'utf8').trim()) : 0;
}

for (const shell of ['/bin/sh', '/bin/bash']) {
  test.serial(`${shell}: tasks give their status and output, one after the other`, async (t) => {
    const rig = await Rig.open(t, shell);
    t.like(await rig.run('/bin/true'), { status: 0, out: '', err: '' });
    t.like(await rig.run('echo out; echo err >&2; exit 3'), { status: 3, out: 'out\n', err: 'err\n' });
    t.like(await rig.run('ls -d .'), { status: 0, out: '.\n', err: '' });
    t.is((await rig.run('kill -9 $$')).status, 137);
    t.is((await rig.run('pwd')).out, `${rig.playpen}\n`);
  });

  test.serial(`${shell}: a task sees its variables and nothing of the one before`, async (t) => {
    const rig = await Rig.open(t, shell);
    t.is((await rig.run('echo "$TASK-$NOTE-$STORAGE-$PROC"', { TASK: '7', NOTE: "it's * 2" })).out, "7-it's * 2-/st-me@here\n");
    t.is((await rig.run('echo "$TASK-$NOTE"')).out, '-\n');
  });

  test.serial(`${shell}: a task holds no file of the launcher and reads nothing`, async (t) => {
    const rig = await Rig.open(t, shell);
    const script = 'cd /proc/self/fd; for f in [0-9]*; do [ -e $f ] && echo $f; done; cat';
    const plain = await runCommand({ command: '/bin/sh', args: ['-c', script], deadlineMs: 60_000 });
    t.is((await rig.run(script)).out, plain.stdout.toString());
    t.is((await rig.run('/bin/ls /proc/self/fd')).out, (await runCommand({ command: '/bin/ls', args: ['/proc/self/fd'], deadlineMs: 60_000 })).stdout.toString());
  });

  test.serial(`${shell}: a command that is not there ends with 127 and the shell's words`, async (t) => {
    const rig = await Rig.open(t, shell);
    for (const line of ['no-such-program', '/no/such/program', 'no-such-program | cat; exit 127']) {
      const end = await rig.run(line);
      t.is(end.status, 127, line);
      t.regex(end.err, /not found|No such file/);
    }
  });

  test.serial(`${shell}: a line longer than a pipe holds runs all the same`, async (t) => {
    const rig = await Rig.open(t, shell);
    const end = await rig.run(`echo $TASK; : ${'x'.repeat(200_000)}; exit 5`, { TASK: '9' });
    t.like(end, { status: 5, out: '9\n' });
  });

  test.serial(`${shell}: a task whose folder is gone is not run`, async (t) => {
    const rig = await Rig.open(t, shell);
    rmSync(rig.playpen, { recursive: true });
    t.is((await rig.run('/bin/true')).status, -1);
    mkdirSync(rig.playpen);
    t.is((await rig.run('/bin/true')).status, 0);
  });

  test.serial(`${shell}: a polite signal ends the task and leaves the launcher`, async (t) => {
    const rig = await Rig.open(t, shell);
    rig.start('echo $$ >pid; exec sleep 600');
    await until(() => readPid(path.join(rig.playpen, 'pid')) > 0, 'the task runs');
    rig.launchers.signal(0, 'SIGTERM');
    await until(() => rig.ended.length === 1, 'the task ended');
    t.is(rig.ended[0]?.status, 143);
    t.is((await rig.run('exit 4')).status, 4);
  });

  test.serial(`${shell}: SIGKILL ends a task that ignores all else, with all it started, and the slot goes on`, async (t) => {
    const rig = await Rig.open(t, shell);
    rig.start(`echo begun; trap '' TERM; sleep 600 & echo $! >pid; wait; wait; sleep 600`);
    await until(() => readPid(path.join(rig.playpen, 'pid')) > 0, 'the task runs');
    rig.launchers.signal(0, 'SIGTERM');
    rig.launchers.signal(0, 'SIGKILL');
    await until(() => rig.ended.length === 1, 'the task ended');
    t.like(rig.ended[0], { status: 137, out: 'begun\n' });
    await until(() => !isAlive(readPid(path.join(rig.playpen, 'pid'))), 'its child is gone');
    for (const status of [4, 5]) t.is((await rig.run(`exit ${status}`)).status, status);
    rig.start('sleep 600');
    rig.launchers.signal(0, 'SIGKILL');
    await until(() => rig.ended.length === 4, 'a second kill');
    t.is((await rig.run('exit 6')).status, 6);
  });

  test.serial(`${shell}: a task that kills its launcher ends, and the slot goes on`, async (t) => {
    const rig = await Rig.open(t, shell);
    t.is((await rig.run('echo $$ >pid; kill -9 $PPID; sleep 600')).status, 137);
    await until(() => !isAlive(readPid(path.join(rig.playpen, 'pid'))), 'the task is gone too');
    t.is((await rig.run('exit 4')).status, 4);
  });

  test.serial(`${shell}: what an ended task left behind is swept, what a running one started is not`, async (t) => {
    const rig = await Rig.open(t, shell);
    await rig.run('sleep 600 & echo $! >left; sleep 0.05');
    const left = readPid(path.join(rig.playpen, 'left'));
    t.true(isAlive(left));
    rig.start('sleep 600 & echo $! >mine; head -c 5000 /dev/zero; wait');
    await until(() => readPid(path.join(rig.playpen, 'mine')) > 0, 'the second task runs');
    await until(() => {
      rig.launchers.sweep();
      return !isAlive(left);
    }, 'the first one is swept');
    t.true(isAlive(readPid(path.join(rig.playpen, 'mine'))));
    const usage = rig.launchers.sweep();
    t.is(usage.length, 1);
    t.is(usage[0]?.outputBytes, 5000);
    t.true((usage[0]?.residentBytes ?? 0) > 100_000);
  });

  test.serial(`${shell}: what left its group by setsid is swept when its task has ended, and not before`, async (t) => {
    const rig = await Rig.open(t, shell);
    const pid = path.join(rig.playpen, 'away');
    rig.start(`setsid sh -c 'echo $$ >away; exec sleep 600' & while [ ! -e go ]; do sleep 0.01; done`);
    await until(() => readPid(pid) > 0, 'it has left');
    rig.launchers.sweep();
    t.true(isAlive(readPid(pid)));
    writeFileSync(path.join(rig.playpen, 'go'), '');
    await until(() => rig.ended.length === 1, 'the task ended');
    t.true(isAlive(readPid(pid)));
    rig.launchers.sweep();
    await until(() => !isAlive(readPid(pid)), 'it is swept');
  });

  test.serial(`${shell}: a watchdog ends also what left its group by setsid`, async (t) => {
    const rig = await Rig.open(t, shell);
    const pid = path.join(rig.playpen, 'away');
    await rig.run(`setsid sh -c 'echo $$ >away; exec sleep 600' & while [ ! -s away ]; do sleep 0.01; done`);
    t.true(isAlive(readPid(pid)));
    rig.watchdog.close();
    await until(() => !isAlive(readPid(pid)), 'it is ended');
  });
}

test.serial('a shell that is not there breaks tasks and nothing else', async (t) => {
  const rig = await Rig.open(t, path.join(folder, 'no-shell'));
  t.is((await rig.run('/bin/true')).status, -1);
  t.is((await rig.run('/bin/true')).status, -1);
});

test.serial('slots run at the same time', async (t) => {
  const rig = await Rig.open(t, '/bin/sh', 3);
  for (const slot of [0, 1, 2]) rig.start(`echo ${slot} >>order; until [ "$(wc -l <order)" = 3 ]; do sleep 0.01; done; exit ${slot}`, {}, slot);
  await until(() => rig.ended.length === 3, 'all have met');
  t.deepEqual(rig.ended.map(({ slot, status }) => slot - status), [0, 0, 0]);
});

test.serial('nothing runs on when the holder of launchers dies by kill -9', async (t) => {
  const program = `
    import { Launchers, Watchdog } from '@mutirao/runtime/processes';
    const launchers = await Launchers.open({ folder: process.argv[1], width: 1, environment: { PATH: '/usr/bin:/bin' }, watchdog: new Watchdog(), onEnded: () => {} });
    launchers.launch(0, { folder: process.argv[2], line: '', command: "/bin/sh -c 'sleep 600 & echo $! >pid; trap : TERM HUP; wait'", environment: '', exports: 'X=1' });`;
  const playpen = mkdtempSync(path.join(folder, 'killed-'));
  const ended = Promise.withResolvers<ProcessExit>();
  const holder = startProcess({
    command: process.execPath, args: ['--input-type=module', '-e', program, path.join(folder, 'killed-launchers'), playpen], cwd: process.cwd(),
    stderr: { kind: 'inherit' }, onExit: ended.resolve,
  });
  await until(() => readPid(path.join(playpen, 'pid')) > 0, 'the task runs');
  t.true(isAlive(readPid(path.join(playpen, 'pid'))));
  process.kill(holder.pid!, 'SIGKILL');
  await ended.promise;
  await until(() => !isAlive(readPid(path.join(playpen, 'pid'))), 'its task is gone');
});
