// Events over TLS, on a real NATS server that wants a certificate of ours.
import { join } from 'node:path';
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { identityPaths, initIdentity } from '@mutirao/runtime/identity';
import { Grid, NatsServer, readMetrics, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

const day = 24 * 3_600_000;

/** What a broker's metrics say of its events. */
async function series(grid: Grid, name: string): Promise<number> {
  const text = await readMetrics(grid.home);
  return Number(new RegExp(`^mutirao_broker_events_${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

test.serial(
  'events go to a NATS server that shows a certificate and wants one; with another authority none do, and jobs go on',
  async (t) => {
    const folder = temporaryFolder(t);
    const [own, other] = [join(folder, 'own'), join(folder, 'other')];
    for (const one of [own, other])
      await initIdentity({ folder: one, user: 'ana', hosts: [], lasts: day, now: Date.now() });
    const { authorityCertificate, hostCertificate, hostKey, userCertificate, userKey } = identityPaths(own);
    const nats = new NatsServer([
      '--tls',
      '--tlscert',
      hostCertificate,
      '--tlskey',
      hostKey,
      '--tlsverify',
      '--tlscacert',
      authorityCertificate,
    ]);
    t.teardown(() => nats.stop());
    await nats.start();
    const url = nats.url.replace(/^nats:/, 'tls:');
    const start = async (...flags: string[]): Promise<Grid> => {
      const grid = await Grid.start({ machines: [1], brokerArgs: ['--nats', url, '--nats-bytes', '64M', ...flags] });
      t.teardown(() => grid.stop());
      return grid;
    };
    const good = await start(
      '--nats-ca',
      authorityCertificate,
      '--nats-certificate',
      userCertificate,
      '--nats-key',
      userKey,
    );
    await until(async () => (await series(good, 'connected')) === 1, 'the broker is connected');
    const jobId = await good.client.submit([taskGroup('true', 3)]);
    t.is((await good.client.waitEnded(jobId)).status, JobStatus.FINISHED);
    const foreign = identityPaths(other);
    for (const flags of [
      ['--nats-ca', foreign.authorityCertificate, '--nats-certificate', userCertificate, '--nats-key', userKey],
      ['--nats-ca', authorityCertificate, '--nats-certificate', foreign.userCertificate, '--nats-key', foreign.userKey],
      ['--nats-ca', authorityCertificate],
    ]) {
      const bad = await start(...flags);
      t.is((await bad.client.waitEnded(await bad.client.submit([taskGroup('true', 1)]))).status, JobStatus.FINISHED);
      await until(
        () => bad.broker.log.some((line) => line.includes('"level":"warn"') && /nats|events/i.test(line)),
        'the broker tells that it does not get through',
      );
      t.is(await series(bad, 'connected'), 0);
    }
  },
);
