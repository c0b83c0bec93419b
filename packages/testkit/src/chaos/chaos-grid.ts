import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ProgramName } from '../grid/program.ts';
import { FaultyWire } from './faulty-wire.ts';
import { freePort } from './free-port.ts';
import { KeptProgram } from './kept-program.ts';
import { SmallDisk } from './small-disk.ts';
import { liarEnvironment } from './workload.ts';

/** What a grid that will be maltreated consists of. */
export interface ChaosGridOptions {
  /** Holds everything. */
  readonly folder: string;
  /** Processors of each cluster. */
  readonly clusters: readonly number[];
  /** Processors of each honest lab machine; one more machine lies. */
  readonly machines: readonly number[];
  readonly hasDisks: boolean;
  log(line: string): void;
}

const greek = ['alpha', 'beta', 'gamma'];
/** The machine that lies, as the broker calls it. */
export const liarId = 'lab/liar';
const mebibyte = 1024 * 1024;
/** Sizes of the disks: small, so that they are soon full, and ample for what a run keeps. */
const diskBytes = { broker: 384 * mebibyte, other: 96 * mebibyte, agents: 256 * mebibyte, outputs: 256 * mebibyte };

/**
 * A grid of real processes, each kept alive, each way between two of them through a wire that can fail, each folder a
 * disk that can be full.
 */
export class ChaosGrid {
  readonly home: string;
  /** Where jobs bring their outputs. */
  readonly outputs: string;
  readonly programs: KeptProgram[] = [];
  readonly wires: FaultyWire[] = [];
  readonly disks: SmallDisk[] = [];
  /** Where users reach the broker. */
  brokerAddress = '';
  readonly #options: ChaosGridOptions;

  private constructor(options: ChaosGridOptions) {
    this.#options = options;
    this.home = join(options.folder, 'home');
    this.outputs = join(options.folder, 'outputs');
  }

  /** Starts all of it. @throws Error when something does not come up; then nothing runs. */
  static async start(options: ChaosGridOptions): Promise<ChaosGrid> {
    const grid = new ChaosGrid(options);
    try {
      await grid.#startAll();
      return grid;
    } catch (error) {
      await grid.stop();
      grid.unmount(true);
      throw error;
    }
  }

  /** All wires as new, all disks with room. Processes that are paused are the caller's to wake. */
  async heal(): Promise<void> {
    for (const wire of this.wires) await wire.mend();
    for (const disk of this.disks) disk.empty();
  }

  /** Ends every process, the broker first. Names of those that had to be killed. */
  async stop(): Promise<string[]> {
    const killed: string[] = [];
    const order = (name: string): number =>
      ['broker', 'provider', 'agent', 'cluster'].findIndex((kind) => name.startsWith(kind));
    for (const program of this.programs.toSorted((one, other) => order(one.name) - order(other.name))) {
      if (!(await program.stop())) killed.push(program.name);
    }
    for (const wire of this.wires) wire.close();
    return killed;
  }

  /** After `stop`: takes the disks away. @param keep whether their files stay. */
  unmount(keep: boolean): void {
    for (const disk of this.disks) disk.unmount({ keep });
    this.disks.length = 0;
  }

  async #startAll(): Promise<void> {
    const { clusters, machines } = this.#options;
    for (const folder of [this.home, this.outputs, join(this.#options.folder, 'logs')])
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#mount(join(this.home, 'agents'), diskBytes.agents);
    this.#mount(this.outputs, diskBytes.outputs);
    const providers: string[] = [];
    for (const [index, processors] of clusters.entries())
      providers.push(await this.#startCluster(greek[index] ?? `cluster${index}`, processors));
    if (machines.length > 0) providers.push(await this.#startMachines(machines));
    this.#mount(join(this.home, 'broker'), diskBytes.broker);
    const address = await this.#startProgram('broker', 'broker', [
      ...providers.flatMap((provider) => ['--provider', provider]),
      '--suspect-grace',
      '15s',
    ]);
    this.brokerAddress = await this.#wire('user-broker', address);
  }

  /** Returns the name and address of its provider, as the broker expects them. */
  async #startCluster(id: string, processors: number): Promise<string> {
    this.#mount(join(this.home, 'clusters', id), diskBytes.other);
    const cluster = await this.#startProgram(`cluster-${id}`, 'cluster', [
      '--id',
      id,
      '--processors',
      String(processors),
      '--walltime-max',
      '90s',
      '--requests-max',
      '4',
    ]);
    return await this.#startProvider(id, [
      '--manager',
      'embedded',
      '--cluster',
      await this.#wire(`${id}-cluster`, cluster),
    ]);
  }

  async #startMachines(machines: readonly number[]): Promise<string> {
    const reported = await this.#startProvider('lab', ['--manager', 'none']);
    const provider = this.wires.find(({ name }) => name === 'agents-lab')?.address ?? '';
    for (const [index, processors] of machines.entries())
      await this.#startMachine(provider, { id: `pc${index}`, processors, env: {} });
    await this.#startMachine(provider, { id: 'liar', processors: 1, env: liarEnvironment });
    return reported;
  }

  /** Each is another machine to votes, although all are this host. */
  async #startMachine(
    provider: string,
    {
      id,
      processors,
      env,
    }: { readonly id: string; readonly processors: number; readonly env: Readonly<Record<string, string>> },
  ): Promise<void> {
    const args = [
      '--provider',
      provider,
      '--provider-id',
      'lab',
      '--machine-id',
      id,
      '--identity',
      id,
      '--processors',
      String(processors),
    ];
    await this.#startProgram(`agent-${id}`, 'agent', args, env);
  }

  async #startProvider(id: string, manager: readonly string[]): Promise<string> {
    this.#mount(join(this.home, 'providers', id), diskBytes.other);
    const agents = await this.#wire(`agents-${id}`, '');
    const address = await this.#startProgram(`provider-${id}`, 'provider', [
      '--id',
      id,
      '--advertise',
      agents,
      '--agent-grace',
      '10s',
      '--idle-release',
      '5s',
      '--standby-after',
      '1s',
      '--refusal-pause-max',
      '4s',
      ...manager,
    ]);
    for (const wire of this.wires) if (wire.name === `agents-${id}`) wire.to = address;
    return `${id}=${await this.#wire(`broker-${id}`, address)}`;
  }

  /**
   * Answers its address; empty for an agent. Ports are below those that the system gives to connections, so that nobody
   * takes one meanwhile.
   */
  async #startProgram(
    name: string,
    kind: ProgramName,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const { folder, log } = this.#options;
    const listen = kind === 'agent' ? [] : ['--listen', `127.0.0.1:${await freePort()}`];
    const program = new KeptProgram(
      {
        name,
        kind,
        args: ['--home', this.home, ...listen, ...args],
        logFile: join(folder, 'logs', `${name}.log`),
        env: { MUTIRAO_HOME: this.home, ...env },
      },
      log,
    );
    this.programs.push(program);
    await program.start();
    return program.address;
  }

  async #wire(name: string, to: string): Promise<string> {
    const wire = new FaultyWire(name, to);
    this.wires.push(wire);
    return await wire.open();
  }

  #mount(folder: string, bytes: number): void {
    if (this.#options.hasDisks) this.disks.push(SmallDisk.mount(folder, bytes));
  }
}
