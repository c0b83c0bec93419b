import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BrokerClient } from './broker-client.ts';
import { Program, type ProgramAccount, type UnaskedEnd } from './program.ts';

/** A time-shared machine that differs from the others. */
export interface GridMachineOptions {
  readonly processors: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** What a grid under test consists of. */
export interface GridOptions {
  /** Processors of each embedded cluster. */
  readonly clusters?: readonly number[];
  /** Processors of each time-shared machine, or all its options. */
  readonly machines?: readonly (number | GridMachineOptions)[];
  /** Providers over resources that are there already: their names and arguments. */
  readonly resources?: readonly { readonly id: string; readonly args: readonly string[] }[];
  /** Further arguments of each kind of program. */
  readonly brokerArgs?: readonly string[];
  readonly clusterArgs?: readonly string[];
  readonly providerArgs?: readonly string[];
  readonly agentArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Modules of the testkit that are loaded into programs before their own; left out for none. */
  readonly preloads?: { readonly broker?: URL; readonly provider?: URL; readonly cluster?: URL };
  /** The account that everything runs as; left out for our own account. */
  readonly account?: ProgramAccount;
  /** An existing folder in which the home folder is made; the system's temporary one when left out. */
  readonly parent?: string;
  /** Where servers listen; sockets in the home folder when left out. */
  readonly listen?: string;
  /** How the broker reaches a provider, given where it listens; straight when left out. */
  reach?(address: string): Promise<string>;
  /** Called with the home folder before anything starts. */
  prepare?(home: string): Promise<void>;
}

/** A process ends with it over a bug. */
const bugStatus = 70;
/** With which the runtime gives up. */
const fatalSignals: readonly (string | undefined)[] = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGTRAP'];
const greek = ['alpha', 'beta', 'gamma', 'delta'];

/** A whole grid of real processes with a home folder of its own, for tests across processes and for benchmarks. */
export class Grid {
  readonly home: string;
  readonly clusters: Program[] = [];
  /** One per cluster, in the same order, one per resource, and then that of the time-shared machines, if any. */
  readonly providers: Program[] = [];
  readonly agents: Program[] = [];
  #broker: Program | undefined;
  #client: BrokerClient | undefined;
  readonly #options: GridOptions;

  private constructor(options: GridOptions) {
    this.#options = options;
    this.home = mkdtempSync(join(options.parent ?? tmpdir(), 'mutirao-grid-'));
    if (options.account !== undefined) chownSync(this.home, options.account.uid, options.account.gid);
  }

  /** Starts all processes and answers when the broker serves. Machines join soon after. */
  static async start(options: GridOptions): Promise<Grid> {
    const grid = new Grid(options);
    try {
      await grid.#startAll();
      return grid;
    } catch (error) {
      await grid.stop();
      throw error;
    }
  }

  get broker(): Program {
    if (this.#broker === undefined) throw new Error('the grid has not started');
    return this.#broker;
  }

  /** Calls the broker; goes on with the broker's next process after a crash, since the port stays. */
  get client(): BrokerClient {
    this.#client ??= new BrokerClient(this.broker.address, this.home, () => this.assertAllLive());
    return this.#client;
  }

  /**
   * Passes while every program runs, was killed or was asked to end.
   *
   * @throws Error with the end of the log of one that ended over an error: what a test waits for would not come any
   * more. An agent may give up; that it has a bug counts.
   */
  async assertAllLive(): Promise<void> {
    for (const program of this.#programs()) {
      const end = await program.unaskedEnd();
      if (end !== undefined && isFall(end))
        throw new Error(
          `the ${end.name} ended with ${end.signal ?? `status ${end.exitCode ?? 0}`}:\n${end.lastLines.join('\n')}`,
        );
    }
  }

  /** Ends every process, the broker first, and removes the home folder without `keepHome`. May be called again. */
  async stop({ keepHome = false } = {}): Promise<void> {
    this.#client?.close();
    for (const program of this.#programs()) await program.kill('SIGTERM');
    if (!keepHome) rmSync(this.home, { recursive: true, force: true });
  }

  /** Has one more machine join the lab, which is there if the grid began with one. */
  async startMachine(machineId: string, { processors, args = [], env = {} }: GridMachineOptions): Promise<Program> {
    const lab = this.providers.at(-1);
    if (lab === undefined) throw new Error('the grid has no lab');
    // An option that a broker may have several times is not replaced by a later one.
    const provider = args.includes('--provider') ? [] : ['--provider', lab.agentsAddress];
    const own = [
      '--home',
      this.home,
      ...provider,
      '--provider-id',
      'lab',
      '--machine-id',
      machineId,
      '--processors',
      String(processors),
    ];
    const agent = new Program(
      'agent',
      [...own, ...(this.#options.agentArgs ?? []), ...args],
      { ...this.#env(), ...env },
      this.#witnesses(),
    );
    this.agents.push(agent);
    await agent.start();
    return agent;
  }

  #programs(): Program[] {
    return [...(this.#broker === undefined ? [] : [this.#broker]), ...this.providers, ...this.agents, ...this.clusters];
  }

  async #startAll(): Promise<void> {
    const { machines = [], brokerArgs = [] } = this.#options;
    await this.#options.prepare?.(this.home);
    const providers = await this.#startProviders();
    if (machines.length > 0) providers.push(`lab=${await this.#reach(await this.#startMachines(machines))}`);
    this.#broker = this.#program('broker', [
      ...providers.flatMap((provider) => ['--provider', provider]),
      ...brokerArgs,
    ]);
    await this.#broker.start();
  }

  /** Returns their names and addresses, as the broker expects them. */
  async #startProviders(): Promise<string[]> {
    const { clusters = [], resources = [], clusterArgs = [], providerArgs = [] } = this.#options;
    const providers: string[] = [];
    for (const [index, processors] of clusters.entries()) {
      const id = greek[index] ?? `cluster${index}`;
      const cluster = this.#program('cluster', ['--id', id, '--processors', String(processors), ...clusterArgs]);
      this.clusters.push(cluster);
      await cluster.start();
      providers.push(
        await this.#startProvider(id, ['--manager', 'embedded', '--cluster', cluster.address, ...providerArgs]),
      );
    }
    for (const { id, args } of resources) providers.push(await this.#startProvider(id, [...args, ...providerArgs]));
    return providers;
  }

  async #startProvider(id: string, args: readonly string[]): Promise<string> {
    const provider = this.#program('provider', ['--id', id, ...args]);
    this.providers.push(provider);
    await provider.start();
    return `${id}=${await this.#reach(provider.address)}`;
  }

  async #reach(address: string): Promise<string> {
    return (await this.#options.reach?.(address)) ?? address;
  }

  async #startMachines(machines: readonly (number | GridMachineOptions)[]): Promise<string> {
    const lab = this.#program('provider', ['--id', 'lab', '--manager', 'none', ...(this.#options.providerArgs ?? [])]);
    this.providers.push(lab);
    await lab.start();
    for (const [index, machine] of machines.entries())
      await this.startMachine(`pc${index}`, typeof machine === 'number' ? { processors: machine } : machine);
    return lab.address;
  }

  #program(name: 'broker' | 'provider' | 'cluster', args: readonly string[]): Program {
    return new Program(
      name,
      ['--home', this.home, ...(this.#options.listen === undefined ? [] : ['--listen', this.#options.listen]), ...args],
      this.#env(),
      { ...this.#witnesses(), ...getPreload(this.#options, name) },
    );
  }

  #witnesses(): { readonly account?: ProgramAccount } {
    return this.#options.account === undefined ? {} : { account: this.#options.account };
  }

  #env(): Record<string, string> {
    return { MUTIRAO_HOME: this.home, ...this.#options.env };
  }
}

function getPreload(
  { preloads = {} }: GridOptions,
  name: 'broker' | 'provider' | 'cluster',
): { readonly preload?: URL } {
  const preload = preloads[name];
  return preload === undefined ? {} : { preload };
}

/** Whether a process ended over an error: signals are what tests send. */
function isFall({ name, exitCode, signal }: UnaskedEnd): boolean {
  if (exitCode === undefined) return fatalSignals.includes(signal);
  return name === 'agent' ? exitCode === bugStatus : exitCode !== 0;
}
