// Machines of a lab behind a real sshd: an agent that is started there, that outlives connection and provider, and
// leaves nothing behind.
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { Grid, isAlive, SshServer, taskGroup, until } from '@mutirao/testkit';

const commandLine = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

interface Kept {
  readonly machine_id: string;
  readonly status: string;
  readonly reason: string;
}

class Rig {
  readonly host: SshServer;
  readonly grid: Grid;

  private constructor(host: SshServer, grid: Grid) {
    this.host = host;
    this.grid = grid;
  }

  static async start(t: ExecutionContext): Promise<Rig> {
    const host = new SshServer();
    const grid = await Grid.start({
      machines: [1],
      agentArgs: ['--attribute', 'mine=no'],
      providerArgs: ['--agent-grace', '20s'],
    });
    const rig = new Rig(host, grid);
    t.teardown(async () => {
      const pids = rig.pids();
      await grid.stop();
      for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
      await host.stop();
    });
    await host.start();
    // Stands for an installed program.
    writeFileSync(path.join(host.home, 'mutirao'), `#!/bin/sh\nexec '${process.execPath}' '${commandLine}' "$@"\n`);
    chmodSync(path.join(host.home, 'mutirao'), 0o755);
    return rig;
  }

  async mutirao(
    args: readonly string[],
  ): Promise<{ readonly status: number; readonly out: string; readonly err: string }> {
    const { status, stdout, stderr } = await runCommand({
      command: process.execPath,
      args: [commandLine, ...args, '--json', '--home', this.grid.home, '--broker', this.grid.broker.address],
      deadlineMs: 60_000,
      outputBytesMax: 1024 * 1024,
    });
    return { status, out: stdout.toString(), err: stderr.toString() };
  }

  async kept(): Promise<Kept | undefined> {
    return (JSON.parse((await this.mutirao(['machine', 'enrolled'])).out) as Kept[])[0];
  }

  get folder(): string {
    return path.join(this.host.home, '.mutirao/machines/lab-pc');
  }

  /** The agent's process. */
  pids(): number[] {
    const file = path.join(this.folder, 'agent.pid');
    return existsSync(file) ? [Number(readFileSync(file, 'utf8').split(' ')[0])] : [];
  }

  add(...more: readonly string[]): ReturnType<Rig['mutirao']> {
    return this.mutirao([
      'machine',
      'add',
      '--ssh',
      'front',
      '--name',
      'pc',
      '--processors',
      '2',
      '--attribute',
      'mine=yes',
      '--ssh-option',
      `-F${this.host.configPath}`,
      ...more,
    ]);
  }

  addInstalled(): ReturnType<Rig['mutirao']> {
    return this.add('--remote-command', path.join(this.host.home, 'mutirao'));
  }

  async untilRunning(): Promise<void> {
    let last: Kept | undefined;
    await until(
      async () => {
        last = await this.kept();
        return last?.status === 'running';
      },
      'the agent is attached',
      30_000,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; ${JSON.stringify(last)}`);
    });
  }
}

const onPc = { requirements: 'mine == yes' };

test('a PC behind ssh works for the grid through one connection, and leaves nothing when it is removed', async (t) => {
  const rig = await Rig.start(t);
  const added = await rig.addInstalled();
  t.is(added.status, 0, added.err);
  await rig.untilRunning();
  const jobId = await rig.grid.client.submit([
    taskGroup('pwd; echo "$HOME"; head -c 300000 /dev/zero | wc -c', 4, onPc),
  ]);
  t.is((await rig.grid.client.waitEnded(jobId)).finishedCount, 4);
  const [folder, home] = (await rig.grid.client.output(jobId, 0)).split('\n');
  t.true(folder?.startsWith(rig.folder), folder);
  t.is(home, rig.host.home);
  t.is(rig.host.sessions().length, 1);
  const [pid = 0] = rig.pids();
  const reported = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  t.notRegex(reported, /invitation-/, 'the invitation is in no arguments');
  t.notRegex(readFileSync(`/proc/${pid}/environ`, 'utf8'), /invitation-|MUTIRAO_CREDENTIAL/, 'and in no environment');
  t.is((await rig.mutirao(['machine', 'remove', 'pc'])).status, 0);
  t.false(isAlive(pid));
  t.deepEqual(readdirSync(path.join(rig.host.home, '.mutirao/machines')), []);
  await until(() => rig.host.sessions().length === 0, 'the connection is closed');
});

test('an agent goes on while the connection is lost, and while its provider is killed, and runs nothing twice', async (t) => {
  const rig = await Rig.start(t);
  await rig.addInstalled();
  await rig.untilRunning();
  const [pid] = rig.pids();
  const [runs, go] = [path.join(rig.host.home, 'runs'), path.join(rig.host.home, 'go')];
  const jobId = await rig.grid.client.submit(
    [taskGroup(`echo run >>${runs}; until [ -e ${go} ]; do sleep 0.05; done; echo done`, 2, onPc)],
    { replicasMax: 1 },
  );
  await until(() => existsSync(runs) && readFileSync(runs, 'utf8') === 'run\nrun\n', 'both tasks run');
  rig.host.cut();
  await until(async () => (await rig.kept())?.status !== 'running', 'the loss is noticed');
  await rig.untilRunning();
  const [lab] = rig.grid.providers;
  await lab?.kill('SIGKILL');
  await lab?.start();
  await rig.untilRunning();
  writeFileSync(go, '');
  t.is((await rig.grid.client.waitEnded(jobId)).finishedCount, 2);
  t.deepEqual(rig.pids(), [pid]);
  t.is(readFileSync(runs, 'utf8'), 'run\nrun\n', lab?.log.slice(-40).join('\n'));
});

test('a PC that cannot be had says why in the words of ssh or of the program, and comes when it can', async (t) => {
  const rig = await Rig.start(t);
  await rig.add('--remote-command', '/nowhere/mutirao');
  await until(async () => (await rig.kept())?.status === 'waiting', 'it waits');
  t.regex(
    (await rig.kept())?.reason ?? '',
    /MUT_LAUNCH_FAILED front: the agent could not be started: .*(not found|No such file)/,
  );
  await rig.mutirao(['machine', 'remove', 'pc']);
  await rig.host.kill();
  await rig.addInstalled();
  await until(async () => (await rig.kept())?.status === 'waiting', 'it waits');
  t.regex((await rig.kept())?.reason ?? '', /MUT_UNREACHABLE ssh front: .*(refused|closed)/i);
  await rig.host.start();
  await rig.untilRunning();
});
