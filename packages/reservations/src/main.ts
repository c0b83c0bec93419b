import { once } from 'node:events';
import { join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { auditPath, openAudit } from '@mutirao/runtime/audit';
import { natsEvents, findNatsOptions } from '@mutirao/runtime/events';
import { accountName, ensureToken, metricsTokenPath, readToken, tokenPath, writeAtomic } from '@mutirao/runtime/files';
import { identityFolder, userTrust } from '@mutirao/runtime/identity';
import { Metrics, startHttp } from '@mutirao/runtime/metrics';
import {
  defineProgram,
  duration,
  integer,
  list,
  natsOptions,
  quotaOption,
  readQuotas,
  text,
  type ConfigOf,
  type ProgramContext,
} from '@mutirao/runtime/program';
import { acceptToken, listenAddress, nearAddress } from '@mutirao/runtime/rpc';
import { startReservations } from './start-reservations.ts';

const options = {
  id: text({
    help: 'Name of the manager; its files are in reservations/ID of the home folder.',
    placeholder: 'ID',
    default: 'local',
  }),
  listen: text({
    help: 'Address to listen on: unix:/path, or a port (0 = any free one). Default: a socket in the home folder.',
    placeholder: 'ADDRESS',
  }),
  registrar: list({ help: 'User who may register resources, in addition to the owner.', placeholder: 'USER' }),
  reservationsMax: integer({
    help: 'Most reservations that have not ended.',
    default: 2_000_000,
    min: 1,
    max: 10_000_000,
  }),
  rememberedMax: integer({
    help: 'Most ended reservations to remember.',
    default: 100_000,
    min: 0,
    max: 10_000_000,
  }),
  holdMax: duration({ help: 'Longest hold.', default: 3_600_000 }),
  quota: quotaOption,
  ...natsOptions,
  metricsListen: text({ help: 'Loopback address for /metrics and /healthz. Default: none.', placeholder: 'HOST:PORT' }),
};

/** The reservation manager: negotiates and places reservations, and runs nothing. */
export const main = defineProgram({
  name: 'reservations',
  summary: 'Negotiates and places reservations of resources for the users of one organisation.',
  options,
  optionGroups: [
    { heading: 'Common options', names: ['id', 'listen', 'registrar'] },
    { heading: 'Limits', names: ['reservationsMax', 'rememberedMax', 'holdMax', 'quota'] },
    { heading: 'Metrics', names: ['metricsListen'] },
    {
      heading: 'Events',
      names: ['nats', 'natsCredentials', 'natsCa', 'natsCertificate', 'natsKey', 'natsStream', 'natsAge', 'natsBytes'],
    },
  ],
  examples: [
    { command: 'mutirao run reservations', effect: 'serve the users of this home folder' },
    {
      command: 'mutirao run reservations --listen 0.0.0.0:7005 --registrar maria',
      effect: 'serve other hosts; maria may register resources',
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
  const directory = join(home, 'reservations', config.id);
  const metrics = new Metrics({ withProcess: true });
  const ownerId = accountName();
  const audit = openAudit(auditPath(home, `reservations-${config.id}`), { log });
  const manager = await startReservations({
    options: {
      ownerId,
      registrars: config.registrar,
      livingMax: config.reservationsMax,
      endedMax: config.rememberedMax,
      holdMax: config.holdMax,
      quotas: readQuotas(config.quota, ownerId),
    },
    id: config.id,
    directory,
    listen: await listenAddress(home, `reservations-${config.id}`, config.listen),
    identity: identityFolder(home),
    audit,
    log,
    metrics,
    tokens: acceptToken(ensureToken(tokenPath(home)), ownerId),
    dialing: { token: () => readToken(tokenPath(home)), trust: userTrust(home) },
    connectEvents: listEvents(config),
    onFatal: context.fail,
  });
  const http =
    config.metricsListen === ''
      ? undefined
      : await startHttp({
          address: config.metricsListen,
          metrics,
          token: ensureToken(metricsTokenPath(home)),
          healthy: () => manager.trouble(),
        });
  writeAtomic(
    join(directory, 'reservations.json'),
    `${JSON.stringify({ address: nearAddress(manager.address), metricsAddress: http?.address, pid: process.pid })}\n`,
  );
  log.info({ address: manager.address, metrics_address: http?.address, manager: config.id }, 'listening');
  if (!signal.aborted) await once(signal, 'abort');
  await manager.stop();
  audit.close();
  await http?.close();
}

/** The way to NATS; undefined where events go nowhere. @throws {MutiraoError} MUT_BAD_CONFIG */
function listEvents(config: ConfigOf<typeof options>) {
  const nats = findNatsOptions(config, `mutirao reservations ${config.id}`);
  return nats === undefined ? undefined : natsEvents(nats);
}

if (import.meta.main) await main(process.argv.slice(2));
