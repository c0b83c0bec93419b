import { execFile, spawn, type ChildProcess } from 'node:child_process';
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
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../free-ports.ts';
import { sweepProcesses } from '../sweep-processes.ts';
import { until } from '../until.ts';

/**
 * Options of a Grid Engine under test. It always has the queue `main.q` of 8 slots with walltimes up to an hour and the
 * parallel environment `mutirao`.
 */
export interface GridEngineServerOptions {
  /** Further queues, by name, with the settings that differ from those of `main.q`. */
  readonly queues?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Further parallel environments, by name, with the settings that differ from those of `mutirao`. */
  readonly environments?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const run = promisify(execFile);
/** Where Debian has its programs and settings. */
const debian = { programs: '/usr/lib/gridengine', settings: '/usr/share/gridengine', root: '/var/lib/gridengine' };

/**
 * A real Grid Engine on this host, in a folder and on ports of its own: the master and one execution daemon.
 * Needs Debian's gridengine-master, gridengine-exec and gridengine-client. Jobs run as whoever submits them when the
 * tests run as root.
 */
export class GridEngineServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'mutirao-sge-'));
  readonly #daemons = new Map<string, ChildProcess>();
  #ports: readonly number[] = [];

  /** Starts it, and answers when jobs can start. */
  static async start(options: GridEngineServerOptions = {}): Promise<GridEngineServer> {
    const server = new GridEngineServer();
    try {
      await server.#startAll(options);
      return server;
    } catch (error) {
      const logs = server.#logs();
      await server.stop();
      throw new Error(`Grid Engine did not start:\n${logs}`, { cause: error });
    }
  }

  /** What programs need in their environment in order to use it. */
  get environment(): Record<string, string> {
    const [master = 0, execution = 0] = this.#ports;
    return {
      SGE_ROOT: this.folder,
      SGE_CELL: 'default',
      SGE_QMASTER_PORT: String(master),
      SGE_EXECD_PORT: String(execution),
    };
  }

  /** Runs one of its commands and answers what it wrote. */
  async command(name: string, ...args: readonly string[]): Promise<string> {
    return (await run(name, args, { env: { ...process.env, ...this.environment, TZ: 'UTC' }, timeout: 20_000 })).stdout;
  }

  /** Submits a piece of shell as a job that is not under test, and returns its number. */
  async submit(shell: string, ...flags: readonly string[]): Promise<string> {
    return (
      await this.command(
        'qsub',
        '-terse',
        '-o',
        '/dev/null',
        '-j',
        'y',
        '-S',
        '/bin/sh',
        ...flags,
        '-b',
        'y',
        '/bin/sh',
        '-c',
        `'${shell}'`,
      )
    ).trim();
  }

  /** Gives `qconf` a file of settings. */
  async configure(flag: string, settings: Readonly<Record<string, string>>): Promise<void> {
    const file = join(this.folder, 'settings', 'global');
    writeFileSync(
      file,
      Object.entries(settings)
        .map(([name, value]) => `${name} ${value}\n`)
        .join(''),
    );
    await this.command('qconf', flag, file);
  }

  /** Settings as `qconf` shows them. */
  async settings(...args: readonly string[]): Promise<Record<string, string>> {
    const output = (await this.command('qconf', ...args)).replaceAll(/\\\n\s*/g, ' ');
    return Object.fromEntries(
      output.split('\n').flatMap((line) => {
        const [, name, value] = /^(\w+)\s+(.*?)\s*$/.exec(line) ?? [];
        return name === undefined ? [] : [[name, value ?? '']];
      }),
    );
  }

  /** Numbers of jobs that wait or run, also of those that end. */
  async jobs(): Promise<string[]> {
    const listing = await this.command('qstat', '-u', '*', '-xml');
    return [...listing.matchAll(/<JB_job_number>(\d+)</g)].map(([, number]) => number ?? '');
  }

  /** Ends all jobs, and answers when their processes are gone. */
  async cancelAll(): Promise<void> {
    const jobs = await this.jobs();
    // It ends with a status of its own where one has ended by itself.
    if (jobs.length > 0) await this.command('qdel', ...jobs).catch(() => undefined);
    await until(async () => (await this.jobs()).length === 0, 'jobs end');
  }

  /** Ends the master as a crash would; jobs go on. */
  async killMaster(): Promise<void> {
    await this.#kill('sge_qmaster', 'SIGKILL');
  }

  /** Starts the master with the state that it had, and answers when it answers. */
  async startMaster(): Promise<void> {
    this.#spawn('sge_qmaster');
    await until(
      () =>
        this.command('qconf', '-sss').then(
          () => true,
          () => false,
        ),
      'the master answers',
    );
  }

  /** Ends all jobs and daemons and removes the folder. */
  async stop(): Promise<void> {
    if (this.#daemons.has('sge_qmaster')) await this.cancelAll().catch(() => undefined);
    for (const name of [...this.#daemons.keys()]) await this.#kill(name, 'SIGKILL');
    sweepProcesses('SGE_ROOT', this.folder);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #startAll({ queues = {}, environments = {} }: GridEngineServerOptions): Promise<void> {
    this.#ports = await freePorts(2);
    await this.#initialize();
    await this.startMaster();
    await this.command('qconf', '-ah', 'localhost');
    await this.command('qconf', '-as', 'localhost');
    await this.configure('-Msconf', {
      ...(await this.settings('-ssconf')),
      schedule_interval: '0:0:1',
      flush_submit_sec: '1',
      flush_finish_sec: '1',
      max_reservation: '10',
    });
    this.#spawn('sge_execd');
    await until(
      async () =>
        /<host name='localhost'>[\s\S]*<hostvalue name='num_proc'>\d/.test(await this.command('qhost', '-xml')),
      'the execution daemon reports',
    );
    for (const [name, settings] of Object.entries({ mutirao: {}, ...environments }))
      await this.configure('-Ap', { ...mainEnvironment, pe_name: name, ...settings });
    const main = { ...(await this.settings('-sq')), ...mainQueue };
    for (const [name, settings] of Object.entries({ 'main.q': {}, ...queues }))
      await this.configure('-Aq', { ...main, qname: name, ...settings });
    await until(
      async () => /<name>main.q@localhost<\/name>/.test(await this.command('qstat', '-f', '-xml')),
      'the queue is there',
    );
  }

  /** As Debian's own script does it for the host's Grid Engine. */
  async #initialize(): Promise<void> {
    const at = (...names: readonly string[]): string => join(this.folder, ...names);
    chmodSync(this.folder, 0o755);
    for (const name of ['default/common', 'spool/qmaster', 'spool/execd', 'log', 'settings'])
      mkdirSync(at(name), { recursive: true });
    for (const name of ['bin', 'lib', 'util', 'utilbin']) symlinkSync(join(debian.root, name), at(name));
    const spool = `${at('default/common')};${at('spool/qmaster')}`;
    writeFileSync(
      at('default/common/bootstrap'),
      [
        'admin_user none',
        'default_domain none',
        'ignore_fqdn false',
        'spooling_method classic',
        'spooling_lib libspoolc',
        `spooling_params ${spool}`,
        'binary_path /usr/sbin',
        `qmaster_spool_dir ${at('spool/qmaster')}`,
        'security_mode none',
        'listener_threads 2',
        'worker_threads 2',
        'scheduler_threads 1',
        '',
      ].join('\n'),
    );
    writeFileSync(at('default/common/act_qmaster'), 'localhost\n');
    writeFileSync(
      at('default/common/host_aliases'),
      `${[...new Set(['localhost', hostname(), ...loopbackNames()])].join(' ')}\n`,
    );
    const configuration = readFileSync(join(debian.settings, 'default-configuration'), 'utf8')
      .replace(/^execd_spool_dir .*/m, `execd_spool_dir ${at('spool/execd')}`)
      .replace(/^(min_[ug]id) .*/gm, '$1 0')
      .replace(/^load_report_time .*/m, 'load_report_time 00:00:01')
      .replace(/^mailer .*/m, 'mailer /bin/true');
    writeFileSync(at('settings/configuration'), configuration);
    const env = { ...process.env, ...this.environment };
    await run(join(debian.programs, 'spoolinit'), ['classic', 'libspoolc', spool, 'init'], {
      env: { ...env, LD_LIBRARY_PATH: debian.programs },
    });
    const resources = join(debian.settings, 'util/resources');
    for (const args of [
      ['configuration', at('settings/configuration')],
      ['complexes', join(resources, 'centry')],
      ['usersets', join(resources, 'usersets')],
      ['managers', userInfo().username],
    ]) {
      await run(join(debian.programs, 'spooldefaults'), args, { env });
    }
  }

  #spawn(name: 'sge_qmaster' | 'sge_execd'): void {
    const log = openSync(join(this.folder, 'log', name), 'a');
    // SGE_ND has it stay in the foreground.
    const child = spawn(`/usr/sbin/${name}`, [], {
      env: { ...process.env, ...this.environment, SGE_ND: '1' },
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    this.#daemons.set(name, child);
  }

  async #kill(name: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.#daemons.get(name);
    this.#daemons.delete(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => {
      child.once('exit', resolve);
    });
    child.kill(signal);
    await ended;
  }

  #logs(): string {
    const files = [
      ...['sge_qmaster', 'sge_execd'].map((name) => join(this.folder, 'log', name)),
      join(this.folder, 'spool/qmaster/messages'),
    ];
    return [
      ...files,
      ...readdirSync(tmpdir())
        .filter((name) => /^execd_messages/.test(name))
        .map((name) => join(tmpdir(), name)),
    ]
      .filter((file) => existsSync(file))
      .map((file) => `== ${file}\n${readFileSync(file, 'utf8').slice(-2000)}`)
      .join('\n');
  }
}

const mainEnvironment = {
  pe_name: 'mutirao',
  slots: '999',
  user_lists: 'NONE',
  xuser_lists: 'NONE',
  start_proc_args: 'NONE',
  stop_proc_args: 'NONE',
  allocation_rule: '$fill_up',
  control_slaves: 'TRUE',
  job_is_first_task: 'FALSE',
  urgency_slots: 'min',
  accounting_summary: 'TRUE',
  qsort_args: 'NONE',
};
const mainQueue = {
  hostlist: 'localhost',
  pe_list: 'mutirao',
  slots: '8',
  h_rt: '01:00:00',
  load_thresholds: 'NONE',
  shell_start_mode: 'unix_behavior',
};

/** Other names of 127.0.0.1, which Grid Engine would take for other hosts. */
function loopbackNames(): string[] {
  return readFileSync('/etc/hosts', 'utf8')
    .split('\n')
    .filter((line) => /^127\.0\.0\.1\s/.test(line))
    .flatMap((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1));
}
