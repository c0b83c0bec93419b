import { MutiraoError } from '@mutirao/api/errors';
import type { Duration, ProcessorCount } from '@mutirao/core/shared';
import { listWords } from '../run-tool.ts';
import { saidBy, type GridEngineCommands } from './grid-engine-commands.ts';
import {
  parseEnvironment,
  parseInstances,
  parseNames,
  parseQueues,
  type ClusterQueue,
  type ParallelEnvironment,
  type QueueInstance,
} from './parse-resource.ts';

/** The queues that jobs go to. */
export interface Place {
  /** Undefined where there is none: then a request has one processor. */
  readonly environment: ParallelEnvironment | undefined;
  readonly instances: readonly QueueInstance[];
  /** Of the queue that allows the longest; undefined where one has no limit. */
  readonly walltimeMax: Duration | undefined;
}

/** Which part of a Grid Engine is meant. */
export interface PlaceWanted {
  /** Empty for all queues that have the environment. */
  readonly queue: string;
  /** Empty for one that suits. */
  readonly parallelEnvironment: string;
  /** Queues that this user may not use do not count. */
  readonly user: string;
  /** The result of an earlier read; then only what changes from moment to moment is read again. */
  readonly known?: Place;
}

/**
 * Reads it.
 *
 * @throws {MutiraoError} MUT_UNREACHABLE; MUT_BAD_REQUEST for a queue or an environment that does not exist.
 */
export async function readPlace(commands: GridEngineCommands, wanted: PlaceWanted): Promise<Place> {
  const { known } = wanted;
  const { environment, walltimeMax } = known ?? (await readSettings(commands, wanted));
  const flags = [
    ...(wanted.queue === '' ? [] : ['-q', wanted.queue]),
    ...(environment === undefined ? [] : ['-pe', environment.name]),
  ];
  const root = await commands.readXml('qstat', ['-f', '-u', wanted.user, '-s', 'r', '-U', wanted.user, ...flags]);
  const instances = parseInstances(root);
  if (typeof instances === 'string')
    throw new MutiraoError('MUT_UNREACHABLE', `qstat did not print queues: ${listWords(instances)}`);
  return { environment, walltimeMax, instances };
}

async function readSettings(
  commands: GridEngineCommands,
  { queue, parallelEnvironment }: PlaceWanted,
): Promise<Pick<Place, 'environment' | 'walltimeMax'>> {
  const answer = await commands.run('qconf', ['-sq', queue === '' ? '*' : queue]);
  const queues = parseQueues(answer.stdout);
  if (queues.length === 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      queue === '' ? 'Grid Engine shows no queue' : `Grid Engine shows no queue "${queue}": ${saidBy(answer)}`,
    );
  const environment =
    parallelEnvironment === ''
      ? await chooseEnvironment(commands, queues)
      : await readEnvironment(commands, parallelEnvironment);
  const suitable =
    environment === undefined ? queues : queues.filter(({ environments }) => environments.has(environment.name));
  if (environment !== undefined && suitable.length === 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `no queue${queue === '' ? '' : ` "${queue}"`} has the parallel environment "${environment.name}"`,
    );
  const limits = suitable.map(({ walltimeMax }) => walltimeMax ?? Infinity);
  const longest = Math.max(...limits);
  return { environment, walltimeMax: Number.isFinite(longest) ? longest : undefined };
}

async function readEnvironment(commands: GridEngineCommands, name: string): Promise<ParallelEnvironment> {
  const answer = await commands.run('qconf', ['-sp', name]);
  const environment = parseEnvironment(answer.stdout);
  if (environment === undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', `Grid Engine shows no parallel environment "${name}": ${saidBy(answer)}`);
  return environment;
}

/** The first, by name, of those that let a job start processes on several hosts, or else that keep to one host. */
async function chooseEnvironment(
  commands: GridEngineCommands,
  queues: readonly ClusterQueue[],
): Promise<ParallelEnvironment | undefined> {
  const offered = new Set(queues.flatMap(({ environments }) => [...environments]));
  const { stdout } = await commands.run('qconf', ['-spl']);
  const names = parseNames(stdout)
    .filter((name) => offered.has(name))
    .sort((one, other) => (one < other ? -1 : 1));
  const environments: ParallelEnvironment[] = [];
  for (const name of names) environments.push(await readEnvironment(commands, name));
  const usable = environments.filter(
    ({ startsElsewhere, layout, slots }) => slots > 0 && (startsElsewhere || layout === 'one host'),
  );
  return (
    usable.find(({ layout }) => layout === 'any') ?? usable.find(({ layout }) => layout !== 'one host') ?? usable[0]
  );
}

/**
 * Processors that jobs get sooner or later; all, where nothing is usable now: nothing at all would never be asked for
 * again.
 */
export function getUsable({ instances }: Place): ProcessorCount {
  return totals(instances).reduce((sum, total) => sum + total, 0);
}

/** What one request may have. */
export function getWidths({ environment, instances }: Place): {
  readonly widthMax: ProcessorCount;
  readonly widthGranularity?: ProcessorCount;
} {
  const each = totals(instances);
  const all = each.reduce((sum, total) => sum + total, 0);
  if (environment === undefined) return { widthMax: Math.min(1, all) };
  const { slots, layout } = environment;
  if (layout === 'any') return { widthMax: Math.min(all, slots) };
  if (layout === 'one host')
    return {
      widthMax: Math.min(
        each.reduce((most, total) => Math.max(most, total), 0),
        slots,
      ),
    };
  const hosts = each.filter((total) => total >= layout).length;
  return { widthMax: Math.floor(Math.min(hosts * layout, slots) / layout) * layout, widthGranularity: layout };
}

function totals(instances: readonly QueueInstance[]): ProcessorCount[] {
  const usable = instances.filter(({ isUsable }) => isUsable);
  return (usable.length === 0 ? instances : usable).map(({ total }) => total);
}
