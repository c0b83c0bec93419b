import { join } from 'node:path';
import { ClusterServiceService } from '@mutirao/api/cluster';
import {
  clusterMachine,
  listNodes,
  listQueue,
  listScores,
  listUses,
  saveClusterInitialState,
  type ClusterChange,
  type ClusterCommand,
  type ClusterInput,
  type ClusterOptions,
  type ClusterState,
} from '@mutirao/core/machines/cluster';
import { MutiraoError } from '@mutirao/api/errors';
import type { ReservedWindow } from '@mutirao/core/messages';
import type { QuotaRules } from '@mutirao/core/quotas';
import { unreachable, type DriverCommand, type UserId } from '@mutirao/core/shared';
import type { Audit } from '@mutirao/runtime/audit';
import {
  ChangeSignal,
  MachineDriver,
  openTrace,
  systemClock,
  systemTimers,
  reportStalled,
  workClock,
} from '@mutirao/runtime/driver';
import { Room } from '@mutirao/runtime/files';
import { openJournal, type Journal } from '@mutirao/runtime/journal';
import type { Logger } from '@mutirao/runtime/log';
import type { Metrics } from '@mutirao/runtime/metrics';
import { ReservationClient, type ReservationClientOptions } from '@mutirao/runtime/reservations';
import { bind, serve, type AuditedMethods, type RunningServer, type TokenCheck } from '@mutirao/runtime/rpc';
import { clusterChangeCodec } from './change-codec.ts';
import { measureCluster } from './measure-cluster.ts';
import { recoverState } from './recover-state.ts';
import { NodeRunner, type NodeRunnerOptions } from './nodes/node-runner.ts';
import type { NodeConfig } from './nodes/parse-node.ts';
import { SshNode } from './nodes/ssh-node.ts';
import { RequestRunner, type Runner } from './request-runner.ts';
import { clusterRoutes } from './routes.ts';

/** What a cluster process is started with. */
export interface ClusterSetup {
  readonly options: ClusterOptions;
  /** Holds the journal and the output of requests. */
  readonly directory: string;
  /** `host:port` to listen on. */
  readonly listen: string;
  readonly tokens: TokenCheck;
  /** Who may act for other users. */
  readonly ownerId: UserId;
  /** Folder of the identity that serving other hosts wants. */
  readonly identity: string;
  readonly killGraceMs: number;
  /** Other hosts that give the processors, or parts of this host; left out for this host as a whole. */
  readonly nodes?: readonly NodeConfig[];
  /** Name of the cluster on its nodes. */
  readonly id?: string;
  /** Of connections to nodes. */
  readonly sshOptions?: readonly string[];
  /** Whose reservations are honoured; left out for nobody's. */
  readonly reservations?: Pick<ReservationClientOptions, 'address' | 'resourceId' | 'token' | 'trust'>;
  /** Where a debugging trace goes; empty or left out for none. */
  readonly trace?: string;
  /** Where it is written down who did what; nowhere when left out. */
  readonly audit?: Audit;
  /** What users may take; no bounds when left out. */
  readonly quotas?: QuotaRules;
  readonly log: Logger;
  readonly metrics?: Metrics;
  /** Receives the error after which the process should start again. */
  onFatal(error: unknown): void;
}

/** A cluster that takes requests. */
export interface RunningCluster {
  readonly address: string;
  /** What is wrong; undefined while all is well. */
  trouble(): string | undefined;
  /** Takes no more calls and ends what runs; queued requests stay in the journal. */
  stop(): Promise<void>;
}

type ClusterDriver = MachineDriver<ClusterState, ClusterInput, ClusterChange, ClusterCommand>;

/** Time that calls get to end when the process stops. */
const drainMs = 1000;
/** With less room than this no request is taken. */
const freeMin = 2 * 1024 ** 2;

const audited: AuditedMethods = {
  allocate: {
    action: 'request.submit',
    target: (
      { widthProcessors }: { readonly widthProcessors: number },
      { requestId }: { readonly requestId: string },
    ) => `request ${requestId} of ${widthProcessors} processors`,
  },
  release: {
    action: 'request.release',
    target: ({ requestId }: { readonly requestId: string }) => `request ${requestId}`,
  },
};

/**
 * Reads the journal, begins a life and serves. @throws {MutiraoError} when the journal or the address cannot be had.
 */
export async function startCluster(setup: ClusterSetup): Promise<RunningCluster> {
  const { options, directory, log } = setup;
  const journal = openJournal({ path: join(directory, 'journal.sqlite'), codec: clusterChangeCodec });
  const state = recoverState(journal, options);
  const client = openClient(setup, {
    inUse: () => listUses(state),
    onReported: (windows) => {
      deliver({ kind: 'ReservationsReported', windows });
    },
  });
  const changes = new ChangeSignal();
  // Inputs from before the first life are dropped: it receives them again at its start.
  let deliver: (input: ClusterInput) => void = () => undefined;
  const runner = await openRunner(setup, {
    onExit: (requestId, processIndex, exitStatus, more = {}) => {
      deliver({ kind: 'ProcessExited', requestId, processIndex, exitStatus, ...more });
    },
    onAway: (count, away) => {
      deliver({ kind: 'ProcessorsAway', count, ...(hasCapacities(options) ? { nodes: away } : {}) });
    },
  });
  const driver = openDriver(setup, {
    journal,
    state,
    perform: (command) => {
      perform(runner, command);
    },
    onCommitted: (committed) => {
      for (const change of committed) {
        logChange(log, change);
        if (change.kind === 'RequestStarted') noteUse(client, state, change.requestId);
      }
      changes.notify();
    },
  });
  const room = new Room({
    folder: directory,
    freeMin,
    pause: 500,
    timers: systemTimers,
    journalTrouble: () => driver.stalledBy?.message,
  });
  deliver = (input) => {
    driver.deliver(input);
  };
  deliver({ kind: 'ClusterStarted', ...findAway(runner, options) });
  client?.start();
  if (setup.metrics !== undefined) measureCluster(setup.metrics, state);
  const routes = clusterRoutes({
    ask: (make) => driver.ask(make),
    requireDiskSpace: () => {
      room.demand();
    },
    limits: options,
    changes,
    ownerId: setup.ownerId,
    getUser: (requestId) => state.requests.get(requestId)?.order.userId,
    admitClaim: (claim, userId) => admitClaim(client, claim, userId),
    show: (window) => {
      deliver({ kind: 'ReservationShown', window });
    },
    listQueue: (endedMax, userId) => listQueue(state, workClock.now(), endedMax, userId),
    listNodes: () => listNodes(state),
    listScores: (userId) => ({ order: options.order, scores: listScores(state, userId) }),
  });
  const server = await serveCluster(setup, routes);
  return {
    address: server.address,
    trouble: () => room.trouble(),
    stop: async () => {
      await server.drain(drainMs);
      await client?.stop();
      // The driver first: an exit delivered now would start the next request.
      await driver.stop();
      await runner.stop();
      journal.close();
    },
  };
}

function hasCapacities({ clusterNodes }: ClusterOptions): boolean {
  return clusterNodes !== undefined;
}

function findAway(
  runner: Runner,
  options: ClusterOptions,
): { readonly away: number; readonly nodesAway?: readonly number[] } {
  const [away, nodesAway] = runner instanceof NodeRunner ? [runner.processorsAway, runner.nodesAway] : [0, []];
  return { away, ...(hasCapacities(options) ? { nodesAway } : {}) };
}

interface DriverParts {
  readonly journal: Journal<ClusterChange>;
  readonly state: ClusterState;
  perform(command: Exclude<ClusterCommand, DriverCommand>): void;
  onCommitted(changes: readonly ClusterChange[]): void;
}

function openDriver(
  { log, onFatal, trace = '' }: ClusterSetup,
  { journal, state, perform, onCommitted }: DriverParts,
): ClusterDriver {
  return new MachineDriver<ClusterState, ClusterInput, ClusterChange, ClusterCommand>({
    machine: clusterMachine,
    state,
    journal,
    clock: workClock,
    checkEvery: 1000,
    perform,
    onCommitted: (entries) => {
      onCommitted(entries.map(({ change }) => change));
    },
    onFatal,
    onStalled: (error) => {
      reportStalled(log, error);
    },
    trace: openTrace({
      path: trace,
      machine: 'cluster',
      at: workClock.now(),
      log,
      describe: () => saveClusterInitialState(state),
    }),
  });
}

function serveCluster(
  { listen, tokens, identity, log, quotas, audit, metrics }: ClusterSetup,
  routes: ReturnType<typeof clusterRoutes>,
): Promise<RunningServer> {
  return serve({
    address: listen,
    tokens,
    identity,
    log,
    services: [bind(ClusterServiceService, routes, { audited })],
    ...(quotas === undefined ? {} : { quotas }),
    ...(audit === undefined ? {} : { audit }),
    ...(metrics === undefined ? {} : { metrics }),
  });
}

/** Follows the reservations of this cluster, where it has any. */
function openClient(
  { reservations, directory, options, log }: ClusterSetup,
  about: Pick<ReservationClientOptions, 'inUse' | 'onReported'>,
): ReservationClient | undefined {
  if (reservations === undefined) return undefined;
  return new ReservationClient({
    ...reservations,
    processors: options.processors,
    keysPath: join(directory, 'claim-keys.json'),
    log,
    now: () => systemClock.now(),
    ...about,
  });
}

function admitClaim(client: ReservationClient | undefined, claim: string, userId: UserId): Promise<ReservedWindow> {
  if (client === undefined)
    return Promise.reject(
      new MutiraoError(
        'MUT_CLAIM_ELSEWHERE',
        'this cluster honours no reservations; expected one that was started with --reservations',
      ),
    );
  return client.admit(claim, userId);
}

function noteUse(client: ReservationClient | undefined, state: ClusterState, requestId: number): void {
  const { reservationId, userId = '' } = state.requests.get(requestId)?.order ?? {};
  if (reservationId !== undefined) client?.noteUse({ reservationId, userId });
}

/** Runs requests on this host, or on its nodes, to which it connects first. */
async function openRunner(
  setup: ClusterSetup,
  { onExit, onAway }: Pick<NodeRunnerOptions, 'onExit' | 'onAway'>,
): Promise<Runner> {
  const { directory, killGraceMs, log, nodes: configs = [], sshOptions = [], id = 'local' } = setup;
  if (configs.every(({ destination }) => destination === '')) {
    const firstProcessors = configs.map((_, index) =>
      configs.slice(0, index).reduce((sum, { processors }) => sum + processors, 0),
    );
    return new RequestRunner({
      outputDirectory: join(directory, 'requests'),
      killGraceMs,
      firstProcessors,
      log,
      onExit,
    });
  }
  const nodes = configs.map(
    (config) =>
      new SshNode({
        config,
        cluster: id,
        sshOptions,
        controlFolder: join(directory, 'ssh'),
        log,
        onExit: (key, status, more) => {
          runner.noteExit(key, status, more);
        },
        onChange: () => {
          runner.noteNodes();
        },
        onLost: () => {
          runner.noteLost(config.name);
        },
      }),
  );
  const runner = new NodeRunner({ nodes, killGraceMs, log, onExit, onAway });
  await Promise.all(nodes.map((node) => node.open()));
  return runner;
}

function perform(runner: Runner, command: Exclude<ClusterCommand, DriverCommand>): void {
  switch (command.kind) {
    case 'StartProcesses':
      return runner.start(command);
    case 'KillProcesses':
      return runner.kill(command.requestId);
    default:
      return unreachable(command);
  }
}

function logChange(log: Logger, change: ClusterChange): void {
  switch (change.kind) {
    case 'RequestQueued': {
      const { userId, width, walltime } = change.order;
      return log.info({ request: change.requestId, user: userId, width, walltime_ms: walltime }, 'request queued');
    }
    case 'RequestStarted':
      return log.info({ request: change.requestId }, 'request started');
    case 'ReservationOpened': {
      return log.info({ reservation: change.reservationId }, 'reservation opened');
    }
    case 'RequestEnded':
      return log.info({ request: change.requestId, reason: change.reason }, 'request ended');
    default:
      return log.debug(change, 'change');
  }
}
