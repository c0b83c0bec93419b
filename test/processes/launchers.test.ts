import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  Launchers,
  ProgramFinder,
  renderAssignments,
  renderCommand,
  runCommand,
  startProcess,
  Watchdog,
  type LaunchTask,
  type ProcessExit,
} from '@mutirao/runtime/processes';
import { isAlive, until } from '@mutirao/testkit';

const folder = mkdtempSync(path.join(tmpdir(), 'mutirao-launchers-'));
test.after.always(() => {
  rmSync(folder, { recursive: true, force: true });
});
const finder = new ProgramFinder('/usr/bin:/bin');

interface RigOptions {
  readonly width?: number;
  readonly usesSubreaper?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Launchers with what their tasks did. */
class Rig {
  readonly ended: {
    slot: number;
    status: number;
    signal: number | undefined;
    processorMs: number | undefined;
    out: string;
    err: string;
  }[] = [];
  readonly watchdog = new Watchdog();
  readonly playpen = mkdtempSync(path.join(folder, 'playpen '));
  private opened: Launchers | undefined;

  static async open(t: ExecutionContext, shell: string, options: RigOptions = {}): Promise<Rig> {
    const rig = new Rig();
    await rig.#open(shell, options);
    t.teardown(() => {
      rig.launchers.close();
      rig.watchdog.close();
    });
    return rig;
  }

  get launchers(): Launchers {
    return this.opened!;
  }

  async #open(shell: string, { width = 1, usesSubreaper = true, environment = {} }: RigOptions): Promise<void> {
    this.opened = await Launchers.open({
      folder: mkdtempSync(path.join(folder, "it's ")),
      width,
      shell,
      usesSubreaper,
      watchdog: this.watchdog,
      environment: { PATH: '/usr/bin:/bin', PROC: 'me@here', ...environment },
      onEnded: (slot, { status, signal, processorMs, standardOutput, standardError }) => {
        this.ended.push({ slot, status, signal, processorMs, out: text(standardOutput), err: text(standardError) });
      },
    });
  }

  start(
    line: string,
    variables: Record<string, string> = {},
    { slot = 0, ...more }: Partial<LaunchTask> & { readonly slot?: number } = {},
  ): void {
    this.launchers.launch(slot, {
      folder: this.playpen,
      line,
      command: renderCommand(line, (name) => finder.find(name)),
      environment: renderAssignments(variables),
      exports: `STORAGE=/st`,
      ...more,
    });
  }

  async run(
    line: string,
    variables: Record<string, string> = {},
    more: Partial<LaunchTask> = {},
  ): Promise<Rig['ended'][number]> {
    const count = this.ended.length;
    this.start(line, variables, more);
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
    t.is(
      (await rig.run('echo "$TASK-$NOTE-$STORAGE-$PROC"', { TASK: '7', NOTE: "it's * 2" })).out,
      "7-it's * 2-/st-me@here\n",
    );
    t.is((await rig.run('echo "$TASK-$NOTE"')).out, '-\n');
  });

  test.serial(`${shell}: a task holds no file of the launcher and reads nothing`, async (t) => {
    const rig = await Rig.open(t, shell);
    const script = 'cd /proc/self/fd; for f in [0-9]*; do [ -e $f ] && echo $f; done; cat';
    const plain = await runCommand({ command: '/bin/sh', args: ['-c', script], deadlineMs: 60_000 });
    t.is((await rig.run(script)).out, plain.stdout.toString());
    t.is(
      (await rig.run('/bin/ls /proc/self/fd')).out,
      (await runCommand({ command: '/bin/ls', args: ['/proc/self/fd'], deadlineMs: 60_000 })).stdout.toString(),
    );
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

  test.serial(
    `${shell}: SIGKILL ends a task that ignores all else, with all it started, and the slot goes on`,
    async (t) => {
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
    },
  );

  test.serial(`${shell}: a task that kills its launcher ends, and the slot goes on`, async (t) => {
    const rig = await Rig.open(t, shell);
    t.is((await rig.run('echo $$ >pid; kill -9 $PPID; sleep 600')).status, 137);
    await until(() => !isAlive(readPid(path.join(rig.playpen, 'pid'))), 'the task is gone too');
    t.is((await rig.run('exit 4')).status, 4);
  });

  for (const usesSubreaper of [true, false]) {
    const how = usesSubreaper ? 'as a subreaper' : 'as an ordinary process';

    test.serial(
      `${shell} ${how}: what a task left behind is ended before its output is read, and writes into no other's`,
      async (t) => {
        const rig = await Rig.open(t, shell, { usesSubreaper });
        const end = await rig.run(
          '(until [ -e go ]; do sleep 0.01; done; echo ghost; echo ghost >&2) & echo $! >left; echo own',
        );
        t.like(end, { status: 0, out: 'own\n', err: '' });
        t.false(isAlive(readPid(path.join(rig.playpen, 'left'))));
        t.like(await rig.run('touch go; sleep 0.2; echo own'), { status: 0, out: 'own\n', err: '' });
      },
    );

    test.serial(
      `${shell} ${how}: what left its group, its parent and its environment writes into no other's output`,
      async (t) => {
        const rig = await Rig.open(t, shell, { usesSubreaper });
        const end = await rig.run(
          `setsid env -i /bin/sh -c 'echo $$ >away; while [ ! -e ghost ]; do /bin/sleep 0.01; done; echo GHOST; ` +
            `echo GHOST >&2; exec /bin/sleep 600' & while [ ! -s away ]; do sleep 0.01; done`,
        );
        t.like(end, { status: 0, out: '', err: '' });
        const away = readPid(path.join(rig.playpen, 'away'));
        t.is(isAlive(away), !usesSubreaper);
        t.like(await rig.run('touch ghost; sleep 0.3; echo own'), { status: 0, out: 'own\n', err: '' });
        await until(() => !isAlive(away), 'a pipe without a reader has ended it');
      },
    );

    test.serial(
      `${shell} ${how}: what left its group by setsid is ended when its task has ended, and not before`,
      async (t) => {
        const rig = await Rig.open(t, shell, { usesSubreaper });
        const pid = path.join(rig.playpen, 'away');
        rig.start(`setsid sh -c 'echo $$ >away; exec sleep 600' & while [ ! -e go ]; do sleep 0.01; done`);
        await until(() => readPid(pid) > 0, 'it has left');
        rig.launchers.sweep();
        t.true(isAlive(readPid(pid)));
        writeFileSync(path.join(rig.playpen, 'go'), '');
        await until(() => rig.ended.length === 1, 'the task ended');
        t.false(isAlive(readPid(pid)));
      },
    );
  }

  test.serial(`${shell}: nothing that a task started is left when its files are read`, async (t) => {
    const rig = await Rig.open(t, shell, { usesSubreaper: false });
    await rig.run('nohup sleep 600 >/dev/null 2>&1 & echo $! >left', {}, { leavesFiles: true });
    t.false(isAlive(readPid(path.join(rig.playpen, 'left'))));
  });

  test.serial(`${shell}: a daemon that has overwritten its environment is ended with its task`, async (t) => {
    const rig = await Rig.open(t, shell);
    await rig.run(
      `setsid env -i /bin/sh -c 'echo $$ >away; exec /bin/sleep 600 >/dev/null 2>&1' & while [ ! -s away ]; do ` +
        'sleep 0.01; done',
    );
    t.false(isAlive(readPid(path.join(rig.playpen, 'away'))));
  });

  test.serial(`${shell}: SIGKILL reaches also what left the group and its environment`, async (t) => {
    const rig = await Rig.open(t, shell);
    rig.start(`setsid env -i /bin/sh -c 'echo $$ >away; exec /bin/sleep 600 >/dev/null 2>&1' & sleep 600`);
    const pid = path.join(rig.playpen, 'away');
    await until(() => readPid(pid) > 0, 'it has left');
    rig.launchers.signal(0, 'SIGKILL');
    await until(() => rig.ended.length === 1, 'the task ended');
    await t.notThrowsAsync(until(() => !isAlive(readPid(pid)), 'the other is gone'));
  });

  test.serial(`${shell}: opening /dev/stdout or /dev/stderr again loses nothing`, async (t) => {
    const rig = await Rig.open(t, shell);
    t.is(
      (await rig.run('echo one; echo two >/dev/stdout; echo three; echo four >>/proc/self/fd/1')).out,
      'one\ntwo\nthree\nfour\n',
    );
    t.like(await rig.run('echo one >&2; echo two | tee /dev/stderr; echo three >/dev/stderr'), {
      out: 'two\n',
      err: 'one\ntwo\nthree\n',
    });
    t.is((await rig.run('exec >&- 2>&-; echo lost; exit 3')).status, 3);
  });

  test.serial(
    `${shell}: head and tail of a long stream are kept, with a line between them that says what is missing`,
    async (t) => {
      const rig = await Rig.open(t, shell);
      const { out, err } = await rig.run('echo begun; seq 1 100000; echo over; echo failed >&2', {}, { keptMax: 1000 });
      const [, head = '', cut = '0', written = '0', tail = ''] =
        /^([^]*)\[mutirao: (\d+) of (\d+) bytes were cut here\]\n([^]*)$/.exec(out) ?? [];
      t.true(head.startsWith('begun\n1\n2\n'));
      t.true(tail.endsWith('99999\n100000\nover\n'));
      t.is(Number(written), 'begun\nover\n'.length + 588_895);
      t.is(Number(cut), Number(written) - head.length - tail.length);
      t.is(err, 'failed\n');
    },
  );

  test.serial(
    `${shell}: an exit status differs from a signal where the system's language is not installed`,
    async (t) => {
      const rig = await Rig.open(t, shell, { environment: { LC_ALL: 'xx_YY.UTF-8' } });
      t.like(await rig.run('exit 137'), { status: 137, signal: undefined });
      t.like(await rig.run('kill -9 $$'), { status: 137, signal: 9 });
    },
  );

  test.serial(`${shell}: an exit status differs from a signal`, async (t) => {
    const rig = await Rig.open(t, shell);
    t.like(await rig.run('exit 137'), { status: 137, signal: undefined });
    t.like(await rig.run('kill -9 $$'), { status: 137, signal: 9 });
    t.like(await rig.run('exit 139'), { status: 139, signal: undefined });
    t.like(await rig.run('kill -SEGV $$'), { status: 139, signal: 11 });
    t.like(await rig.run('exit 143'), { status: 143, signal: undefined });
    t.like(await rig.run('kill -9 $PPID; sleep 600'), { status: 137, signal: 9 });
  });

  test.serial(`${shell}: what a running task started is counted, and left alone by a sweep`, async (t) => {
    const rig = await Rig.open(t, shell);
    rig.start('sleep 600 & echo $! >mine; head -c 5000 /dev/zero; wait');
    await until(() => rig.launchers.outputBytes(0) === 5000, 'its output is read');
    const usage = rig.launchers.sweep();
    t.true(isAlive(readPid(path.join(rig.playpen, 'mine'))));
    t.is(usage.length, 1);
    t.is(usage[0]?.outputBytes, 5000);
    t.true((usage[0]?.residentBytes ?? 0) > 100_000);
  });

  test.serial(`${shell}: a task is kept to its processors, and the next one to its own`, async (t) => {
    const rig = await Rig.open(t, shell);
    const show = 'grep Cpus_allowed_list /proc/self/status | cut -f2';
    const all = (await rig.run(show)).out;
    t.is((await rig.run(show, {}, { pin: 'taskset -cp 0' })).out, '0\n');
    t.is((await rig.run(show, {}, { pin: 'taskset -cp 0-1' })).out, all === '0\n' ? all : '0-1\n');
    t.is((await rig.run(show, {}, { pin: 'taskset -cp 0' })).out, '0\n');
    t.is((await rig.run(show, {}, { pin: 'taskset -cp 9999' })).out, '0\n', 'one that fails changes nothing');
    await rig.run('kill -9 $PPID; sleep 600');
    t.is((await rig.run(show, {}, { pin: 'taskset -cp 0' })).out, '0\n', 'after another shell took over');
  });

  test.serial(`${shell}: the processor time of a task is counted with that of what it started`, async (t) => {
    const rig = await Rig.open(t, shell);
    const busy = 'end=$(($(date +%s) + 2)); while [ $(date +%s) -lt $end ]; do :; done';
    const { processorMs = 0 } = await rig.run(`(${busy}) & (${busy}) & wait`);
    t.true(processorMs > 500, `${processorMs} ms of two busy shells`);
    const idle = await rig.run('sleep 0.3');
    t.true((idle.processorMs ?? Infinity) < 300, `${idle.processorMs} ms of one that sleeps`);
    rig.start(`${busy}; sleep 600`);
    await until(() => (rig.launchers.sample(0)?.processorMs ?? 0) > 300, 'a sample of a task that runs');
  });

  test.serial(`${shell}: a sweep lets a shell go on that a task has stopped`, async (t) => {
    const rig = await Rig.open(t, shell);
    rig.start('kill -STOP $PPID; echo done');
    await until(() => (rig.launchers.sweep(), rig.ended.length === 1), 'the end of a task that stopped its launcher');
    t.like(rig.ended[0], { status: 0, out: 'done\n' });
    t.is((await rig.run('echo next')).out, 'next\n');
  });

  test.serial(`${shell}: a watchdog ends also what left its group by setsid, whatever its environment`, async (t) => {
    const rig = await Rig.open(t, shell);
    const names = ['marked', 'bare'];
    rig.start(
      `setsid sh -c 'echo $$ >marked; exec sleep 600' & setsid env -i /bin/sh -c 'echo $$ >bare; exec ` +
        `/bin/sleep 600' & sleep 600`,
    );
    await until(() => names.every((name) => readPid(path.join(rig.playpen, name)) > 0), 'both have left');
    rig.watchdog.close();
    await t.notThrowsAsync(
      until(() => names.every((name) => !isAlive(readPid(path.join(rig.playpen, name)))), 'both are ended'),
    );
  });
}

test.serial(
  'processes that a task left behind as another user, which we may not signal, hold up no later task',
  async (t) => {
    const rig = await Rig.open(t, '/bin/sh');
    const { kill } = process;
    process.kill = (pid, signal) => {
      if (pid > 0 && signal === 'SIGKILL') throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
      return kill.call(process, pid, signal);
    };
    t.teardown(() => {
      process.kill = kill;
    });
    t.is((await rig.run('sleep 600 & echo $! >left')).status, 0);
    const from = performance.now();
    for (let count = 0; count < 3; count++) t.is((await rig.run('echo next')).out, 'next\n');
    t.true(performance.now() - from < 2000);
    kill(readPid(path.join(rig.playpen, 'left')), 'SIGKILL');
  },
);

test.serial('a shell that is not there breaks tasks and nothing else', async (t) => {
  const rig = await Rig.open(t, path.join(folder, 'no-shell'));
  t.is((await rig.run('/bin/true')).status, -1);
  t.is((await rig.run('/bin/true')).status, -1);
});

test.serial('slots run at the same time', async (t) => {
  const rig = await Rig.open(t, '/bin/sh', { width: 3 });
  for (const slot of [0, 1, 2])
    rig.start(`echo ${slot} >>order; until [ "$(wc -l <order)" = 3 ]; do sleep 0.01; done; exit ${slot}`, {}, { slot });
  await until(() => rig.ended.length === 3, 'all have met');
  t.deepEqual(
    rig.ended.map(({ slot, status }) => slot - status),
    [0, 0, 0],
  );
});

test.serial('nothing runs on when the holder of launchers dies by kill -9', async (t) => {
  const program = `
    import { Launchers, Watchdog } from '@mutirao/runtime/processes';
    const launchers = await Launchers.open({ folder: process.argv[1], width: 1, environment: { PATH: '/usr/bin:/bin' }, watchdog: new Watchdog(), onEnded: () => {} });
    launchers.launch(0, { folder: process.argv[2], line: '', command: "/bin/sh -c 'sleep 600 & echo $! >pid; trap : TERM HUP; wait'", environment: '', exports: 'X=1' });`;
  const playpen = mkdtempSync(path.join(folder, 'killed-'));
  const ended = Promise.withResolvers<ProcessExit>();
  const holder = startProcess({
    command: process.execPath,
    args: ['--input-type=module', '-e', program, path.join(folder, 'killed-launchers'), playpen],
    cwd: process.cwd(),
    stderr: { kind: 'inherit' },
    onExit: ended.resolve,
  });
  await until(() => readPid(path.join(playpen, 'pid')) > 0, 'the task runs');
  t.true(isAlive(readPid(path.join(playpen, 'pid'))));
  process.kill(holder.pid!, 'SIGKILL');
  await ended.promise;
  await until(() => !isAlive(readPid(path.join(playpen, 'pid'))), 'its task is gone');
});
