import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { ownProgram } from '@mutirao/runtime/processes';
import { keepLast } from '@mutirao/runtime/program';

import { webInfoPath } from './page.ts';
import { isOurs } from './record.ts';
import type { ProcessName } from './programs.ts';
import type { ProcessPlan } from './supervisor.ts';

/** What a grid on one machine consists of. */
export interface GridSize {
  /** Processors of each embedded cluster. */
  readonly clusters: readonly number[];
  /** What each embedded cluster consists of; left out where they give processors and nothing else. */
  readonly clusterNodes?: ClusterNodes;
  /** Time-shared lab machines. */
  readonly machines: number;
  /** Processors of each lab machine. */
  readonly machineProcessors: number;
  /** Further options of the processes by kind, as `--set cluster.walltime-max=10m` gives them. */
  readonly settings: Readonly<Record<ProcessName, readonly string[]>>;
  /** Absolute folder for debugging traces of all processes; left out for none. */
  readonly traces?: string;
  /** Whether its processes end by themselves when this one is gone. */
  readonly isLeashed?: true;
  /** Whether it has a reservation manager, whose reservations its clusters honour. */
  readonly hasReservations?: true;
  /** Whether a page of it is served. */
  readonly hasPage?: true;
}

/** Equal nodes of each embedded cluster. */
export interface ClusterNodes {
  /** Among how many nodes its processors are divided. */
  readonly count: number;
  /** What each has in addition, as `--node` of the cluster takes it: `:memory=8G:gpus=1:a100`; may be empty. */
  readonly properties: string;
}

/** Plans the processes of a grid that share a home folder. */
export class GridPlan {
  readonly #home: string;
  readonly #size: GridSize;

  constructor(home: string, size: GridSize) {
    this.#home = home;
    this.#size = size;
  }

  /** @param reservations address of the reservation manager whose reservations it honours; empty for none. */
  cluster(id: string, processors: number, reservations = ''): ProcessPlan {
    const info = join(this.#home, 'clusters', id, 'cluster.json');
    const honours = reservations === '' ? [] : ['--reservations', reservations];
    return this.#plan('cluster', `cluster-${id}`, {
      args: ['--id', id, ...this.#listNodes(processors), ...honours],
      info,
    });
  }

  #listNodes(processors: number): string[] {
    const { clusterNodes } = this.#size;
    if (clusterNodes === undefined) return ['--processors', String(processors)];
    const { count, properties } = clusterNodes;
    return Array.from({ length: count }, (_, index) => [
      '--node',
      `n${index + 1}=local:${processors / count}${properties}`,
    ]).flat();
  }

  reservations(id: string): ProcessPlan {
    return this.#plan('reservations', 'reservations', {
      args: ['--id', id],
      info: join(this.#home, 'reservations', id, 'reservations.json'),
    });
  }

  /** @param manager the options that say what it obtains machines from: `embeddedManager`, `noManager`, or others. */
  provider(id: string, manager: readonly string[]): ProcessPlan {
    return this.#plan('provider', `provider-${id}`, {
      args: ['--id', id, ...manager],
      info: join(this.#home, 'providers', id, 'provider.json'),
    });
  }

  /**
   * @param reservations address of the reservation manager to which jobs' own reservations are given back; empty for
   * none.
   */
  broker(providers: readonly { readonly name: string; readonly address: string }[], reservations = ''): ProcessPlan {
    const args = [
      ...providers.flatMap(({ name, address }) => ['--provider', `${name}=${address}`]),
      ...listFormerProviders(
        this.#home,
        providers.map(({ name }) => name),
      ).flatMap(({ name, address }) => ['--former-provider', `${name}=${address}`]),
    ];
    return this.#plan('broker', 'broker', {
      args: [...args, ...(reservations === '' ? [] : ['--reservations', reservations])],
      info: join(this.#home, 'broker.json'),
    });
  }

  agent(machine: string, providerAddress: string): ProcessPlan {
    const args = [
      '--provider',
      providerAddress,
      '--machine-id',
      machine,
      '--identity',
      machine,
      '--processors',
      String(this.#size.machineProcessors),
    ];
    return this.#plan('agent', `agent-${machine.replace('/', '-')}`, { args, info: undefined });
  }

  /** The page; it finds the broker by the home folder. */
  web(): ProcessPlan {
    return this.#plan('web', 'web', { args: [], info: webInfoPath(this.#home) });
  }

  /** @param info where the process writes its address; undefined for one that does not listen. */
  #plan(
    kind: ProcessName,
    name: string,
    { args, info }: { args: readonly string[]; info: string | undefined },
  ): ProcessPlan {
    const { settings, traces, isLeashed } = this.#size;
    const trace = traces === undefined || kind === 'web' ? [] : ['--trace', join(traces, `${name}.jsonl`)];
    const leash = isLeashed === true ? ['--leash'] : [];
    const fixed = [
      ...ownProgram(kind),
      ...keepLast(['--home', this.#home, ...leash, ...args, ...trace, ...settings[kind]]),
    ];
    return {
      name,
      command: (address) => [...fixed, ...(info === undefined || address === undefined ? [] : ['--listen', address])],
      findAddress: info === undefined ? undefined : (pid) => findAddress(info, pid),
    };
  }
}

/**
 * The options of a provider whose resource is the embedded cluster at an address.
 *
 * @param reservedAs what the cluster is called at its reservation manager; empty where it honours no reservations.
 */
export function embeddedManager(clusterAddress: string, reservedAs = ''): readonly string[] {
  return [
    '--manager',
    'embedded',
    '--cluster',
    clusterAddress,
    ...(reservedAs === '' ? [] : ['--reservation-resource', reservedAs]),
  ];
}

/** The options of a provider whose machines attach by themselves. */
export const noManager: readonly string[] = ['--manager', 'none'];

/** A file of an earlier process names another process id, and half a file is never seen. */
function findAddress(path: string, pid: number): string | undefined {
  try {
    const reported = JSON.parse(readFileSync(path, 'utf8')) as { address?: string; pid?: number };
    return reported.pid === pid ? reported.address : undefined;
  } catch {
    return undefined; // Not written yet.
  }
}

/**
 * Providers that an earlier `up` has started in the home folder, and this one does not: those with the names that `up`
 * gives whose process has ended.
 */
export function listFormerProviders(home: string, started: readonly string[]): { name: string; address: string }[] {
  const names = existsSync(join(home, 'providers')) ? readdirSync(join(home, 'providers')) : [];
  return names.flatMap((name) => {
    if (started.includes(name) || !isNameOfUp(name)) return [];
    const { address, pid } = readInfo(join(home, 'providers', name, 'provider.json'));
    // Sockets are of this host; a provider with another address may run on another one.
    const isGone = address?.startsWith('unix:') === true && pid !== undefined && !isOurs(pid, 'provider');
    return isGone ? [{ name, address }] : [];
  });
}

function isNameOfUp(name: string): boolean {
  return name === 'lab' || greek.includes(name) || /^cluster\d+$/.test(name);
}

function readInfo(path: string): { readonly address?: string; readonly pid?: number } {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { address?: string; pid?: number };
  } catch {
    return {};
  }
}

const greek = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta'];

/** The name of the cluster at a position. */
export function clusterName(index: number): string {
  return greek[index] ?? `cluster${index + 1}`;
}

/**
 * Reads `8,4`: the processors of each cluster; `0` or nothing for no cluster. @throws {MutiraoError} MUT_BAD_REQUEST.
 */
export function parseClusters(text: string): number[] {
  if (text === '' || text === '0') return [];
  return text.split(',').map((part) => {
    const processors = Number(part);
    if (!/^\d+$/.test(part) || processors < 1 || processors > 65_536) {
      throw new MutiraoError('MUT_BAD_REQUEST', `--clusters is "${text}"; expected the processors of each, as in 8,4`);
    }
    return processors;
  });
}
