import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ownProgram } from '@mutirao/runtime/processes';
import { keepLast } from '@mutirao/runtime/program';
import { asOrdinaryAccount } from '../ordinary-account.ts';
import { until } from '../until.ts';

/** The programs of a grid. */
export type ProgramName = 'broker' | 'provider' | 'agent' | 'cluster' | 'reservations';

/** Another account that programs are started as. */
export interface ProgramAccount {
  readonly uid: number;
  readonly gid: number;
  /** A Node and a folder of bundled programs that it can read. */
  readonly node: string;
  readonly programs: string;
}

/** How a program is started, and the callbacks for its output and its end. */
export interface ProgramWitnesses {
  /** The one executable that it is run from; left out for the sources. */
  readonly packed?: string;
  /** Whether modes of files hold for it, also where the test runs as root. */
  readonly isOrdinary?: boolean;
  /** Where all lines of its log go too; left out for nowhere. */
  readonly logFile?: string;
  /** A module of the testkit that is loaded before its own, to slow it down for example; left out for none. */
  readonly preload?: URL;
  /** The account that it runs as, and programs that this account can run; left out for our own. */
  readonly account?: ProgramAccount;
  /** Called when the process has ended, and its log with it, unless `kill` has been called. */
  onUnaskedEnd?(end: UnaskedEnd): void;
}

/** How a process ended that nobody had asked to. */
export interface UnaskedEnd {
  readonly name: ProgramName;
  /** Undefined where a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** The code of the error that its log ends with, if it does with one. */
  readonly code: string | undefined;
  /** Whether it had come up: of an agent, which listens for nothing, never. */
  readonly hadListened: boolean;
  /** The end of its log, a line each. */
  readonly lastLines: readonly string[];
}

/** One process of a grid under test. It can be killed in any way and started again with the same arguments. */
export class Program {
  readonly name: ProgramName;
  /** Lines of its log, oldest first, at most 2,000. */
  readonly log: string[] = [];
  readonly #packed: string | undefined;
  readonly #isOrdinary: boolean;
  #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #logFile: string | undefined;
  readonly #account: ProgramAccount | undefined;
  readonly #preload: URL | undefined;
  readonly #onUnaskedEnd: ((end: UnaskedEnd) => void) | undefined;
  #child: ChildProcess | undefined;
  #isAsked = false;
  #unaskedEnd: UnaskedEnd | undefined;
  #closed: Promise<void> = Promise.resolve();
  #fatalCode: string | undefined;
  #address = '';
  #agentsAddress = '';

  /** @param env added to our own environment. */
  constructor(
    name: ProgramName,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    more: ProgramWitnesses = {},
  ) {
    this.name = name;
    this.#packed = more.packed;
    this.#isOrdinary = more.isOrdinary ?? false;
    this.#args = keepLast(args);
    this.#env = env;
    this.#logFile = more.logFile;
    this.#account = more.account;
    this.#preload = more.preload;
    this.#onUnaskedEnd = more.onUnaskedEnd;
  }

  /** Where it listens, as host:port; empty until it says so. */
  get address(): string {
    return this.#address;
  }

  /** The address that agents dial, as the provider reports it. */
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

  /**
   * Starts it and, unless it is an agent (which listens for nothing), waits for its address. A restarted program keeps
   * its port.
   */
  async start(): Promise<void> {
    const account = this.#account;
    const preload = this.#preload === undefined ? [] : ['--import', this.#preload.href];
    const [interpreter, ...script] =
      account === undefined ? this.#words() : ([account.node, join(account.programs, `${this.name}.cjs`)] as const);
    const program = [interpreter, ...preload, ...script] as const;
    const [node, ...own] = this.#isOrdinary ? asOrdinaryAccount(program) : program;
    const child = spawn(node, [...own, ...this.#args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...this.#env },
      ...(account === undefined ? {} : { uid: account.uid, gid: account.gid, cwd: '/' }),
    });
    this.#child = child;
    this.#isAsked = false;
    this.#unaskedEnd = undefined;
    this.#fatalCode = undefined;
    this.#address = '';
    createInterface({ input: child.stderr }).on('line', (line) => {
      this.#receive(line);
    });
    // Its log has been read to the end by then.
    this.#closed = new Promise((resolve) => {
      child.once('close', (exitCode, signal) => {
        this.#noteEnd(child, this.#describeEnd(exitCode, signal));
        resolve();
      });
    });
    if (this.name === 'agent') return;
    await until(() => this.#address !== '' || !this.isRunning, `${this.name} listens`);
    if (!this.isRunning) throw new Error(`${this.name} ended at once:\n${this.log.slice(-20).join('\n')}`);
    this.#args = this.#args.map((arg, index) => (this.#args[index - 1] === '--listen' ? this.#address : arg));
  }

  /** Sends a signal and waits for the process to be gone. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.isRunning) return;
    this.#isAsked = true;
    this.#child?.kill(signal);
    await until(() => !this.isRunning, `${this.name} ends after ${signal}`);
  }

  /** Kills it as a power cut would and starts it again. */
  async crash(): Promise<void> {
    await this.kill('SIGKILL');
    await this.start();
  }

  /** How the process ended where nobody asked it to; undefined while it runs. Waits for the end of its log. */
  async unaskedEnd(): Promise<UnaskedEnd | undefined> {
    if (!this.isRunning) await this.#closed;
    return this.#unaskedEnd;
  }

  #words(): readonly [string, ...string[]] {
    return this.#packed === undefined ? ownProgram(this.name) : [this.#packed, 'run', this.name];
  }

  #noteEnd(child: ChildProcess, end: UnaskedEnd): void {
    if (this.#isAsked || child !== this.#child) return;
    this.#unaskedEnd = end;
    this.#onUnaskedEnd?.(end);
  }

  #describeEnd(exitCode: number | null, signal: NodeJS.Signals | null): UnaskedEnd {
    return {
      name: this.name,
      exitCode: exitCode ?? undefined,
      signal: signal ?? undefined,
      code: this.#fatalCode,
      hadListened: this.#address !== '',
      lastLines: this.log.slice(-20),
    };
  }

  #receive(line: string): void {
    this.log.push(line);
    if (this.#logFile !== undefined) appendFileSync(this.#logFile, `${line}\n`);
    if (this.log.length > 2000) this.log.shift();
    this.#fatalCode = /"level":"fatal".*?"code":"(MUT_[A-Z_]+)"/.exec(line)?.[1] ?? this.#fatalCode;
    if (this.#address !== '' || !line.includes('"listening"')) return;
    const reported = JSON.parse(line) as { address?: string; agents_dial?: string };
    this.#agentsAddress = reported.agents_dial ?? '';
    this.#address = reported.address ?? '';
  }
}
