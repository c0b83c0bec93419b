import { once } from 'node:events';
import { join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { firstRequestLimits, providerDefaults, type ProviderConfig } from '@mutirao/core/machines/provider';
import { findHeuristic, heuristicDefaults, heuristicChoices, requestBudget } from '@mutirao/core/requests';
import { auditPath, openAudit } from '@mutirao/runtime/audit';
import { accountName, ensureToken, metricsTokenPath, readToken, tokenPath, writeAtomic } from '@mutirao/runtime/files';
import { identityFolder, userOfIdentity, userTrust } from '@mutirao/runtime/identity';
import { Metrics, startHttp } from '@mutirao/runtime/metrics';
import {
  bytes,
  defineProgram,
  duration,
  integer,
  quotaOption,
  readIsolationMode,
  readQuotas,
  text,
  traceOption,
  type ConfigOf,
  type ProgramContext,
} from '@mutirao/runtime/program';
import { ownProgram } from '@mutirao/runtime/processes';
import { acceptToken, listenAddress, nearAddress } from '@mutirao/runtime/rpc';
import { addressIn } from './address-in.ts';
import {
  requirePreAcquire,
  managerOptions,
  openManager,
  getQueueInterval,
  readHolding,
  reportReserving,
} from './open-manager.ts';
import { openEnrolled, startKeeping } from './machines/keep-machines.ts';
import { examples, optionGroups } from './option-help.ts';
import { startProvider, type ProviderSetup } from './start-provider.ts';

const { heuristic, idleRelease, agentGrace, brokerGrace, standbyAfter, refusalPause, refusalPauseMax, refusalsMax } =
  providerDefaults;
const { submissions, withdrawals } = requestBudget;

const options = {
  id: text({
    help: 'Name of the provider; its files are in providers/ID of the home folder.',
    placeholder: 'ID',
    default: 'local',
  }),
  listen: text({
    help:
      'Address to listen on: unix:/path, or a port (0 = that of the last start, else any free one). Default: a ' +
      'socket in the home folder.',
    placeholder: 'ADDRESS',
  }),
  listenAgents: text({
    help: 'Address to listen on for agents only, which need no certificate. Default: the same as for brokers.',
    placeholder: 'HOST:PORT',
  }),
  advertise: text({
    help:
      "Name or address by which agents reach this host. Default: the address listened on, or the host's name if " +
      'that is all addresses.',
    placeholder: 'HOST[:PORT]',
  }),
  metricsListen: text({
    help: 'Loopback address for /metrics and /healthz; port 0 takes a free one.',
    placeholder: 'HOST:PORT',
    default: '127.0.0.1:0',
  }),
  inputCacheSize: bytes({
    help: 'Size limit of the input cache shared by the agents of this provider; 0 = no cache.',
    default: 10 * 2 ** 30,
  }),
  ...managerOptions,
  user: text({
    help: "User to submit as. Default: the certificate's user, else the local account.",
    placeholder: 'NAME',
  }),
  heuristic: text({
    help: `Request heuristic: ${heuristicChoices.join(', ')}.`,
    placeholder: 'NAME',
    default: heuristic,
  }),
  defaultTaskTime: duration({
    help: 'Assumed run time of a task before any has finished; for initial, adaptive and mixed.',
    default: heuristicDefaults.defaultTime,
  }),
  idleRelease: duration({
    help:
      'Releases a running allocation after this long without demand, and withdraws a queued request after this ' +
      'long without need.',
    default: idleRelease,
  }),
  agentGrace: duration({ help: 'Counts a machine as lost when its agent is away for longer.', default: agentGrace }),
  brokerGrace: duration({ help: 'Ignores the demand of a broker that is away for longer.', default: brokerGrace }),
  standbyAfter: duration({
    help: 'Takes over for a broker that is away for longer: runs leased tasks and stores their results.',
    default: standbyAfter,
  }),
  refusalPause: duration({
    help: 'Pause after a refused request; doubles with each further one.',
    default: refusalPause,
  }),
  refusalPauseMax: duration({ help: 'Longest pause after refusals.', default: refusalPauseMax }),
  refusalsMax: integer({
    help: 'After this many refusals in a row, tries only once an hour, until new work arrives.',
    default: refusalsMax,
    min: 1,
    max: 1000,
  }),
  submissionsPerHour: integer({
    help: 'Most requests submitted within an hour by a heuristic that reacts to the queue.',
    default: submissions,
    min: 1,
    max: 10_000,
  }),
  withdrawalsPerHour: integer({
    help: 'Most requests given up within an hour, queued and running ones together, by such a heuristic.',
    default: withdrawals,
    min: 0,
    max: 10_000,
  }),
  firstRequestWalltime: duration({
    help:
      'Longest walltime while task run times are unknown; doubles as tasks outlast it. 0 = no limits on first ' +
      'requests. Not for static and mixed.',
    default: firstRequestLimits.walltime,
  }),
  firstRequestsMax: integer({
    help: 'Requests that may wait while task run times are unknown, in addition to those that can start at once.',
    default: firstRequestLimits.waitingMax,
    min: 1,
    max: 1_000_000,
  }),
  spoolBytes: bytes({
    help: 'Size limit of outputs stored for brokers that are away; further outputs wait at their machines.',
    default: 16 * 2 ** 30,
  }),
  agentCommand: text({
    help:
      "Program of the agents in allocations, as a JSON array of program and arguments. Default: this release's " +
      'agent.',
    placeholder: 'JSON',
    default: '',
  }),
  agentOrphanTimeout: duration({
    help: 'How long agents in allocations wait for a provider that is away; 0 = their own default.',
    default: 0,
  }),
  isolation: text({
    help: 'How agents in allocations isolate tasks. Default: their own default.',
    placeholder: 'auto|bubblewrap|account=NAME|none',
  }),
  releaseOnStop: duration({
    help:
      'When stopped, gives back all requests, running ones too, and waits this long for the manager; 0 = keep ' +
      'them for the next start.',
    default: 0,
  }),
  agentHome: text({
    help: 'Where agents in allocations keep their files. Default: this home folder.',
    placeholder: 'FOLDER',
  }),
  quota: quotaOption,
  trace: traceOption,
};

const passesOn =
  "Words after -- are passed to each submission as they are, to sbatch or what the templates' {flags} says; " +
  'they may hold spaces.';

type Config = ConfigOf<typeof options>;

/** A GridMachineProvider: obtains machines from one resource and joins their agents with brokers. */
export const main = defineProgram({
  name: 'provider',
  summary: 'Obtains machines from one resource and joins their agents with brokers.',
  options,
  optionGroups,
  examples,
  passesOn,
  run,
});

async function run(config: Config, context: ProgramContext): Promise<void> {
  const { log, signal, home, passedOn } = context;
  const directory = join(home, 'providers', config.id);
  const infoPath = join(directory, 'provider.json');
  const token = ensureToken(tokenPath(home));
  const ownerId = accountName();
  const metrics = new Metrics({ withProcess: true });
  const enrolled = config.manager === 'none' ? openEnrolled(directory, log) : undefined;
  const manager = openManager(config, { id: config.id, home, directory, token, passedOn, log });
  await requirePreAcquire(config, manager);
  void reportReserving(config, manager, log);
  const audit = openAudit(auditPath(home, `provider-${config.id}`), { log });
  const provider = await startProvider({
    ...(enrolled === undefined ? {} : { enrolled }),
    config: machineConfig(config, home),
    home,
    directory,
    listen: addressesToTry(await listenAddress(home, `provider-${config.id}`, config.listen), infoPath, 'address'),
    ownerId,
    tokens: acceptToken(token, ownerId),
    identity: identityFolder(home),
    listenAgents: config.listenAgents === '' ? [] : addressesToTry(config.listenAgents, infoPath, 'agentsAddress'),
    advertise: config.advertise,
    manager,
    reservations: getReservations(config, home),
    agentCommand: readAgentCommand(config.agentCommand),
    agentHome: config.agentHome === '' ? home : config.agentHome,
    agentOrphanTimeout: config.agentOrphanTimeout,
    agentIsolation: getIsolation(config),
    contentBytesMax: config.inputCacheSize,
    spoolBytesMax: config.spoolBytes,
    queueInterval: getQueueInterval(config),
    trace: config.trace,
    quotas: readQuotas(config.quota, ownerId),
    audit,
    log,
    metrics,
    onFatal: context.fail,
  });
  context.addToDump('state', () => provider.state);
  const http = await startHttp({
    address: config.metricsListen,
    metrics,
    token: ensureToken(metricsTokenPath(home)),
    healthy: () => provider.trouble(),
  });
  const { address, agentsAddress, agentsDial } = provider;
  writeAtomic(
    infoPath,
    `${JSON.stringify({ address: nearAddress(address), agentsAddress, metricsAddress: http.address, pid: process.pid })}\n`,
  );
  log.info({ address, agents_address: agentsAddress, agents_dial: agentsDial, provider: config.id }, 'listening');
  const agentCommand = readAgentCommand(config.agentCommand);
  const ending =
    enrolled === undefined
      ? undefined
      : startKeeping(enrolled, { provider, providerId: config.id, directory, home, agentCommand });
  if (!signal.aborted) await once(signal, 'abort');
  await ending?.();
  if (config.releaseOnStop > 0) await provider.giveBack('the provider was asked to stop', config.releaseOnStop);
  await http.close();
  await provider.stop();
  audit.close();
}

/** @throws {MutiraoError} MUT_BAD_CONFIG now, and not in each allocation. */
function getIsolation({ isolation }: Config): string {
  if (isolation !== '') readIsolationMode(isolation);
  return isolation;
}

/** The reservation manager and the resource to follow there; undefined for none. */
function getReservations(
  { id, reservations: address, reservationResource }: Config,
  home: string,
): ProviderSetup['reservations'] {
  if (address === '') return undefined;
  return {
    address,
    resourceId: reservationResource || id,
    token: () => readToken(tokenPath(home)),
    trust: userTrust(home),
  };
}

function findHolding({ preAcquire }: Config): Pick<ProviderConfig, 'holding'> {
  const holding = readHolding(preAcquire);
  return holding === undefined ? {} : { holding };
}

function firstRequestsOf({
  firstRequestWalltime: walltime,
  firstRequestsMax: waitingMax,
}: Config): Pick<ProviderConfig, 'firstRequests'> {
  return walltime === 0 ? {} : { firstRequests: { walltime, waitingMax } };
}

function machineConfig(config: Config, home: string): ProviderConfig {
  if (!/^[\w.-]{1,64}$/.test(config.id))
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `id is "${config.id}"; expected up to 64 letters, digits, "_", "." or "-"`,
    );
  if (findHeuristic(config.heuristic) === undefined) {
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `heuristic is "${config.heuristic}"; expected one of ${heuristicChoices.join(', ')}`,
    );
  }
  return {
    ...providerDefaults,
    providerId: config.id,
    resourceKind: config.manager === 'none' ? 'machines' : 'cluster',
    heuristic: config.heuristic,
    heuristicOptions: { ...heuristicDefaults, defaultTime: config.defaultTaskTime },
    userId: config.user || userOfIdentity(identityFolder(home)) || accountName(),
    idleRelease: config.idleRelease,
    agentGrace: config.agentGrace,
    brokerGrace: config.brokerGrace,
    standbyAfter: config.standbyAfter,
    refusalPause: config.refusalPause,
    refusalPauseMax: config.refusalPauseMax,
    refusalsMax: config.refusalsMax,
    perHour: { submissions: config.submissionsPerHour, withdrawals: config.withdrawalsPerHour },
    ...findHolding(config),
    ...firstRequestsOf(config),
  };
}

/** With port 0 the port of the last start comes first: its agents still dial it. */
function addressesToTry(listen: string, infoPath: string, name: 'address' | 'agentsAddress'): string[] {
  const before = listen.endsWith(':0') ? /:\d+$/.exec(addressIn(infoPath, name) ?? '')?.[0] : undefined;
  return before === undefined ? [listen] : [`${listen.slice(0, -2)}${before}`, listen];
}

function readAgentCommand(json: string): string[] {
  if (json === '') return [...ownProgram('agent')];
  const words: unknown = parseJson(json);
  if (!Array.isArray(words) || words.length === 0 || !words.every((word) => typeof word === 'string')) {
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `agent command is ${json}; expected a JSON array of strings, for example ["node", "agent.js"]`,
    );
  }
  return words;
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new MutiraoError('MUT_BAD_CONFIG', `agent command is ${json}; expected a JSON array of strings`, {
      cause: error,
    });
  }
}

if (import.meta.main) await main(process.argv.slice(2));
