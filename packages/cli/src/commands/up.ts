import { resolve } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { quoteForShell } from '@mutirao/core/bag';
import { requireUsableHost } from '@mutirao/runtime/files';
import { isOnPath, raiseSoftLimits, requireLimits } from '@mutirao/runtime/processes';
import { readIsolationMode } from '@mutirao/runtime/program';

import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { parseClusters, type ClusterNodes, type GridSize } from '../grid/plan.ts';
import { parseGpuDevices, parseNamedResource, parseSize } from '@mutirao/formats';
import { parseSettings, refuseWithoutProcess } from '../grid/settings.ts';
import { gridJson, type GridRecord } from '../grid/record.ts';
import { checkSiteSelection } from './job/scheduling-options.ts';
import { startConnectors, stopConnectors } from '../site/start-connector.ts';
import { renderPairs } from '../output/table.ts';
import { printResult } from '../output/print-result.ts';
import { collect } from '../usage/repeated-options.ts';

/** How large the grid is, and whether the terminal is given back. */
export interface UpOptions extends MachineResources, ClusterCapacities {
  readonly clusters: string;
  readonly machines: number;
  readonly machineProcessors: number;
  readonly isolation?: string;
  readonly set: readonly string[];
  readonly trace?: string;
  readonly reservations?: true;
  readonly web: boolean;
  readonly siteSelection?: string;
  readonly detach?: true;
}

interface ClusterCapacities {
  readonly clusterNodes?: number;
  readonly clusterMemory?: string;
  readonly clusterGpus?: string;
}

interface MachineResources {
  readonly machineMemory?: string;
  readonly machineGpus?: string;
  readonly machineResource?: readonly string[];
}

export function define(command: Command, act: Act): void {
  command
    .optionsGroup('Common options:')
    .option('-d, --detach', 'run in the background; "mutirao down" stops the grid')
    .option(
      '--clusters <processors>',
      'processors of each embedded cluster: 8,4 starts two clusters; 0 starts none',
      '4',
    )
    .option('--cluster-nodes <count>', 'nodes of each cluster, among which its processors are divided', nodes)
    .option('--cluster-memory <size>', "memory of each node: 8G (default: its part of this host's)")
    .option('--cluster-gpus <gpus>', 'GPUs of each node: 2 or 2:a100')
    .option('--machines <count>', 'number of lab machines', count, 2)
    .option('--machine-processors <count>', 'processors of each lab machine', count, 1)
    .option('--machine-memory <size>', 'memory that each lab machine offers: 8G (default: what it has)')
    .option('--machine-gpus <gpus>', 'GPUs that each lab machine offers: 2, 2:a100 or 0,3 (default: what it has)')
    .option('--machine-resource <name=amount>', 'counted resource of each lab machine; may be repeated', collect)
    .option('--reservations', 'also start a reservation manager, which the clusters obey')
    .option('--no-web', 'do not serve the web page')
    .optionsGroup('Settings of processes:')
    .option(
      '--site-selection <strategy[:a]>',
      'site selection for tasks with several processors: none, min-ct:0.5, min-wwt:adaptive (default: none)',
    )
    .option(
      '--isolation <how>',
      'isolation of tasks from agents: auto, bubblewrap, account=NAME or none (default: auto)',
    )
    .option(
      '--set <process.option=value>',
      'set an option of all processes of a kind, for example cluster.walltime-max=10m; may be repeated',
      collect,
      [],
    )
    .option('--trace <folder>', 'write debugging traces of all processes there, for "mutirao sim replay"')
    .action((options: UpOptions) => act((context) => startGrid(context, options)));
}

/** Six processes of a small grid have about 15 threads each. */
const threadsMin = 128;

/** Starts a whole grid on this machine, and stays with it until interrupted, or detaches it. */
export async function startGrid(context: CommandContext, options: UpOptions): Promise<ExitStatus> {
  const size: GridSize = {
    clusters: parseClusters(options.clusters),
    machines: options.machines,
    machineProcessors: Math.max(1, options.machineProcessors),
    settings: findSettings(options),
    ...findClusterNodes(options),
    ...(options.trace === undefined ? {} : { traces: resolve(context.directory, options.trace) }),
    ...(options.reservations === true ? { hasReservations: true } : {}),
    ...(options.web ? { hasPage: true } : {}),
  };
  if (size.clusters.length === 0 && size.machines === 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      '--clusters 0 --machines 0 leaves the grid without processors. Leave one of them out, or start only a broker ' +
        'with "mutirao run broker" and add providers with "mutirao provider add"',
    );
  refuseIneffective(size);
  requireUsableHost(context.home);
  raiseSoftLimits();
  requireLimits(threadsMin);
  if (options.detach === true) {
    await startDetached(context, options);
    return 0;
  }
  const { runGrid } = await import('../grid/run-grid.ts');
  await runGrid(context, size, (grid) => {
    reportGrid(context, grid, 'Ctrl-C stops it.');
    const sites = startConnectors(context.home);
    if (sites.length > 0) context.output.note(`Connecting ${sites.join(', ')}; see "mutirao site list".`);
  });
  await stopConnectors(context);
  context.output.note('The grid has stopped.');
  return 0;
}

/**
 * What each embedded cluster consists of, if that is stated. @throws {MutiraoError, FormatError} MUT_BAD_REQUEST,
 * MUT_BAD_SIZE, MUT_BAD_RESOURCE before anything is started.
 */
export function findClusterNodes(options: Pick<UpOptions, 'clusters' | 'reservations' | keyof ClusterCapacities>): {
  readonly clusterNodes?: ClusterNodes;
} {
  const { clusterNodes: count = 1, clusterMemory, clusterGpus } = options;
  const [given] = listCapacities(options);
  if (given === undefined) return {};
  refuseNodes(given, count, options);
  if (clusterGpus !== undefined) parseGpuDevices(clusterGpus);
  const memory = clusterMemory === undefined ? '' : `:memory=${parseSize(clusterMemory)}`;
  return { clusterNodes: { count, properties: `${memory}${clusterGpus === undefined ? '' : `:gpus=${clusterGpus}`}` } };
}

/** @param given an option that says what nodes are. @throws {MutiraoError} MUT_BAD_REQUEST */
function refuseNodes(
  given: string,
  count: number,
  { clusters, clusterGpus = '', reservations }: Pick<UpOptions, 'clusters' | 'clusterGpus' | 'reservations'>,
): void {
  const sizes = parseClusters(clusters);
  if (sizes.length === 0) throw bad(`there is ${given}, and --clusters is "${clusters}"; expected a cluster`);
  if (reservations === true)
    throw bad(`${given} and --reservations exclude each other: a cluster of nodes enforces no reservations`);
  const uneven = sizes.find((processors) => processors % count > 0);
  if (uneven !== undefined)
    throw bad(
      `--cluster-nodes ${count} does not divide ${uneven} processors; expected a multiple, as in --clusters ` +
        `${Math.ceil(uneven / count) * count}`,
    );
  if (clusterGpus.includes(','))
    throw bad(`--cluster-gpus is "${clusterGpus}"; expected how many each node has, as in 2:a100`);
}

/** The options that say what nodes are, as they are written: each with its value behind it. */
function listCapacities({ clusterNodes, clusterMemory, clusterGpus }: ClusterCapacities): string[] {
  return [
    ...(clusterNodes === undefined ? [] : ['--cluster-nodes', String(clusterNodes)]),
    ...(clusterMemory === undefined ? [] : ['--cluster-memory', clusterMemory]),
    ...(clusterGpus === undefined ? [] : ['--cluster-gpus', clusterGpus]),
  ];
}

function bad(message: string): MutiraoError {
  return new MutiraoError('MUT_BAD_REQUEST', message);
}

function refuseIneffective({ settings, clusters, machines, hasReservations, hasPage }: GridSize): void {
  refuseWithoutProcess(settings, {
    ...(clusters.length === 0 ? { cluster: 'there are no clusters (--clusters)' } : {}),
    ...(machines === 0 ? { agent: 'there are no lab machines (--machines)' } : {}),
    ...(hasReservations === true ? {} : { reservations: 'there is no reservation manager (--reservations)' }),
    ...(hasPage === true ? {} : { web: 'there is no page (--no-web)' }),
  });
}

/**
 * The options of a grid's processes by kind. Those of --set come last, and so win. @throws {MutiraoError}
 * MUT_BAD_REQUEST, MUT_BAD_CONFIG
 */
export function findSettings({
  set,
  siteSelection,
  isolation,
  ...machines
}: Pick<UpOptions, 'set' | 'siteSelection' | 'isolation' | keyof MachineResources>): GridSize['settings'] {
  const given = parseSettings(set);
  const apart = isolation === undefined ? [] : ['--isolation', checkIsolation(isolation)];
  const agent = [...apart, ...listMachineResources(machines), ...given.agent];
  const settings = { ...given, agent, provider: [...apart, ...given.provider] };
  return siteSelection === undefined
    ? settings
    : { ...settings, broker: ['--site-selection', checkSiteSelection(siteSelection), ...settings.broker] };
}

/**
 * What each lab machine offers, as options of its agent. @throws {FormatError} MUT_BAD_SIZE, MUT_BAD_RESOURCE before
 * anything is started.
 */
function listMachineResources({ machineMemory, machineGpus, machineResource = [] }: MachineResources): string[] {
  if (machineGpus !== undefined) parseGpuDevices(machineGpus);
  for (const text of machineResource) parseNamedResource(text);
  return [
    ...(machineMemory === undefined ? [] : ['--memory', `${parseSize(machineMemory)}`]),
    ...(machineGpus === undefined ? [] : ['--gpus', machineGpus]),
    ...machineResource.flatMap((text) => ['--resource', text]),
  ];
}

/** @throws {MutiraoError} MUT_BAD_CONFIG before anything is started. */
function checkIsolation(word: string): string {
  readIsolationMode(word);
  return word;
}

/** Starts this same command again in the background, and answers when its grid is ready. */
async function startDetached(context: CommandContext, options: UpOptions): Promise<void> {
  const { detachGrid } = await import('../grid/detach.ts');
  const args = [
    '--clusters',
    options.clusters,
    '--machines',
    String(options.machines),
    '--machine-processors',
    String(options.machineProcessors),
    ...listCapacities(options),
    ...(options.machineMemory === undefined ? [] : ['--machine-memory', options.machineMemory]),
    ...(options.machineGpus === undefined ? [] : ['--machine-gpus', options.machineGpus]),
    ...(options.machineResource ?? []).flatMap((text) => ['--machine-resource', text]),
    ...(options.reservations === true ? ['--reservations'] : []),
    ...(options.web ? [] : ['--no-web']),
    ...(options.siteSelection === undefined ? [] : ['--site-selection', options.siteSelection]),
    ...(options.isolation === undefined ? [] : ['--isolation', options.isolation]),
    ...options.set.flatMap((setting) => ['--set', setting]),
    ...(options.trace === undefined ? [] : ['--trace', resolve(context.directory, options.trace)]),
  ];
  reportGrid(context, await detachGrid(context, args), '"mutirao down" stops it.');
}

function reportGrid(context: CommandContext, grid: GridRecord, ending: string): void {
  printResult(context.output, {
    json: () => gridJson(context.home, grid),
    quiet: () => [grid.broker],
    table: () => gridLines(context.home, grid, ending),
  });
}

/** How the user calls this command line: through npx, by its name on the PATH, or by its path. */
export function calledAs({
  environment,
  script,
}: {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly script: string | undefined;
}): string {
  const name = 'mutirao';
  if (environment['npm_command'] === 'exec') return `npx ${name}`;
  return script === undefined || isOnPath(name, environment['PATH']) ? name : quoteForShell(script);
}

function gridLines(home: string, grid: GridRecord, ending: string): string[] {
  const clusters = grid.clusters.map(({ name, processors }) => `${name} (${processors} processors)`).join(', ');
  const parts = [
    grid.clusters.length === 0 ? '' : `${grid.clusters.length === 1 ? 'cluster' : 'clusters'} ${clusters}`,
    grid.machines === 0 ? '' : `${grid.machines} lab ${grid.machines === 1 ? 'machine' : 'machines'}`,
  ]
    .filter((part) => part !== '')
    .join(' and ');
  const first = grid.clusters[0]?.name;
  const program = calledAs({ environment: process.env, script: process.argv[1] });
  const tries = renderPairs([
    [`  export MUTIRAO_HOME=${home}`, '# in other shells, unless it is the default'],
    [`  ${program} job submit --array 1-100 --wait -- 'echo {}'`, '# a bag of a hundred tasks'],
    [`  ${program} status`, '# jobs, providers, machines'],
    [`  ${program} task list last`, '# machine, times and status of each task'],
    [`  ${program} ledger`, '# where the processor time went'],
    ...(first === undefined || grid.reservations === undefined
      ? []
      : [
          [
            `  ${program} reservation request --resource ${first} --count 1 --for 10m`,
            '# a processor reserved for you',
          ] as const,
        ]),
    ...(first === undefined
      ? []
      : [
          [
            `  ${program} cluster submit --cluster ${first} -- sleep 30`,
            '# a request to the same cluster, as a local user',
          ] as const,
        ]),
  ]);
  return [
    `A grid with ${parts} runs in ${home}; its broker listens at ${grid.broker}. ${ending}`,
    `Its logs: ${home}/logs`,
    ...(grid.page === undefined ? [] : [`Its page: ${grid.page}`]),
    '',
    ...tries,
  ];
}

function nodes(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Expected an integer of 1 or more.');
  return Number(text);
}

function count(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('Expected an integer of 0 or more.');
  return Number(text);
}
