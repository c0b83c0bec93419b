import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.ts';

/** What a server under test lets people find. */
export interface SshServerOptions {
  /** Environment of all that runs there; `HOME` is a folder of its own unless it is given here. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further lines of its `sshd_config`. */
  readonly config?: readonly string[];
}

/**
 * A real sshd on a port of 127.0.0.1 with keys and a home folder of its own, for the user who runs the test; needs
 * Debian's openssh-server.
 *
 * `options` are what an ssh connection needs to get in: a configuration file that knows the server as `front`, the same
 * behind a
 * jump over itself as `inner`, and with a key that is not let in as `foreign`.
 */
export class SshServer {
  /** Everything of it; removed by `stop`. */
  readonly folder = mkdtempSync(join(tmpdir(), 'mutirao-ssh-'));
  /** HOME of what runs there. */
  readonly home: string;
  /** Names of the server in its configuration file. */
  readonly destination = 'front';
  #port = 0;
  #child: ChildProcess | undefined;
  readonly #options: SshServerOptions;

  constructor(options: SshServerOptions = {}) {
    this.#options = options;
    this.home = options.env?.['HOME'] ?? join(this.folder, 'home');
    mkdirSync(this.home, { recursive: true, mode: 0o700 });
    for (const name of ['host_key', 'user_key', 'foreign_key'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(this.folder, name)]);
    writeFileSync(join(this.folder, 'authorized_keys'), readFileSync(join(this.folder, 'user_key.pub')));
  }

  get port(): number {
    return this.#port;
  }

  /** The listening process. */
  get pid(): number {
    return this.#child?.pid ?? -1;
  }

  /** The client's configuration file. */
  get configPath(): string {
    return join(this.folder, 'client_config');
  }

  /** Options of a connection to it: its configuration file and nothing of the user's. */
  get options(): string[] {
    return [`-F${this.configPath}`];
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Starts it, on the port that it had. */
  async start(): Promise<void> {
    if (this.#port === 0) this.#port = await freePort();
    // Root's sshd wants it for what has no rights.
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
    this.#writeConfigs();
    const child = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(this.folder, 'sshd_config')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    let reported = '';
    child.stderr.on('data', (chunk: Buffer) => {
      reported = `${reported}${chunk.toString()}`.slice(-4000);
    });
    await until(async () => !this.isRunning || (await answers(this.#port)), 'the sshd listens');
    if (!this.isRunning) throw new Error(`the sshd ended at once: ${reported}`);
  }

  /** Processes that serve connections. */
  sessions(): number[] {
    try {
      return readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8')
        .trim()
        .split(/\s+/)
        .filter((pid) => pid !== '')
        .map(Number);
    } catch {
      return [];
    }
  }

  /** Breaks every connection as a lost network would be noticed at once; what was started over it goes on. */
  cut(): void {
    for (const pid of this.sessions()) kill(pid);
  }

  /** Breaks all connections and stops listening until `start`. */
  async kill(): Promise<void> {
    const sessions = this.sessions();
    this.#child?.kill('SIGKILL');
    for (const pid of sessions) kill(pid);
    await until(() => !this.isRunning, 'the sshd is gone');
  }

  /** Ends it and removes its folder. */
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #writeConfigs(): void {
    const user = userInfo().username;
    const env = Object.entries({ HOME: this.home, ...this.#options.env }).map(([name, value]) => `"${name}=${value}"`);
    writeFileSync(
      join(this.folder, 'sshd_config'),
      [
        // Of a word that stands twice sshd takes the first.
        ...(this.#options.config ?? []),
        `Port ${this.#port}`,
        'ListenAddress 127.0.0.1',
        `HostKey ${join(this.folder, 'host_key')}`,
        `AuthorizedKeysFile ${join(this.folder, 'authorized_keys')}`,
        'PidFile none',
        'StrictModes no',
        'UsePAM no',
        'PasswordAuthentication no',
        'KbdInteractiveAuthentication no',
        'PermitRootLogin prohibit-password',
        'UseDNS no',
        'MaxStartups 100',
        'MaxSessions 100',
        `SetEnv ${env.join(' ')}`,
        '',
      ].join('\n'),
    );
    const hostKey = readFileSync(join(this.folder, 'host_key.pub'), 'utf8').trim();
    writeFileSync(join(this.folder, 'known_hosts'), `[127.0.0.1]:${this.#port} ${hostKey}\n`);
    writeFileSync(
      this.configPath,
      [
        'Host inner',
        '  ProxyJump front',
        'Host foreign',
        `  IdentityFile ${join(this.folder, 'foreign_key')}`,
        'Host * !foreign',
        `  IdentityFile ${join(this.folder, 'user_key')}`,
        'Host *',
        '  HostName 127.0.0.1',
        `  Port ${this.#port}`,
        `  User ${user}`,
        '  IdentitiesOnly yes',
        '  IdentityAgent none',
        `  UserKnownHostsFile ${join(this.folder, 'known_hosts')}`,
        '  GlobalKnownHostsFile /dev/null',
        '',
      ].join('\n'),
    );
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  });
}
