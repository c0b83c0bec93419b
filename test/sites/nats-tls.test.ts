// Events over TLS, on a real NATS server that requires a certificate that this test made.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { identityPaths, initIdentity } from '@mutirao/runtime/identity';
import { Grid, NatsServer, readMetrics, taskGroup, until } from '@mutirao/testkit';

const day = 24 * 3_600_000;

/** What a broker's metrics say of its events. */
async function series(grid: Grid, name: string): Promise<number> {
  const text = await readMetrics(grid.home);
  return Number(new RegExp(`^mutirao_broker_events_${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

const folder = mkdtempSync(join(tmpdir(), 'mutirao-nats-tls-'));
const [own, foreign] = ['own', 'other'].map((name) => identityPaths(join(folder, name))) as [Paths, Paths];
type Paths = ReturnType<typeof identityPaths>;
let nats: NatsServer | undefined;

test.before(async () => {
  for (const name of ['own', 'other'])
    await initIdentity({ folder: join(folder, name), user: 'ana', hosts: [], lasts: day, now: Date.now() });
  nats = new NatsServer([
    ...['--tls', '--tlscert', own.hostCertificate, '--tlskey', own.hostKey],
    ...['--tlsverify', '--tlscacert', own.authorityCertificate],
  ]);
  await nats.start();
});
test.after.always(async () => {
  await nats?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(t: ExecutionContext, ...flags: string[]): Promise<Grid> {
  const url = nats?.url.replace(/^nats:/, 'tls:') ?? '';
  const grid = await Grid.start({ machines: [1], brokerArgs: ['--nats', url, '--nats-bytes', '64M', ...flags] });
  t.teardown(() => grid.stop());
  return grid;
}

const credentialsOf = ({ userCertificate, userKey }: Paths): string[] => [
  ...['--nats-certificate', userCertificate],
  ...['--nats-key', userKey],
];
const authorityOf = ({ authorityCertificate }: Paths): string[] => ['--nats-ca', authorityCertificate];

test.serial('events go to a NATS server that shows a certificate and wants one', async (t) => {
  const grid = await start(t, ...authorityOf(own), ...credentialsOf(own));
  await until(async () => (await series(grid, 'connected')) === 1, 'the broker is connected');
  const jobId = await grid.client.submit([taskGroup('true', 3)]);
  t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
});

// One grid for each test: AVA gives up where no test ends for minutes, and a grid takes its time on a busy host.
for (const [what, flags] of [
  ["a server of another authority's", [...authorityOf(foreign), ...credentialsOf(own)]],
  ['the certificate of another authority', [...authorityOf(own), ...credentialsOf(foreign)]],
  ['no certificate of its own', authorityOf(own)],
] as const) {
  test.serial(`a broker with ${what} sends no events and says so, and jobs go on`, async (t) => {
    const grid = await start(t, ...flags);
    t.is((await grid.client.waitEnded(await grid.client.submit([taskGroup('true', 1)]))).status, JobStatus.FINISHED);
    await until(
      () => grid.broker.log.some((line) => line.includes('"level":"warn"') && /nats|events/i.test(line)),
      'the broker reports that it cannot connect',
    );
    t.is(await series(grid, 'connected'), 0);
  });
}
