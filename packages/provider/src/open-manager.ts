import { join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { LeadRule } from '@mutirao/core/reservations';
import type { Duration } from '@mutirao/core/shared';
import {
  CommandsManager,
  EmbeddedCluster,
  GridEngineManager,
  OarManager,
  readManagerFile,
  SlurmManager,
  type EmbeddedClusterOptions,
  type ResourceManager,
} from '@mutirao/managers';
import { systemClock } from '@mutirao/runtime/driver';
import { userTrust } from '@mutirao/runtime/identity';
import { accountName, readToken, tokenPath } from '@mutirao/runtime/files';
import type { Logger } from '@mutirao/runtime/log';
import { choice, duration, integer, parseDuration, text, type ConfigOf } from '@mutirao/runtime/program';
import { addressIn } from './address-in.ts';

/** Options that say which resource manager the resource has, and how to use it. */
export const managerOptions = {
  manager: choice({
    help: 'Resource manager; none = machines join by themselves.',
    words: ['embedded', 'slurm', 'grid-engine', 'oar', 'commands', 'none'],
    default: 'embedded',
  }),
  cluster: text({
    help: 'Embedded cluster: its address, or its name if it uses this home folder.',
    placeholder: 'HOST:PORT|ID',
    default: 'local',
  }),
  clusterHome: text({
    help: 'Home folder of the embedded cluster, for its token, if it is another one.',
    placeholder: 'FOLDER',
  }),
  reservationResource: text({
    help:
      "Name of this resource at the reservation manager. Default: the embedded cluster's name, or the " +
      "provider's id (Slurm, Grid Engine, OAR).",
    placeholder: 'NAME',
  }),
  managerFile: text({
    help: 'With --manager commands: JSON file with the command templates.',
    placeholder: 'FILE',
  }),
  queueInterval: duration({
    help: 'Time between two readings of the queue; 0 = 15 s, or 3 s for an embedded cluster.',
    default: 0,
  }),
  managerDeadline: duration({
    help: 'Kills a command of the manager that takes longer.',
    default: 30_000,
  }),
  requestsMax: integer({
    help: 'Requests that may be queued or running at once. An embedded cluster states its own limit.',
    default: 4,
    min: 1,
    max: 1000,
  }),
  walltimeMax: duration({
    help: "Longest walltime to request; 0 = the manager's limit. Not for an embedded cluster.",
    default: 0,
  }),
  widthMax: integer({
    help: "Most processors of one request; 0 = the manager's limit. For Slurm, Grid Engine and OAR.",
    default: 0,
    min: 0,
    max: 1_000_000,
  }),
  slurmPartition: text({ help: "Partition. Default: Slurm's default.", placeholder: 'NAME' }),
  slurmAccount: text({ help: "Account to charge. Default: Slurm's default.", placeholder: 'NAME' }),
  slurmQos: text({ help: "Quality of service. Default: Slurm's default.", placeholder: 'NAME' }),
  reservations: text({
    help:
      'Reservation manager whose reservations Slurm, Grid Engine or OAR enforces, or for which allocations are ' +
      'requested ahead (--pre-acquire). Default: none.',
    placeholder: 'HOST:PORT',
  }),
  preAcquire: text({
    help:
      'With --reservations: requests allocations ahead of a reservation and holds them. fixed:1h = that long ' +
      'before the start; learned:90% = as long ahead as that share of past requests waited; forecast:1h = as ' +
      'soon as the queue promises no earlier start than that before the reservation. Default: never.',
    placeholder: 'RULE',
  }),
  slurmFlags: text({
    help: 'More flags of sbatch, separated by spaces: "--constraint=avx2 --mem-per-cpu=2G".',
    placeholder: 'FLAGS',
  }),
  agents: choice({
    help: 'Agents of an allocation: one for each node, or one for each processor or slot. auto = node for slots of Slurm, else processor.',
    words: ['auto', 'node', 'processor'],
    default: 'auto',
  }),
  gridEngineQueue: text({
    help: 'Cluster queue. Default: all that have the parallel environment.',
    placeholder: 'NAME',
  }),
  gridEnginePe: text({ help: 'Parallel environment. Default: the first suitable one.', placeholder: 'NAME' }),
  gridEngineFlags: text({
    help: 'More flags of qsub, separated by spaces: "-P thesis -l mem_free=2G".',
    placeholder: 'FLAGS',
  }),
  oarFlags: text({
    help: 'More flags of oarsub, separated by spaces: "-q besteffort --project=thesis".',
    placeholder: 'FLAGS',
  }),
};

type ManagerConfig = ConfigOf<typeof managerOptions>;

/** Managers of a site that are used by their commands, and take words for each submission. */
const byCommands: readonly string[] = ['slurm', 'grid-engine', 'oar', 'commands'];
/** Managers that may make reservations for a user. */
const reserving: readonly string[] = ['slurm', 'grid-engine', 'oar'];

function isByCommands(manager: ManagerConfig['manager']): boolean {
  return byCommands.includes(manager);
}

/** Where a provider's files are, and its token. */
export interface ManagerPlaces {
  readonly home: string;
  /** The provider's own folder. */
  readonly directory: string;
  readonly token: string;
  /** The provider's id. */
  readonly id: string;
  /** Words for each submission. */
  readonly passedOn: readonly string[];
  readonly log: Pick<Logger, 'info'>;
}

/** Opens the configured resource manager. @throws {MutiraoError} MUT_UNREACHABLE, MUT_BAD_CONFIG */
export function openManager(config: ManagerConfig, places: ManagerPlaces): ResourceManager | undefined {
  const { manager, managerFile } = config;
  if (places.passedOn.length > 0 && !isByCommands(manager))
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `there are words after "--" (${places.passedOn.join(' ')}), and the manager "${manager}" has no use for ` +
        `them; expected ${byCommands.join(', ')}`,
    );
  requireReservable(config);
  if (managerFile !== '' && manager !== 'commands')
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `--manager-file is "${managerFile}", and --manager is "${manager}"; expected --manager commands with it`,
    );
  switch (manager) {
    case 'none':
      return undefined;
    case 'slurm':
      return openSlurm(config, places);
    case 'grid-engine':
      return openGridEngine(config, places);
    case 'oar':
      return openOar(config, places);
    case 'commands':
      return openCommands(config, places);
    case 'embedded':
      return openEmbedded(config, places);
  }
}

/** @throws {MutiraoError} MUT_BAD_CONFIG for options about reservations that do not go together. */
function requireReservable({ preAcquire, reservations, manager }: ManagerConfig): void {
  if (preAcquire !== '' && (reservations === '' || manager === 'none'))
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `--pre-acquire is "${preAcquire}"; expected --reservations with it, and a resource manager`,
    );
  if (reservations !== '' && preAcquire === '' && !reserving.includes(manager))
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `--reservations is "${reservations}", and --manager is "${manager}"; expected ${reserving.join(', ')}, ` +
        'or the option of the embedded cluster itself',
    );
}

/**
 * Sees to it that nothing is held ahead for reservations that the manager honours by itself: its wall would be in the
 * way of the request.
 *
 * @throws {MutiraoError} MUT_PRE_ACQUIRE_NOT_SUPPORTED
 */
export async function requirePreAcquire(
  { preAcquire, cluster }: Pick<ManagerConfig, 'preAcquire' | 'cluster'>,
  manager: Pick<ResourceManager, 'honoursReservations'> | undefined,
): Promise<void> {
  if (preAcquire === '' || (await manager?.honoursReservations?.()) !== true) return;
  throw new MutiraoError(
    'MUT_PRE_ACQUIRE_NOT_SUPPORTED',
    `--pre-acquire is "${preAcquire}", and the cluster ${cluster} honours reservations by itself; expected neither ` +
      '--pre-acquire nor --reservations',
  );
}

/** Says how reservations of the resource are seen to, and where another way would do better. Never throws. */
export async function reportReserving(
  { preAcquire }: Pick<ManagerConfig, 'preAcquire'>,
  manager: Pick<ResourceManager, 'mayReserve' | 'siteReservations'> | undefined,
  log: Pick<Logger, 'info' | 'warn'>,
): Promise<void> {
  if (preAcquire !== '')
    log.info(
      { rule: preAcquire },
      'reservations: requesting allocations ahead of them and holding these (best effort)',
    );
  else if (manager?.siteReservations !== undefined)
    log.info({}, 'reservations: made by the resource manager, which guarantees those that it accepts');
  else return;
  const mayReserve = await manager?.mayReserve?.();
  if (preAcquire !== '' && mayReserve === true)
    log.warn(
      {},
      'this account may reserve at the resource manager, which would guarantee reservations; leave out ' +
        '--pre-acquire to use that',
    );
  if (preAcquire === '' && mayReserve === false)
    log.warn(
      {},
      'this account may not reserve at the resource manager; use --pre-acquire to request allocations ahead ' +
        'of reservations',
    );
}

/** Time between two readings of the queue: a site's manager is not ours to burden. */
export function getQueueInterval({ manager, queueInterval }: ManagerConfig): Duration {
  if (queueInterval > 0) return queueInterval;
  return isByCommands(manager) ? 15_000 : 3_000;
}

function openEmbedded(
  { cluster, clusterHome, reservationResource }: ManagerConfig,
  places: ManagerPlaces,
): ResourceManager {
  const onWalltimeGain: EmbeddedClusterOptions['onWalltimeGain'] = (
    { clientRequestId, walltime },
    { walltimeMs, expectedWaitMs, tighterExpectedWaitMs },
  ) => {
    places.log.info(
      {
        request: clientRequestId,
        walltime_ms: walltime,
        tighter_ms: walltimeMs,
        wait_ms: expectedWaitMs,
        tighter_wait_ms: tighterExpectedWaitMs,
      },
      'a shorter walltime would have started the request earlier',
    );
  };
  const { home, token } = clusterHome === '' ? places : { home: clusterHome, token: readToken(tokenPath(clusterHome)) };
  const address = cluster.includes(':') ? cluster : addressIn(join(home, 'clusters', cluster, 'cluster.json'));
  if (address === undefined)
    throw new MutiraoError(
      'MUT_UNREACHABLE',
      `there is no cluster "${cluster}" in ${home}; start it first, or give its address`,
    );
  return new EmbeddedCluster({
    address,
    token,
    trust: userTrust(home),
    reservationResource: reservationResource || (cluster.includes(':') ? '' : cluster),
    onWalltimeGain,
  });
}

function openSlurm(config: ManagerConfig, { id, directory, passedOn }: ManagerPlaces): ResourceManager {
  for (const name of [config.slurmPartition, config.slurmAccount, config.slurmQos]) {
    if (!/^[\w.:@+-]*$/.test(name))
      throw new MutiraoError('MUT_BAD_CONFIG', `"${name}" is the name of no partition, account or quality of service`);
  }
  const flags = wordsIn(config.slurmFlags);
  if (config.slurmAccount !== '') flags.push(`--account=${config.slurmAccount}`);
  if (config.slurmQos !== '') flags.push(`--qos=${config.slurmQos}`);
  return new SlurmManager({
    user: accountName(),
    partition: config.slurmPartition,
    flags: [...flags, ...passedOn],
    requestsMax: config.requestsMax,
    walltimeMax: config.walltimeMax,
    widthMax: config.widthMax,
    ...(config.agents === 'auto' ? {} : { agents: config.agents }),
    logFolder: join(directory, 'allocations'),
    deadlineMs: config.managerDeadline,
    environment: process.env,
    now: () => systemClock.now(),
    ...getReservations(config, id),
  });
}

function openGridEngine(config: ManagerConfig, { id, directory, passedOn }: ManagerPlaces): ResourceManager {
  return new GridEngineManager({
    user: accountName(),
    queue: config.gridEngineQueue,
    parallelEnvironment: config.gridEnginePe,
    flags: [...wordsIn(config.gridEngineFlags), ...passedOn],
    requestsMax: config.requestsMax,
    walltimeMax: config.walltimeMax,
    widthMax: config.widthMax,
    jobFolder: join(directory, 'allocations'),
    deadlineMs: config.managerDeadline,
    environment: process.env,
    now: () => systemClock.now(),
    ...getReservations(config, id),
  });
}

function openOar(config: ManagerConfig, { id, directory, passedOn }: ManagerPlaces): ResourceManager {
  return new OarManager({
    user: accountName(),
    flags: [...wordsIn(config.oarFlags), ...passedOn],
    requestsMax: config.requestsMax,
    walltimeMax: config.walltimeMax,
    widthMax: config.widthMax,
    jobFolder: join(directory, 'allocations'),
    deadlineMs: config.managerDeadline,
    environment: process.env,
    now: () => systemClock.now(),
    ...getReservations(config, id),
  });
}

/** The reservations that the resource's own manager makes; none if allocations are pre-acquired instead. */
function getReservations(
  { reservations, preAcquire, reservationResource }: ManagerConfig,
  id: string,
): { readonly reservations?: { readonly prefix: string; readonly resourceId: string } } {
  return reservations === '' || preAcquire !== ''
    ? {}
    : { reservations: { prefix: `mutirao_${id}_`, resourceId: reservationResource || id } };
}

function wordsIn(flags: string): string[] {
  return flags.split(/\s+/).filter((word) => word !== '');
}

function openCommands(config: ManagerConfig, { directory, passedOn }: ManagerPlaces): ResourceManager {
  if (config.managerFile === '')
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      '--manager commands needs --manager-file, a JSON file with the templates of its commands',
    );
  return new CommandsManager({
    templates: readManagerFile(config.managerFile),
    user: accountName(),
    flags: passedOn,
    requestsMax: config.requestsMax,
    walltimeMax: config.walltimeMax,
    widthMax: config.widthMax,
    jobFolder: join(directory, 'allocations'),
    deadlineMs: config.managerDeadline,
    environment: process.env,
    now: () => systemClock.now(),
  });
}

/** Reads when to request pre-acquired allocations; undefined for never. @throws {MutiraoError} MUT_BAD_CONFIG */
export function readHolding(text: string): LeadRule | undefined {
  if (text === '') return undefined;
  const [, kind, value = ''] = /^(fixed|learned|forecast):(.+)$/.exec(text) ?? [];
  try {
    if (kind === 'fixed') return { kind, lead: parseDuration(value) };
    if (kind === 'forecast') return { kind, margin: parseDuration(value) };
    if (kind === 'learned' && /^[1-9]\d?%$/.test(value)) return { kind, share: Number.parseInt(value, 10) / 100 };
  } catch (error) {
    throw wrongHolding(text, { cause: error });
  }
  throw wrongHolding(text);
}

function wrongHolding(text: string, options: ErrorOptions = {}): MutiraoError {
  return new MutiraoError(
    'MUT_BAD_CONFIG',
    `--pre-acquire is "${text}"; expected fixed: with a time such as fixed:1h, learned: with a share such as ` +
      'learned:90%, or forecast: with a time such as forecast:1h',
    options,
  );
}
