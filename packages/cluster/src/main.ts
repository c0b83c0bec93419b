import { once } from 'node:events';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { ClusterNode } from '@mutirao/core/queue';
import { auditPath, openAudit } from '@mutirao/runtime/audit';
import { accountName, ensureToken, metricsTokenPath, readToken, tokenPath, writeAtomic } from '@mutirao/runtime/files';
import { identityFolder, userTrust } from '@mutirao/runtime/identity';
import { Metrics, startHttp } from '@mutirao/runtime/metrics';
import {
  choice,
  defineProgram,
  duration,
  integer,
  list,
  quotaOption,
  readQuotas,
  text,
  traceOption,
  type ConfigOf,
  type ProgramContext,
} from '@mutirao/runtime/program';
import { acceptToken, listenAddress, nearAddress } from '@mutirao/runtime/rpc';
import { readClusterOptions } from './cluster-options.ts';
import { haveCapacities, parseNodes, planNodes, type NodeConfig } from './nodes/parse-node.ts';
import { startCluster } from './start-cluster.ts';

const options = {
  id: text({
    help: 'Name of the cluster; its files are in clusters/ID of the home folder.',
    placeholder: 'ID',
    default: 'local',
  }),
  listen: text({
    help: 'Address to listen on: unix:/path, or a port (0 = any free one). Default: a socket in the home folder.',
    placeholder: 'ADDRESS',
  }),
  node: list({
    help:
      'Node: another host, reached over ssh, or with NAME=local:PROCESSORS a part of this one. With memory or GPUs, or ' +
      'if it is local, requests are for slots of nodes with processors, memory and GPUs.',
    placeholder: 'NAME=ssh:USER@HOST:PROCESSORS[:memory=SIZE][:gpus=GPUS]',
  }),
  sshOption: list({
    help: 'ssh option for connections to nodes: KEY=VALUE as for ssh -o, or a flag with its value in one word.',
    placeholder: 'OPTION',
  }),
  processors: integer({
    help: 'Processors to share; ignored with --node.',
    default: 4,
    min: 1,
    max: 65_536,
  }),
  requestsMax: integer({
    help: 'Requests of one user, queued and running together.',
    default: 10,
    min: 1,
    max: 1_000_000,
  }),
  walltimeMax: duration({ help: 'Longest walltime.', default: 24 * 3_600_000 }),
  walltimeGranularity: duration({ help: 'Rounds walltimes up to a multiple of this.', default: 1000 }),
  widthMax: integer({ help: 'Most processors of one request; 0 = all.', default: 0, min: 0, max: 65_536 }),
  policy: choice({ help: 'Scheduling policy.', words: ['conservative', 'easy', 'fcfs'], default: 'conservative' }),
  variant: choice({
    help: 'What conservative backfilling does when a request ends early.',
    words: ['start-now', 'reinsert'],
    default: 'start-now',
  }),
  order: choice({
    help: 'Order of the queue: by arrival, or by how well users estimate walltimes (buc).',
    words: ['arrival', 'buc'],
    default: 'arrival',
  }),
  bucWeight: integer({
    help:
      'With --order buc: weight of scores and walltimes against waiting time; a point of score is worth 0.8 ' +
      'times this in seconds.',
    default: 1440,
    min: 1,
    max: 1_000_000,
  }),
  bucLeadMax: duration({
    help: 'With --order buc: a request never passes one that arrived this much earlier; 0 = 100 times the weight.',
    default: 0,
  }),
  metricsListen: text({ help: 'Loopback address for /metrics and /healthz. Default: none.', placeholder: 'HOST:PORT' }),
  killGrace: duration({ help: 'Time between SIGTERM and SIGKILL.', default: 2000 }),
  reservations: text({
    help: 'Reservation manager whose reservations are enforced. Default: none.',
    placeholder: 'HOST:PORT',
  }),
  reservationResource: text({
    help: 'Name of this cluster at the reservation manager. Default: its id.',
    placeholder: 'NAME',
  }),
  quota: quotaOption,
  trace: traceOption,
};

/** The embedded resource manager: a queue of requests over processors of this host. */
export const main = defineProgram({
  name: 'cluster',
  summary: 'Shares out processors of this host among requests of several users.',
  options,
  optionGroups: [
    { heading: 'Common options', names: ['id', 'listen', 'processors'] },
    { heading: 'Nodes', names: ['node', 'sshOption'] },
    { heading: 'Scheduling', names: ['policy', 'variant', 'order', 'bucWeight', 'bucLeadMax'] },
    {
      heading: 'Limits of requests',
      names: ['requestsMax', 'widthMax', 'walltimeMax', 'walltimeGranularity', 'killGrace', 'quota'],
    },
    { heading: 'Reservations', names: ['reservations', 'reservationResource'] },
    { heading: 'Metrics and traces', names: ['metricsListen', 'trace'] },
  ],
  examples: [
    { command: 'mutirao run cluster --id alpha --processors 8', effect: 'share 8 processors of this host' },
    {
      command: 'mutirao run cluster --id alpha --node n1=ssh:ana@n1:16 --policy easy',
      effect: 'share the processors of another host',
    },
    {
      command: 'mutirao run cluster --id alpha --node n1=local:4:memory=8G --node n2=local:4:memory=8G:gpus=1:a100',
      effect: 'two nodes on this host; tasks may ask for memory and GPUs',
    },
  ],
  run,
});

async function run(config: ConfigOf<typeof options>, context: ProgramContext): Promise<void> {
  const { log, signal, home } = context;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(config.id))
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `id is ${JSON.stringify(config.id)}; expected letters, digits, ".", "_" and "-"`,
    );
  const directory = join(home, 'clusters', config.id);
  const nodes = parseNodes(config.node);
  const capacities = findCapacities(nodes, config.reservations);
  const processors = nodes.length === 0 ? config.processors : nodes.reduce((sum, node) => sum + node.processors, 0);
  const metrics = new Metrics({ withProcess: true });
  const ownerId = accountName();
  const audit = openAudit(auditPath(home, `cluster-${config.id}`), { log });
  const cluster = await startCluster({
    options: readClusterOptions({ ...config, processors, ...capacities }),
    id: config.id,
    nodes,
    sshOptions: config.sshOption,
    directory,
    listen: await listenAddress(home, `cluster-${config.id}`, config.listen),
    identity: identityFolder(home),
    killGraceMs: config.killGrace,
    trace: config.trace,
    quotas: readQuotas(config.quota, ownerId),
    audit,
    log,
    metrics,
    ...(config.reservations === ''
      ? {}
      : {
          reservations: {
            address: config.reservations,
            resourceId: config.reservationResource || config.id,
            token: () => readToken(tokenPath(home)),
            trust: userTrust(home),
          },
        }),
    tokens: acceptToken(ensureToken(tokenPath(home)), ownerId),
    ownerId,
    onFatal: context.fail,
  });
  const http =
    config.metricsListen === ''
      ? undefined
      : await startHttp({
          address: config.metricsListen,
          metrics,
          token: ensureToken(metricsTokenPath(home)),
          healthy: () => cluster.trouble(),
        });
  writeAtomic(
    join(directory, 'cluster.json'),
    `${JSON.stringify({ address: nearAddress(cluster.address), metricsAddress: http?.address, pid: process.pid })}\n`,
  );
  log.info({ address: cluster.address, metrics_address: http?.address, cluster: config.id }, 'listening');
  if (!signal.aborted) await once(signal, 'abort');
  await cluster.stop();
  audit.close();
  await http?.close();
}

/** @throws {MutiraoError} MUT_BAD_CONFIG for reservations that nodes with capacities do not enforce. */
function findCapacities(
  nodes: readonly NodeConfig[],
  reservations: string,
): { readonly clusterNodes?: readonly ClusterNode[] } {
  if (!haveCapacities(nodes)) return {};
  if (reservations !== '')
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `reservations is "${reservations}", and nodes have memory or GPUs; expected nodes as in ` +
        'n1=ssh:ana@node1:8, or no --reservations: a cluster of slots enforces none',
    );
  return { clusterNodes: planNodes(nodes, memoryOfHost()) };
}

/** What its control group leaves it, if that is less than what the host has. */
function memoryOfHost(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

if (import.meta.main) await main(process.argv.slice(2));
