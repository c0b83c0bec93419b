import { execFile, spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../free-ports.ts';
import { sweepProcesses } from '../sweep-processes.ts';
import { until } from '../until.ts';

const run = promisify(execFile);
/** Programs of PostgreSQL, of whichever version is there. */
const postgresFolder = '/usr/lib/postgresql';
/** Commands that see the folders of the server under test in place of the host's. */
const commands = ['oarsub', 'oardel', 'oarstat', 'oarnodes', 'oarnodesetting', 'oarnotify'];

/** What an OAR under test consists of. */
export interface OarServerOptions {
  /** Nodes, which share 8 resources evenly; 1 when left out. */
  readonly nodes?: number;
  /** Another account than root that gets its commands, and a shell for its jobs; left out for none. */
  readonly account?: { readonly uid: number; readonly gid: number };
}

/**
 * A real OAR on this host, with a database and ports of its own: its server, and nodes with 8 resources together, which
 * are this host by several of its addresses and are reached by a
 * faked ssh. OAR has its settings at fixed paths, so its programs see folders of its own there (a mount namespace).
 * Needs root and Debian's oar-server, oar-server-pgsql, oar-node, oar-user and postgresql. Jobs run as who submits them.
 */
export class OarServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'mutirao-oar-'));
  #server: ChildProcess | undefined;
  #ports: readonly number[] = [];

  /** Starts it, and answers when jobs can start. */
  static async start(options: OarServerOptions = {}): Promise<OarServer> {
    const server = new OarServer();
    try {
      await server.#startAll(options);
      return server;
    } catch (error) {
      const logs = server.#logs();
      await server.stop();
      throw new Error(`OAR did not start:\n${logs}`, { cause: error });
    }
  }

  /** What programs need in their environment in order to use it. */
  get environment(): Record<string, string> {
    return { PATH: `${join(this.folder, 'bin')}:/usr/bin:/bin` };
  }

  /** Runs one of its commands and answers what it wrote. */
  async command(name: string, ...args: readonly string[]): Promise<string> {
    return (await run(name, args, { env: { ...process.env, ...this.environment }, timeout: 30_000 })).stdout;
  }

  /** Numbers of jobs that wait, run or end. */
  async jobs(): Promise<string[]> {
    const listing = await this.command('oarstat', '-J');
    return listing.trim() === '' ? [] : Object.keys(JSON.parse(listing) as Record<string, unknown>);
  }

  /** Ends all jobs, and answers when they are gone. */
  async cancelAll(): Promise<void> {
    const jobs = await this.jobs();
    // It ends with a status of its own where one has ended by itself.
    if (jobs.length > 0) await this.command('oardel', ...jobs).catch(() => undefined);
    await until(async () => (await this.jobs()).length === 0, 'jobs end', 60_000);
  }

  /** Ends all jobs and programs and removes the folder. */
  async stop(): Promise<void> {
    if (this.#server !== undefined) await this.cancelAll().catch(() => undefined);
    this.#killServer();
    sweepProcesses('OAR_TEST_FOLDER', this.folder);
    await this.#postgres('pg_ctl', '-D', join(this.folder, 'database'), '-m', 'immediate', 'stop').catch(
      () => undefined,
    );
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Its parts hide their environment behind names that they give themselves, but are of its process group. */
  #killServer(): void {
    const pid = this.#server?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }

  async #startAll({ nodes = 1, account }: OarServerOptions): Promise<void> {
    const at = (...names: readonly string[]): string => join(this.folder, ...names);
    chmodSync(this.folder, 0o755);
    this.#ports = await freePorts(2);
    for (const name of ['bin', 'log', 'database']) mkdirSync(at(name));
    cpSync('/etc/oar', at('settings'), { recursive: true });
    mkdirSync(at('home'));
    // Start files of the account have no place in a job: those that start other scripts would run in circles.
    writeFileSync(at('home/.batch_job_bashrc'), '');
    await this.#startDatabase();
    this.#writeSettings();
    this.#writeAccounts(account);
    await run('chown', ['-R', 'oar:oar', at('settings/oar.conf'), at('home'), at('log')]);
    const log = openSync(at('log/server'), 'a');
    const mounts =
      `mount --bind '${at('settings')}' /etc/oar && mount --bind '${at('home')}' /var/lib/oar && ` +
      `mount --bind '${at('passwd')}' /etc/passwd && echo $$ >'${at('server.pid')}'`;
    // OARDO_USER lets its parts end jobs that outlast their walltime.
    const environment =
      `HOME=/var/lib/oar PATH=${programPath} OARUSER=oar OARDO_USER=oar OARDIR=/usr/lib/oar OARCONFFILE=/etc/oar/oar.conf ` +
      `OAR_TEST_FOLDER='${this.folder}'`;
    this.#server = spawn(
      'unshare',
      [
        '--mount',
        '--propagation',
        'private',
        'sh',
        '-c',
        `${mounts} && exec setpriv --reuid=oar --regid=oar --init-groups env -i ${environment} /usr/lib/oar/Almighty`,
      ],
      { stdio: ['ignore', log, log], detached: true },
    );
    closeSync(log);
    await until(
      () => existsSync(at('server.pid')) && readFileSync(at('server.pid'), 'utf8').endsWith('\n'),
      'the server starts',
      20_000,
    );
    this.#writeCommands(account);
    for (let index = 0; index < 8; index += 1)
      await this.command('oarnodesetting', '-a', '-h', `127.0.0.${1 + Math.floor((index * nodes) / 8)}`);
  }

  /** The accounts as its programs see them: one that may not log in has no shell to run its jobs with. */
  #writeAccounts(account: OarServerOptions['account']): void {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    const own = lines.map((line) =>
      line.split(':')[2] === String(account?.uid) ? line.replace(/[^:]*:[^:]*$/, '/tmp:/bin/bash') : line,
    );
    writeFileSync(join(this.folder, 'passwd'), own.join('\n'), { mode: 0o644 });
  }

  /** Commands that see its folders, which other accounts may look into by a right that the program has. */
  #writeCommands(account: OarServerOptions['account']): void {
    const at = (name: string): string => join(this.folder, 'bin', name);
    if (account !== undefined) {
      copyFileSync('/usr/bin/nsenter', at('nsenter'));
      chownSync(at('nsenter'), 0, account.gid);
      chmodSync(at('nsenter'), 0o4750);
    }
    const enter = account === undefined ? 'nsenter' : at('nsenter');
    for (const name of commands)
      writeFileSync(
        at(name),
        '#!/bin/sh\nPATH=/usr/bin:/bin:/usr/sbin:/sbin\nexec ' +
          `${enter} --mount=/proc/$(cat '${join(this.folder, 'server.pid')}')/ns/mnt --wd=/tmp -- ${name} "$@"\n`,
        { mode: 0o755 },
      );
  }

  async #startDatabase(): Promise<void> {
    const at = (...names: readonly string[]): string => join(this.folder, ...names);
    const [port = 0] = this.#ports;
    await run('chown', ['postgres', at('database')]);
    await this.#postgres('initdb', '-D', at('database'), '-A', 'trust');
    await this.#postgres(
      'pg_ctl',
      '-D',
      at('database'),
      '-l',
      at('database/log'),
      '-w',
      '-o',
      `-p ${port} -c unix_socket_directories=${at('database')} -c listen_addresses=127.0.0.1 -c fsync=off`,
      'start',
    );
    const psql = (user: string, database: string, ...args: readonly string[]) =>
      run('psql', ['-h', '127.0.0.1', '-p', String(port), '-U', user, '-d', database, '-q', ...args]);
    await psql(
      'postgres',
      'postgres',
      '-c',
      'create role oar login',
      '-c',
      'create role oar_ro login',
      '-c',
      'create database oar owner oar',
    );
    for (const name of ['pg_structure', 'pg_default_admission_rules', 'default_data'])
      await psql('oar', 'oar', '-f', `/usr/lib/oar/database/${name}.sql`);
    // The tests run as root, and OAR accepts no jobs of root by default.
    await psql(
      'oar',
      'oar',
      '-c',
      'grant select on all tables in schema public to oar_ro',
      '-c',
      "delete from admission_rules where rule like '%root%oar%'",
    );
  }

  async #postgres(program: string, ...args: readonly string[]): Promise<void> {
    const [version = ''] = readdirSync(postgresFolder).sort((one, other) => Number(other) - Number(one));
    // Without its own output it would keep that of this process open.
    await run(
      'setpriv',
      [
        '--reuid=postgres',
        '--regid=postgres',
        '--init-groups',
        'sh',
        '-c',
        'exec "$@" >/dev/null 2>&1',
        'sh',
        join(postgresFolder, version, 'bin', program),
        ...args,
      ],
      { cwd: '/tmp' },
    );
  }

  #writeSettings(): void {
    const [database = 0, server = 0] = this.#ports;
    const settings = {
      DB_TYPE: 'Pg',
      DB_HOSTNAME: '127.0.0.1',
      DB_PORT: database,
      DB_BASE_NAME: 'oar',
      DB_BASE_LOGIN: 'oar',
      DB_BASE_PASSWD: 'oar',
      DB_BASE_LOGIN_RO: 'oar_ro',
      DB_BASE_PASSWD_RO: 'oar_ro',
      SERVER_HOSTNAME: '127.0.0.1',
      SERVER_PORT: server,
      OARSUB_DEFAULT_RESOURCES: '/resource_id=1',
      OARSUB_NODES_RESOURCES: 'network_address',
      OARSUB_FORCE_JOB_KEY: 'no',
      LOG_LEVEL: 2,
      OAR_RUNTIME_DIRECTORY: '/var/lib/oar',
      LOG_FILE: join(this.folder, 'log/oar.log'),
      DEPLOY_HOSTNAME: '127.0.0.1',
      COSYSTEM_HOSTNAME: '127.0.0.1',
      DETACH_JOB_FROM_SERVER: 1,
      OPENSSH_CMD: '/etc/oar/ssh',
      // Without cpusets nothing else says which job a connection is of.
      OARSH_BYPASS_WHOLE_SECURITY: 1,
      PINGCHECKER_GENERIC_COMMAND: '/bin/true',
      FINAUD_FREQUENCY: 0,
      SCHEDULER_TIMEOUT: 30,
      SCHEDULER_NB_PROCESSES: 1,
      SCHEDULER_JOB_SECURITY_TIME: 1,
      SCHEDULER_GANTT_HOLE_MINIMUM_TIME: 1,
      SCHEDULER_RESOURCE_ORDER: 'network_address ASC, resource_id ASC',
      SCHEDULER_PRIORITY_HIERARCHY_ORDER: 'network_address/resource_id',
      ENERGY_SAVING_INTERNAL: 'no',
    };
    writeFileSync(
      join(this.folder, 'settings/oar.conf'),
      Object.entries(settings)
        .map(([name, value]) => `${name}="${value}"\n`)
        .join(''),
      { mode: 0o600 },
    );
    // HERE names the node to what runs there.
    const skip =
      'while :; do case "$1" in -o|-p|-e|-l) shift 2;; -*) shift;; *) break;; esac; done; export HERE="$1"; shift';
    // What oarsh starts is started by OAR's own login shell of its nodes, as the user of the job.
    const asUser =
      'if [ "$OAR_CPUSET" = undef ]; then [ "$1" != -- ] || shift; ' +
      'export OAR_JOB_USER="$OARDO_USER"; exec /usr/lib/oar/oarsh_shell -c "$*"; fi';
    writeFileSync(
      join(this.folder, 'settings/ssh'),
      `#!/bin/sh\n${skip}\nexport PATH=${programPath} HOME=/var/lib/oar OARDIR=/usr/lib/oar OARUSER=oar\ncd ` +
        `/var/lib/oar\n${asUser}\nexec /bin/sh -c "$*"\n`,
      { mode: 0o755 },
    );
  }

  #logs(): string {
    const logs = join(this.folder, 'log');
    return existsSync(logs)
      ? readdirSync(logs)
          .map((name) => `== ${name}\n${readFileSync(join(logs, name), 'utf8').slice(-2000)}`)
          .join('\n')
      : '';
  }
}

const programPath = '/usr/lib/oar/oardodo:/usr/sbin:/usr/bin:/sbin:/bin';
