import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { errorOfRefusal, MutiraoError } from '@mutirao/api/errors';
import { defaultBrokerOptions } from '@mutirao/core/machines/broker';
import { readSiteSelection } from '@mutirao/core/site-selection';
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
    help: 'Address to listen on: unix:/path, or a port (0 = any free one). Default: a socket in the home folder.',
    placeholder: 'ADDRESS',
  }),
  metrics: text({
    help: 'Loopback address for /metrics and /healthz; port 0 takes a free one.',
    placeholder: 'HOST:PORT',
    default: '127.0.0.1:0',
  }),
  provider: list({ help: 'Provider to use: its name and address.', placeholder: 'ID=HOST:PORT' }),
  formerProvider: list({
    help: 'Provider of an earlier grid to remove, if it is still known at this address.',
    placeholder: 'ID=HOST:PORT',
  }),
  suspectGrace: duration({
    help: 'How long a disconnected provider without a lease keeps its running tasks, before they run elsewhere.',
    default: 60_000,
  }),
  cancelGrace: duration({
    help: 'How long a connected machine may take to confirm that a cancelled task ended, before its job ends without that.',
    default: defaultBrokerOptions.cancelGrace,
  }),
  leaseHorizon: duration({
    help: 'How long providers may start leased tasks after this broker disconnected; 0 leases nothing.',
    default: 3_600_000,
  }),
  siteSelection: text({
    help:
      'How to choose the provider of multiprocessor tasks, unless the job says: a strategy with an ' +
      'admissibility from 0 to 1, or adaptive; none = wherever there is room.',
    placeholder: 'STRATEGY[:A]',
    default: 'none',
  }),
  replicateAfter: duration({
    help: 'Minimum age of a running task before an idle machine gets a replica of it.',
    default: 250,
  }),
  checkDeadline: duration({ help: 'Time limit of the check of a task.', default: 600_000 }),
  checksMax: integer({ help: 'Checks that run at once.', default: 4, min: 1, max: 1024 }),
  blobBytesMax: bytes({ help: 'Size limit of an uploaded file.', default: 64 * 1024 ** 3 }),
  keepIntermediates: duration({
    help: 'How long to keep intermediate files of a finished workflow, for job submit --resume.',
    default: 24 * 3_600_000,
  }),
  reservations: text({
    help: 'Reservation manager to which jobs give back reservations that they requested. Default: none.',
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
  optionGroups: [
    { heading: 'Common options', names: ['listen', 'provider'] },
    { heading: 'Scheduling', names: ['siteSelection', 'replicateAfter', 'reservations'] },
    { heading: 'Checks and files', names: ['checkDeadline', 'checksMax', 'blobBytesMax', 'keepIntermediates'] },
    {
      heading: 'Failures of providers and machines',
      names: ['suspectGrace', 'cancelGrace', 'leaseHorizon', 'formerProvider'],
    },
    { heading: 'Quotas, metrics and traces', names: ['quota', 'metrics', 'trace'] },
    {
      heading: 'Events',
      names: ['nats', 'natsCredentials', 'natsCa', 'natsCertificate', 'natsKey', 'natsStream', 'natsAge', 'natsBytes'],
    },
  ],
  examples: [
    { command: 'mutirao run broker', effect: 'serve the users of this home folder, on a socket' },
    {
      command: 'mutirao run broker --listen 0.0.0.0:7000 --provider uni=login1:7001',
      effect: 'serve other hosts, and use one provider',
    },
  ],
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
    cancelGrace,
    leaseHorizon,
    replicateAfter,
    checkDeadline,
    checksMax,
    blobBytesMax,
    keepIntermediates,
    siteSelection,
  } = config;
  checkSiteSelection(siteSelection);
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
    formerProviders: config.formerProvider.map(parseProvider),
    options: {
      suspectGrace,
      cancelGrace,
      replicateAfter,
      quotas: readQuotas(config.quota, ownerId),
      trust: getTrustRules(token),
      lease: { ...defaultBrokerOptions.lease, horizon: leaseHorizon },
      siteSelection: { ...defaultBrokerOptions.siteSelection, choice: siteSelection },
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

/** Reports where this broker is, to the command line and the log. */
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

function checkSiteSelection(text: string): void {
  const read = readSiteSelection(text);
  if (typeof read === 'object' && 'fault' in read)
    throw errorOfRefusal({ code: 'MUT_BAD_CONFIG', ...read }, '--site-selection ');
}

function parseProvider(given: string): { readonly providerId: ProviderId; readonly address: string } {
  const [, providerId, address] = /^([A-Za-z0-9][A-Za-z0-9._-]{0,63})=(.*)$/s.exec(given) ?? [];
  if (providerId === undefined || address === undefined) {
    throw new MutiraoError('MUT_BAD_CONFIG', `--provider is ${JSON.stringify(given)}; expected ID=HOST:PORT`);
  }
  parseAddress(address);
  return { providerId, address };
}
