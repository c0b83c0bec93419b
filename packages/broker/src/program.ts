import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { defaultBrokerOptions } from '@mutirao/core/machines/broker';
import { readPlacement } from '@mutirao/core/placement';
import type { ProviderId } from '@mutirao/core/shared';
import { auditPath, openAudit } from '@mutirao/runtime/audit';
import { natsEvents, findNatsOptions } from '@mutirao/runtime/events';
import { accountName, ensureToken, metricsTokenPath, tokenPath, writeAtomic } from '@mutirao/runtime/files';
import { Metrics, startHttp } from '@mutirao/runtime/metrics';
import {
  bytes,
  defineProgram,
  duration,
  integer,
  list,
  natsOptions,
  quotaOption,
  readQuotas,
  text,
  traceOption,
  type ConfigOf,
  type ProgramContext,
} from '@mutirao/runtime/program';
import { acceptToken, listenAddress, nearAddress, parseAddress } from '@mutirao/runtime/rpc';

import manifest from '../package.json' with { type: 'json' };
import { readBrokerName } from './process/broker-name.ts';
import { getTrustRules } from './process/trust-rules.ts';
import { startBroker, type RunningBroker } from './process/start-broker.ts';

const options = {
  listen: text({
    help:
      'Where to listen: unix:/path for a socket, or a port, 0 for a free one; a socket in the home folder when ' +
      'empty.',
    placeholder: 'ADDRESS',
  }),
  metrics: text({
    help: 'Where to serve /metrics and /healthz; port 0 takes a free one.',
    placeholder: 'HOST:PORT',
    default: '127.0.0.1:0',
  }),
  provider: list({ help: 'A provider to use, by its name and address.', placeholder: 'ID=HOST:PORT' }),
  suspectGrace: duration({
    help: 'How long the machines of a provider that is away keep their replicas.',
    default: 60_000,
  }),
  leaseHorizon: duration({
    help:
      'For how long after this broker went away its providers may start tasks that it leased to them; 0 leases ' +
      'nothing.',
    default: 3_600_000,
  }),
  placement: text({
    help:
      'Which provider tasks join that take several processors, where their job does not say: a strategy with an ' +
      'admissibility in 0..1, or adaptive; none for wherever there is room.',
    placeholder: 'STRATEGY[:A]',
    default: 'none',
  }),
  replicateAfter: duration({ help: 'How old a replica is before an idle machine gets a sibling of it.', default: 250 }),
  checkDeadline: duration({ help: 'How long the check of a task may take.', default: 600_000 }),
  checksMax: integer({ help: 'Checks that run at a time.', default: 4, min: 1, max: 1024 }),
  blobBytesMax: bytes({ help: 'Largest blob that is taken.', default: 64 * 1024 ** 3 }),
  keepIntermediates: duration({
    help:
      'How long what tasks of a workflow wrote for each other is kept after it has finished, for job submit ' +
      '--resume.',
    default: 24 * 3_600_000,
  }),
  reservations: text({
    help:
      'Address of the reservation manager, to which reservations that jobs asked for themselves are given back ' +
      'when they have ended; empty for none.',
    placeholder: 'HOST:PORT',
  }),
  quota: quotaOption,
  ...natsOptions,
  trace: traceOption,
};

/** The broker: takes jobs, hands their tasks to GridMachines, brings results home. */
export const brokerProgram = defineProgram({
  name: 'broker',
  summary: 'Takes jobs, hands their tasks to GridMachines and brings the results home.',
  options,
  run,
});

async function run(config: ConfigOf<typeof options>, context: ProgramContext): Promise<void> {
  const { log, signal, home } = context;
  const token = ensureToken(tokenPath(home));
  const ownerId = accountName();
  const brokerId = readBrokerName(home, ownerId);
  const nats = findNatsOptions(config, brokerId);
  const metrics = new Metrics({ withProcess: true });
  const {
    suspectGrace,
    leaseHorizon,
    replicateAfter,
    checkDeadline,
    checksMax,
    blobBytesMax,
    keepIntermediates,
    placement,
  } = config;
  checkPlacement(placement);
  const audit = openAudit(auditPath(home, 'broker'), { log });
  const broker = await startBroker({
    home,
    listen: await listenAddress(home, 'broker', config.listen),
    tokens: acceptToken(token, ownerId),
    token,
    ownerId,
    brokerId,
    programVersion: manifest.version,
    providers: config.provider.map(parseProvider),
    options: {
      suspectGrace,
      replicateAfter,
      quotas: readQuotas(config.quota, ownerId),
      trust: getTrustRules(token),
      lease: { ...defaultBrokerOptions.lease, horizon: leaseHorizon },
      placement: { ...defaultBrokerOptions.placement, choice: placement },
    },
    checkDeadline,
    checksMax,
    blobBytesMax,
    keepIntermediates,
    reservations: config.reservations,
    trace: config.trace,
    connectEvents: nats && natsEvents(nats),
    audit,
    log,
    metrics,
    onFatal: context.fail,
  });
  const http = await startHttp({
    address: config.metrics,
    metrics,
    token: ensureToken(metricsTokenPath(home)),
    healthy: () => broker.trouble(),
  });
  announce(context, broker, http.address);
  if (!signal.aborted) await once(signal, 'abort');
  await broker.stop();
  audit.close();
  await http.close();
  rmSync(join(home, 'broker.json'), { force: true });
}

/** Tells the command line where this broker is, and the log. */
function announce(
  { home, log, addToDump }: ProgramContext,
  { address, state }: RunningBroker,
  metricsAddress: string,
): void {
  writeAtomic(
    join(home, 'broker.json'),
    `${JSON.stringify({ address: nearAddress(address), metricsAddress, pid: process.pid })}\n`,
  );
  addToDump('state', () => ({ jobs: state.jobs.size, machines: state.machines.size, replicas: state.replicas.size }));
  log.info({ address, metrics: metricsAddress }, 'listening');
}

function checkPlacement(text: string): void {
  const read = readPlacement(text);
  if (typeof read === 'object' && 'fault' in read)
    throw new MutiraoError('MUT_BAD_CONFIG', `--placement ${read.fault}`);
}

function parseProvider(given: string): { readonly providerId: ProviderId; readonly address: string } {
  const [, providerId, address] = /^([A-Za-z0-9][A-Za-z0-9._-]{0,63})=(.*)$/s.exec(given) ?? [];
  if (providerId === undefined || address === undefined) {
    throw new MutiraoError('MUT_BAD_CONFIG', `--provider is ${JSON.stringify(given)}; expected ID=HOST:PORT`);
  }
  parseAddress(address);
  return { providerId, address };
}
