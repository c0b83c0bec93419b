// Sites behind a real sshd: the executable that travels, the one connection, and what becomes of a bag when any part of it breaks.
import { execFile } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { Grid, isAlive, SlurmServer, SshServer, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

const root = fileURLToPath(new URL('../../', import.meta.url));
const executable = `${root}dist/mutirao`;

interface Said { readonly status: number; readonly out: string; readonly err: string }
interface Shown { readonly status: string; readonly address: string; readonly provider_pid: number; readonly program_sha256: string; readonly outdated: boolean; readonly detail: string }

/** A broker at home, a host behind sshd, and the command line. */
class World {
  readonly host: SshServer;
  readonly grid: Grid;
  /** What tasks write to, at the site. */
  readonly marks: string;

  constructor(host: SshServer, grid: Grid, marks: string) {
    this.host = host;
    this.grid = grid;
    this.marks = marks;
  }

  static async start(t: ExecutionContext, env: Record<string, string> = {}): Promise<World> {
    const host = new SshServer({ env: { PATH: '/usr/bin:/bin', ...env } });
    const grid = await Grid.start({});
    t.teardown(async () => {
      await Promise.all(readdirSync(grid.home).includes('sites') ? readdirSync(join(grid.home, 'sites')).map((name) => killKeeper(grid.home, name)) : []);
      await grid.stop();
      await killAllOf(host.home);
      await host.stop();
    });
    await host.start();
    return new World(host, grid, temporaryFolder(t));
  }

  run(...words: string[]): Promise<Said> {
    return new Promise((resolve) => {
      execFile(process.execPath, [`${root}packages/cli/bin/mutirao.js`, ...words], { env: { ...process.env, MUTIRAO_HOME: this.grid.home }, timeout: 60_000 }, (error, out, err) => {
        resolve({ status: error === null ? 0 : Number(error.code ?? 99), out, err });
      });
    });
  }

  add(name: string, ...words: string[]): Promise<Said> {
    return this.run('site', 'add', name, '--ssh-option', `-F${this.host.configPath}`, ...words);
  }

  async shown(name = 'uni'): Promise<Shown> {
    return JSON.parse((await this.run('site', 'show', name, '--json')).out) as Shown;
  }

  async untilConnected(): Promise<Shown> {
    await until(async () => stateOf(this.grid.home, 'uni').status === 'connected', 'the site is connected');
    return this.shown();
  }

  /** A bag each of whose tasks leaves a mark at the site as often as it runs. */
  submit(count: number): Promise<number> {
    return this.grid.client.submit([taskGroup(`echo x >>'${this.marks}'/{}; sleep 0.4; echo out-{}`, count)], { replicasMax: 1 });
  }

  markCount(): number {
    return readdirSync(this.marks).length;
  }

  /** All tasks succeeded, and what each printed is at home. */
  async hasAll(t: ExecutionContext, jobId: number, count: number): Promise<void> {
    const job = await this.grid.client.waitEnded(jobId, 30_000);
    t.is(job.finishedCount, count);
    for (const index of [0, Math.floor(count / 2), count - 1]) t.is(await this.grid.client.output(jobId, index), `out-${index}\n`);
  }
}

test.before((t) => {
  if (!existsSync(executable)) t.fail('dist/mutirao is not there; scripts/pack makes it');
});

test.serial('a bag goes on while the connection is away, and every result comes home once', async (t) => {
  const world = await World.start(t);
  const added = await world.add('uni', '--ssh', 'front', '--manager', 'embedded', '--processors', '4');
  t.is(added.status, 0, added.err);
  t.is(world.host.sessions().length, 1, 'one connection');
  const count = 40;
  const jobId = await world.submit(count);
  await until(() => world.markCount() >= 6, 'the bag runs');
  await world.host.kill();
  await until(() => stateOf(world.grid.home, 'uni').status === 'waiting', 'the loss is noticed');
  const before = world.markCount();
  await until(() => world.markCount() >= before + 4, 'tasks go on without us');
  t.regex((await world.run('site', 'list')).out, /uni +front +embedded +waiting .*next try in/);
  await world.host.start();
  await world.hasAll(t, jobId, count);
  for (let index = 0; index < count; index += 1) t.is(readFileSync(join(world.marks, String(index)), 'utf8'), 'x\n', `task ${index} ran once`);
  t.is((await world.grid.client.job(jobId)).replicaCount, count);
  t.like(await world.shown(), { status: 'connected', code: '' });
});

test.serial('a provider that is killed, a front-end that restarts and a keeper that is killed cost no result', async (t) => {
  const world = await World.start(t);
  t.is((await world.add('uni', '--ssh', 'inner', '--manager', 'embedded', '--processors', '4')).status, 0);
  const first = await world.shown();
  const jobId = await world.submit(60);
  await until(() => world.markCount() >= 6, 'the bag runs');
  process.kill(first.provider_pid, 'SIGKILL');
  await until(async () => (await world.shown()).provider_pid !== first.provider_pid, 'the provider is started again');
  const second = await world.untilConnected();
  t.is(second.address, first.address);
  // The front-end restarts: all that ran there is gone, and so is every connection.
  await world.host.kill();
  await killAllOf(world.host.home);
  await until(() => !isAlive(second.provider_pid), 'the provider is gone');
  await world.host.start();
  await until(async () => (await world.shown()).provider_pid !== second.provider_pid, 'it is started after the restart');
  const { pid } = stateOf(world.grid.home, 'uni');
  process.kill(pid, 'SIGKILL');
  await until(() => !isAlive(pid), 'the keeper is gone');
  await until(() => world.host.sessions().length === 0, 'its connection goes with it');
  t.is((await world.shown()).status, 'stopped');
  const again = await world.run('site', 'connect');
  t.is(again.status, 0, again.err);
  t.like(await world.shown(), { status: 'connected', address: first.address });
  await world.hasAll(t, jobId, 60);
});

test.serial('another release is carried over, waits for an idle provider, or is told to replace it; then the site is removed', async (t) => {
  const world = await World.start(t);
  const program = join(temporaryFolder(t), 'mutirao');
  copyFileSync(executable, program);
  t.is((await world.add('uni', '--ssh', 'front', '--manager', 'embedded', '--processors', '2', '--program', program)).status, 0);
  const first = await world.shown();
  const jobId = await world.submit(30);
  await until(() => world.markCount() >= 2, 'the bag runs');
  appendFileSync(program, '\n'); // Another file that is as good.
  await killKeeper(world.grid.home, 'uni');
  t.is((await world.run('site', 'connect', 'uni')).status, 0);
  t.like(await world.shown(), { provider_pid: first.provider_pid, program_sha256: first.program_sha256, outdated: true }, 'it has work');
  t.is((await world.run('site', 'connect', 'uni', '--now')).status, 0);
  const second = await world.shown();
  t.not(second.program_sha256, first.program_sha256);
  t.like(second, { status: 'connected', outdated: false, address: first.address });
  t.is(readdirSync(join(world.host.home, '.mutirao', 'programs')).length, 2);
  await world.hasAll(t, jobId, 30);
  const removed = await world.run('site', 'remove', 'uni');
  t.is(removed.status, 0, removed.err);
  await until(() => !isAlive(second.provider_pid), 'the provider is gone');
  t.false(existsSync(join(world.host.home, '.mutirao')));
  t.false(existsSync(join(world.grid.home, 'sites', 'uni')));
  t.is(world.host.sessions().length, 0);
});

test.serial('a Slurm cluster behind ssh runs a bag, its agents coming in at a door of their own with TLS', async (t) => {
  const slurm = await SlurmServer.start({ nodes: 2 });
  t.teardown(() => slurm.stop());
  const world = await World.start(t, slurm.environment);
  const added = await world.add('uni', '--ssh', 'front', '--manager', 'slurm', '--', '--listen-agents', '0.0.0.0:0', '--queue-interval', '1s', '--walltime-max', '5m');
  t.is(added.status, 0, added.err);
  const jobId = await world.submit(8);
  await world.hasAll(t, jobId, 8);
  const machines = (await world.grid.client.ledger(jobId)).map(({ providerId }) => providerId);
  t.deepEqual([...new Set(machines)], ['uni']);
  t.true(existsSync(join(world.host.home, '.mutirao', 'front', 'uni', 'identity', 'host.crt')), 'the site has an identity of its own');
  t.is((await world.run('site', 'remove', 'uni', '--now')).status, 0);
});

test.serial('what cannot be made a site is told in the words of the host, and nothing is left of it', async (t) => {
  const world = await World.start(t);
  const { host } = world;
  const refused = async (pattern: RegExp, ...words: string[]): Promise<void> => {
    const { status, err } = await world.add('bad', ...words);
    t.not(status, 0, words.join(' '));
    t.regex(err, pattern);
    t.deepEqual([existsSync(join(world.grid.home, 'sites', 'bad')), existsSync(join(host.home, '.mutirao'))], [false, false], err);
  };
  await refused(/MUT_SSH_DENIED ssh stranger: .*Permission denied \(publickey\)/, '--ssh', 'stranger', '--manager', 'none');
  await refused(/MUT_SSH_HOST_KEY .*Host key verification failed/, '--ssh', 'front', '--manager', 'none', '--ssh-option', 'UserKnownHostsFile=/dev/null');
  await refused(/MUT_BAD_CONFIG .*unknown option '--heuristc'/, '--ssh', 'front', '--manager', 'none', '--', '--heuristc', 'static');
  await refused(/MUT_BAD_CONFIG .*frobnicate: not found/, '--ssh', 'front', '--manager', 'none', '--setup', 'frobnicate now');
  const strange = join(temporaryFolder(t), 'strange');
  writeFileSync(strange, Buffer.from(readFileSync('/bin/true').toString('latin1').replace('/lib64/ld-linux', '/lib64/ld-nowhe'), 'latin1'));
  await refused(/MUT_SITE_PROGRAM front cannot run the executable: .*not found/, '--ssh', 'front', '--manager', 'none', '--program', strange);
});

test.serial('a full disk there, and a name that another home folder took there, are told', async (t) => {
  const fake = temporaryFolder(t);
  const world = await World.start(t, { PATH: `${fake}:/usr/bin:/bin` });
  writeFileSync(join(fake, 'gzip'), '#!/bin/sh\necho "gzip: stdout: No space left on device" >&2\nexit 1\n', { mode: 0o755 });
  const full = await world.add('uni', '--ssh', 'front', '--manager', 'none');
  t.regex(full.err, /MUT_DISK_FULL the executable cannot be put on front: gzip: stdout: No space left on device/);
  const front = join(world.host.home, '.mutirao', 'front', 'uni');
  mkdirSync(front, { recursive: true });
  writeFileSync(join(front, 'owner'), 'abc ana@elsewhere:/home/ana/.mutirao\n');
  const taken = await world.add('uni', '--ssh', 'front', '--manager', 'none');
  t.regex(taken.err, /MUT_SITE_EXISTS front has a site "uni" of another home folder \(ana@elsewhere:\/home\/ana\/\.mutirao\)/);
  t.true(existsSync(front), 'what is another\'s is left');
});

function stateOf(home: string, name: string): { status: string; pid: number } {
  return JSON.parse(readFileSync(join(home, 'sites', name, 'state.json'), 'utf8')) as { status: string; pid: number };
}

async function killKeeper(home: string, name: string): Promise<void> {
  if (!existsSync(join(home, 'sites', name, 'state.json'))) return;
  const { pid } = stateOf(home, name);
  if (!isAlive(pid)) return;
  process.kill(pid, 'SIGTERM');
  await until(() => !isAlive(pid), 'the keeper is gone');
}

/** Kills every process that has this folder as its HOME: all that runs at the site. */
async function killAllOf(home: string): Promise<void> {
  const mark = Buffer.from(`\0HOME=${home}\0`);
  const mine = (): number[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return Buffer.concat([Buffer.from('\0'), readFileSync(`/proc/${pid}/environ`)]).includes(mark);
    } catch {
      return false;
    }
  });
  await until(() => {
    const left = mine();
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has just ended by itself.
      }
    }
    return left.length === 0;
  }, 'nothing runs at the site');
}
