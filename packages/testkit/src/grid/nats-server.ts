import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.ts';

/** A NATS server with JetStream on a port and with a folder of its own; needs Debian's nats-server. */
export class NatsServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'mutirao-nats-'));
  #child: ChildProcess | undefined;
  readonly #args: readonly string[];
  #url = '';

  /** @param args added to its command line. */
  constructor(args: readonly string[] = []) {
    this.#args = args;
  }

  /** As `nats://host:port`, or `tls://host:port`; the same after a restart. */
  get url(): string {
    return this.#url;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Starts it, on the port and with the streams that it had. */
  async start(): Promise<void> {
    const port = this.#url === '' ? '-1' : new URL(this.#url).port;
    const child = spawn(
      '/usr/sbin/nats-server',
      ['-js', '-a', '127.0.0.1', '-p', port, '-sd', this.#folder, '--ports_file_dir', this.#folder, ...this.#args],
      { stdio: 'ignore' },
    );
    this.#child = child;
    const portsFile = join(this.#folder, `nats-server_${child.pid}.ports`);
    await until(
      () => !this.isRunning || (existsSync(portsFile) && /(nats|tls):\/\//.test(readFileSync(portsFile, 'utf8'))),
      'the NATS server listens',
    );
    if (!this.isRunning) throw new Error('the NATS server ended at once');
    const { nats } = JSON.parse(readFileSync(portsFile, 'utf8')) as { nats: string[] };
    this.#url = nats[0] ?? '';
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    if (!this.isRunning) return;
    this.#child?.kill('SIGKILL');
    await until(() => !this.isRunning, 'the NATS server is gone');
  }

  /** Ends it and removes its folder. */
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
