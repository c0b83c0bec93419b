import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../free-ports.ts';
import { sweepProcesses } from '../sweep-processes.ts';
import { until } from '../until.ts';

/** What a Slurm under test consists of. */
export interface SlurmServerOptions {
  /** Nodes of 8 processors, called n1, n2, ...; 4 when left out. */
  readonly nodes?: number;
  /** MiB of each node, which jobs then share out; left out where Slurm does not know it. */
  readonly memory?: number;
  /** GPUs of each node as Slurm writes them, such as `a100:2`, four at most. */
  readonly gpus?: string;
  /**
   * Lines of slurm.conf that come last: further partitions, for example. The default partition is `main`, of all nodes,
   * with walltimes up to an hour.
   */
  readonly settings?: readonly string[];
}

/** What a controller has on its disk of jobs. */
export type SavedJobs = Buffer | 'nothing';

/** Processors that each node says it has, whatever the host has. */
const processorsPerNode = 8;

const run = promisify(execFile);

/**
 * A real Slurm on this host, in a folder and on ports of its own: munged, the controller, and a daemon for each node.
 * Needs Debian's slurm-wlm and munge. Works as root and as any user.
 */
export class SlurmServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'mutirao-slurm-'));
  readonly #nodes: readonly string[];
  readonly #daemons = new Map<string, ChildProcess>();
  #markCount = 0;

  private constructor({ nodes = 4 }: SlurmServerOptions) {
    this.#nodes = Array.from({ length: nodes }, (_, index) => `n${index + 1}`);
  }

  /** Starts it, and answers when all nodes are idle. */
  static async start(options: SlurmServerOptions = {}): Promise<SlurmServer> {
    const slurm = new SlurmServer(options);
    try {
      await slurm.#startAll(options);
      return slurm;
    } catch (error) {
      const logs = slurm.#logs(1000);
      await slurm.stop();
      throw new Error(`Slurm did not start:\n${logs}`, { cause: error });
    }
  }

  /** What programs need in their environment in order to use it. */
  get environment(): Record<string, string> {
    return { SLURM_CONF: join(this.folder, 'slurm.conf') };
  }

  /** Lets other accounts read its configuration, so that they can use it too; its daemons have to run as root. */
  openToAll(): void {
    chmodSync(this.folder, 0o755);
    for (const name of ['slurm.conf', 'gres.conf']) chmodSync(join(this.folder, name), 0o644);
  }

  /** Runs one of Slurm's commands and answers what it wrote. */
  async command(name: string, ...args: readonly string[]): Promise<string> {
    return (await run(name, args, { env: { ...process.env, ...this.environment, TZ: 'UTC' }, timeout: 20_000 })).stdout;
  }

  /** Ids of jobs that wait or run. */
  async jobs(states = 'PENDING,RUNNING'): Promise<string[]> {
    return (await this.command('squeue', '--noheader', '--format=%i', `--states=${states}`))
      .split('\n')
      .filter((line) => line !== '');
  }

  /**
   * Ends the controller as a crash would; jobs go on.
   *
   * @param known what it will know of jobs when it starts again: what `saveState` answered, or `nothing`, as before its
   * first job. What is on its
   * disk is chance: a change is written at once where nothing was for 5 s, and else when these are over.
   */
  async killController(known: SavedJobs): Promise<void> {
    await this.#kill('slurmctld', 'SIGKILL');
    for (const name of ['job_state', 'job_state.old']) rmSync(this.#statePath(name), { force: true });
    if (known !== 'nothing') writeFileSync(this.#statePath('job_state'), known);
  }

  /**
   * Waits until the controller has written to its disk what it knows of jobs, and answers that. There has to be a job.
   */
  async saveState(): Promise<SavedJobs> {
    const [job = ''] = await this.jobs();
    const mark = this.#nextMark();
    await this.command('scontrol', 'update', `JobId=${job}`, `AdminComment=${mark}`);
    return this.#savedWith(mark, 'job_state');
  }

  /**
   * Takes all nodes out of use: jobs that run go on, and others wait. Answers when the controller would know it after a
   * crash.
   */
  async drainNodes(): Promise<void> {
    await this.#updateNodes(this.#nodes, 'State=DRAIN', 'Reason=drained');
  }

  /**
   * Takes back into use what nodes were taken out of it, by whomever, and answers when the controller would know it
   * after a crash.
   */
  async resumeNodes(): Promise<void> {
    const drained = (
      await this.command('sinfo', '--noheader', '--Node', '--partition=main', '--states=drain', '--format=%N')
    )
      .split('\n')
      .filter((line) => line !== '');
    if (drained.length > 0) await this.#updateNodes(drained, 'State=RESUME');
  }

  /** Nodes, jobs and the ends of all logs, to find out why something did not happen. */
  async resourceStatus(): Promise<string> {
    const listings = await Promise.all([
      this.command('sinfo', '--noheader', '--Node', '--format=node %N: %T, %E').catch(String),
      this.command('squeue', '--noheader', '--states=all', '--format=job %i, %j: %T, %r').catch(String),
    ]);
    return [...listings, this.#logs(3000)].join('');
  }

  /** Starts the controller, if it does not run, with the state that it had, and answers when it answers. */
  async startController(): Promise<void> {
    const before = this.#daemons.get('slurmctld');
    if (before === undefined || before.exitCode !== null || before.signalCode !== null)
      this.#spawn('slurmctld', '/usr/sbin/slurmctld', ['-D']);
    await until(() => this.#answers(), 'the controller answers');
  }

  /** Ends all jobs, and answers when their processes are gone. */
  async cancelAll(): Promise<void> {
    const jobs = await this.jobs();
    if (jobs.length > 0) await this.command('scancel', ...jobs);
    await until(async () => (await this.jobs('PENDING,RUNNING,COMPLETING')).length === 0, 'jobs end');
  }

  /** Ends all jobs and daemons and removes the folder. */
  async stop(): Promise<void> {
    if (await this.#answers()) await this.cancelAll().catch(() => undefined);
    for (const name of [...this.#daemons.keys()].reverse())
      await this.#kill(name, name === 'slurmctld' ? 'SIGKILL' : 'SIGTERM');
    sweepProcesses('SLURM_CONF', join(this.folder, 'slurm.conf'));
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #startAll(options: SlurmServerOptions): Promise<void> {
    for (const name of ['state', 'spool', 'log']) mkdirSync(join(this.folder, name));
    writeFileSync(join(this.folder, 'munge.key'), randomBytes(1024), { mode: 0o400 });
    writeFileSync(
      join(this.folder, 'slurm.conf'),
      renderConfig(this.folder, await freePorts(this.#nodes.length + 1), options),
    );
    writeFileSync(join(this.folder, 'gres.conf'), renderDevices(options));
    const at = (name: string): string => join(this.folder, name);
    this.#spawn('munged', '/usr/sbin/munged', [
      '--foreground',
      '--force',
      `--socket=${at('munge.socket')}`,
      `--key-file=${at('munge.key')}`,
      `--pid-file=${at('munged.pid')}`,
      `--log-file=${at('log/munged.log')}`,
      `--seed-file=${at('munge.seed')}`,
    ]);
    await until(() => existsSync(at('munge.socket')), 'munged listens');
    await this.startController();
    for (const node of this.#nodes) this.#spawn(node, '/usr/sbin/slurmd', ['-D', '-N', node]);
    await until(
      async () =>
        Number(await this.command('sinfo', '--noheader', '--partition=main', '--states=idle', '--format=%D')) ===
        this.#nodes.length,
      'all nodes are idle',
    );
  }

  #spawn(name: string, program: string, args: readonly string[]): void {
    const log = openSync(join(this.folder, 'log', `${name}.out`), 'a');
    this.#daemons.set(
      name,
      spawn(program, args, { stdio: ['ignore', log, log], env: { ...process.env, ...this.environment } }),
    );
    closeSync(log);
  }

  async #kill(name: string, signal: NodeJS.Signals): Promise<void> {
    const daemon = this.#daemons.get(name);
    if (daemon?.exitCode !== null || daemon.signalCode !== null) return;
    daemon.kill(signal);
    await until(() => daemon.exitCode !== null || daemon.signalCode !== null, `${name} ends`, 5_000).catch(() =>
      daemon.kill('SIGKILL'),
    );
  }

  async #updateNodes(nodes: readonly string[], ...change: readonly string[]): Promise<void> {
    const mark = this.#nextMark();
    await this.command('scontrol', 'update', `NodeName=${nodes.join(',')}`, ...change, `Comment=${mark}`);
    await this.#savedWith(mark, 'node_state');
  }

  #nextMark(): string {
    this.#markCount += 1;
    return `saved-${this.#markCount}`;
  }

  /**
   * Waits until a file of the controller has the mark, which it writes a few seconds after the call, and answers what
   * is in it. By its time alone it might have been begun before.
   */
  async #savedWith(mark: string, name: string): Promise<Buffer> {
    let content = Buffer.alloc(0);
    await until(() => {
      try {
        content = readFileSync(this.#statePath(name));
      } catch {
        // It is not there yet, or is being replaced.
      }
      return content.includes(`${mark}\0`);
    }, `the controller saves its ${name}`);
    return content;
  }

  #statePath(name: string): string {
    return join(this.folder, 'state', name);
  }

  async #answers(): Promise<boolean> {
    return this.command('scontrol', 'ping').then(
      (words) => / is UP/.test(words),
      () => false,
    );
  }

  #logs(lengthMax: number): string {
    const logs = join(this.folder, 'log');
    return existsSync(logs)
      ? readdirSync(logs)
          .map((name) => `== ${name}\n${readFileSync(join(logs, name), 'utf8').slice(-lengthMax)}`)
          .join('\n')
      : '';
  }
}

/** Files that are on every host: Slurm wants one for each GPU. */
const deviceFiles = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random'];

function renderDevices({ gpus }: SlurmServerOptions): string {
  const [kind, count] = (gpus ?? '').split(':');
  return deviceFiles
    .slice(0, Number(count ?? 0))
    .map((file) => `Name=gpu Type=${kind} File=${file}\n`)
    .join('');
}

function renderConfig(
  folder: string,
  ports: readonly number[],
  { settings = [], memory, gpus }: SlurmServerOptions,
): string {
  const [controllerPort, ...nodePorts] = ports;
  const { username } = userInfo();
  const nodes = nodePorts.map(
    (port, index) =>
      `NodeName=n${index + 1} NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${port} ` +
      `CPUs=${processorsPerNode} ${memory === undefined ? '' : `RealMemory=${memory} `}` +
      `${gpus === undefined ? '' : `Gres=gpu:${gpus} `}State=UNKNOWN`,
  );
  return [
    'ClusterName=mutirao',
    `SlurmctldHost=${hostname()}(127.0.0.1)`,
    `SlurmctldPort=${controllerPort}`,
    `SlurmUser=${username}`,
    `SlurmdUser=${username}`,
    'AuthType=auth/munge',
    'CredType=cred/munge',
    `AuthInfo=socket=${folder}/munge.socket`,
    `StateSaveLocation=${folder}/state`,
    `SlurmdSpoolDir=${folder}/spool/%n`,
    `SlurmctldPidFile=${folder}/slurmctld.pid`,
    `SlurmdPidFile=${folder}/slurmd-%n.pid`,
    'ProctrackType=proctrack/linuxproc',
    'TaskPlugin=task/none',
    'SwitchType=switch/none',
    'MpiDefault=none',
    'JobAcctGatherType=jobacct_gather/none',
    'SelectType=select/cons_tres',
    `SelectTypeParameters=${memory === undefined ? 'CR_CPU' : 'CR_CPU_Memory'}`,
    ...(gpus === undefined ? [] : ['GresTypes=gpu']),
    'SlurmdParameters=config_overrides',
    'SchedulerType=sched/backfill',
    'SchedulerParameters=bf_interval=2,sched_interval=2',
    'AccountingStorageType=accounting_storage/none',
    'ReturnToService=2',
    'EnforcePartLimits=ALL',
    'KillWait=5',
    'MailProg=/bin/true',
    ...nodes,
    `PartitionName=main Nodes=n[1-${nodes.length}] Default=YES MaxTime=01:00:00 State=UP`,
    ...settings,
    '',
  ].join('\n');
}
