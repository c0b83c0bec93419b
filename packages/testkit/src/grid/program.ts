import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { until } from '../until.ts';

/** The programs of a grid. */
export type ProgramName = 'broker' | 'provider' | 'agent' | 'cluster' | 'reservations';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** One process of a grid under test. It can be killed in any way and started again with the same arguments. */
export class Program {
  readonly name: ProgramName;
  /** Lines of its log, oldest first, at most 2,000. */
  readonly log: string[] = [];
  #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #logFile: string | undefined;
  #child: ChildProcess | undefined;
  #address = '';
  #agentsAddress = '';

  /** @param env added to our own environment. @param logFile where all lines of its log go too; left out for nowhere. */
  constructor(name: ProgramName, args: readonly string[], env: Readonly<Record<string, string>>, logFile?: string) {
    this.name = name;
    this.#args = args;
    this.#env = env;
    this.#logFile = logFile;
  }

  /** Where it listens, as host:port; empty until it says so. */
  get address(): string {
    return this.#address;
  }

  /** What agents are to dial, as a provider says. */
  get agentsAddress(): string {
    return this.#agentsAddress;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.name} was never started`);
    return pid;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Starts it and, unless it is an agent (which listens for nothing), waits for its address. A restarted program keeps its port. */
  async start(nodeArguments: readonly string[] = []): Promise<void> {
    const main = `${root}packages/${this.name}/src/main.ts`;
    const child = spawn(process.execPath, [...nodeArguments, main, ...this.#args], {
      stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...this.#env },
    });
    this.#child = child;
    createInterface({ input: child.stderr }).on('line', (line) => { this.#hear(line); });
    if (this.name === 'agent') return;
    this.#address = '';
    await until(() => this.#address !== '' || !this.isRunning, `${this.name} listens`);
    if (!this.isRunning) throw new Error(`${this.name} ended at once:\n${this.log.slice(-20).join('\n')}`);
    this.#args = this.#args.map((arg, index) => (this.#args[index - 1] === '--listen' ? this.#address : arg));
  }

  /** Sends a signal and waits for the process to be gone. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.isRunning) return;
    this.#child?.kill(signal);
    await until(() => !this.isRunning, `${this.name} ends after ${signal}`);
  }

  /** Kills it as a power cut would and starts it again. */
  async crash(): Promise<void> {
    await this.kill('SIGKILL');
    await this.start();
  }

  #hear(line: string): void {
    this.log.push(line);
    if (this.#logFile !== undefined) appendFileSync(this.#logFile, `${line}\n`);
    if (this.log.length > 2000) this.log.shift();
    if (this.#address !== '' || !line.includes('"listening"')) return;
    const told = JSON.parse(line) as { address?: string; agents_dial?: string };
    this.#agentsAddress = told.agents_dial ?? '';
    this.#address = told.address ?? '';
  }
}
