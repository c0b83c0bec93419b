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
      'Where to listen: unix:/path for a socket, or a port, 0 for that of the last start or a free one; a socket ' +
      'in the home folder when empty.',
    placeholder: 'ADDRESS',
  }),
  listenAgents: text({
    help: 'Where to listen for agents alone, who need no certificate; where brokers are served when empty.',
    placeholder: 'HOST:PORT',
  }),
  advertise: text({
    help:
      "By what name or address agents reach this host; the host's own name when empty and all addresses are " +
      'listened on.',
    placeholder: 'HOST[:PORT]',
  }),
  metricsListen: text({
    help: 'Where to serve /metrics and /healthz.',
    placeholder: 'HOST:PORT',
    default: '127.0.0.1:0',
  }),
  inputCacheSize: bytes({
    help: 'Most that inputCacheSize kept for the agents, so that each comes from home once, may hold; 0 to keep none.',
    default: 10 * 2 ** 30,
  }),
  ...managerOptions,
  user: text({
    help:
      'Whom the resource manager knows the requests by; as whom the identity names us when empty, or else our ' +
      'account.',
    placeholder: 'NAME',
  }),
  heuristic: text({
    help: `Request heuristic: ${heuristicChoices.join(', ')}.`,
    placeholder: 'NAME',
    default: heuristic,
  }),
  defaultTaskTime: duration({
    help: 'How long a task is taken to last before any was observed; for initial, adaptive and mixed.',
    default: heuristicDefaults.defaultTime,
  }),
  idleRelease: duration({
    help:
      'A running allocation is released after so long without any demand, a queued request withdrawn after so ' +
      'long without need.',
    default: idleRelease,
  }),
  agentGrace: duration({ help: 'A machine whose agent is away for longer is lost.', default: agentGrace }),
  brokerGrace: duration({ help: 'The demand of a broker that is away for longer is nothing.', default: brokerGrace }),
  standbyAfter: duration({
    help:
      'When a broker is away for longer, its machines go on with what it leased, and what they report is kept for ' +
      'it.',
    default: standbyAfter,
  }),
  refusalPause: duration({
    help: 'Pause after a refused request; doubles with each further one.',
    default: refusalPause,
  }),
  refusalPauseMax: duration({ help: 'Longest pause after refusals.', default: refusalPauseMax }),
  refusalsMax: integer({
    help: 'After so many refusals in a row a request is tried once an hour only, until new demand comes up.',
    default: refusalsMax,
    min: 1,
    max: 1000,
  }),
  submissionsPerHour: integer({
    help: 'A heuristic that watches the queue asks for no more requests within an hour.',
    default: submissions,
    min: 1,
    max: 10_000,
  }),
  withdrawalsPerHour: integer({
    help:
      'A heuristic that watches the queue gives up no more requests within an hour, waiting and running ones ' +
      'together.',
    default: withdrawals,
    min: 0,
    max: 10_000,
  }),
  firstRequestWalltime: duration({
    help:
      'Longest walltime of requests while task run times are unknown; doubled as tasks outlast it. 0 for no ' +
      'limits on first requests. Not for static and mixed.',
    default: firstRequestLimits.walltime,
  }),
  firstRequestsMax: integer({
    help:
      'While task run times are unknown: how many requests may wait at first, in addition to those that use free ' +
      'processors.',
    default: firstRequestLimits.waitingMax,
    min: 1,
    max: 1_000_000,
  }),
  spoolBytes: bytes({
    help:
      'Most that outputs of tasks may hold which wait here for a broker that is away; beyond that they wait at ' +
      'their machines.',
    default: 16 * 2 ** 30,
  }),
  agentCommand: text({
    help:
      'What an allocation runs on each processor, as a JSON array of program and arguments; empty for this ' +
      "release's agent.",
    placeholder: 'JSON',
    default: '',
  }),
  agentOrphanTimeout: duration({
    help: 'Agents of allocations give up after so long without the provider; 0 for their own choice.',
    default: 0,
  }),
  isolation: text({
    help:
      'How agents of allocations keep tasks apart, as their own option of that name says; their own choice when ' +
      'empty.',
    placeholder: 'auto|bubblewrap|account=NAME|none',
  }),
  releaseOnStop: duration({
    help:
      'When told to stop, gives back all requests, also what runs, and waits at most so long; 0 to leave them for ' +
      'the next start.',
    default: 0,
  }),
  agentHome: text({
    help: 'Where agents of allocations keep their files; this home folder when empty.',
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
  if (config.releaseOnStop > 0) await provider.giveBack('the provider was told to stop', config.releaseOnStop);
  await http.close();
  await provider.stop();
  audit.close();
}

/** @throws {MutiraoError} MUT_BAD_CONFIG now, and not in each allocation. */
function getIsolation({ isolation }: Config): string {
  if (isolation !== '') readIsolationMode(isolation);
  return isolation;
}

/** Whose reservations are to be kept; undefined for nobody's. */
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
