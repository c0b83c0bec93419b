// A grid that listens for other hosts: every connection speaks TLS, agents come in at a door of their own, and a second user sees nothing
// of the first. Where this host has no address but loopback, loopback is spoken to with TLS.
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces, userInfo } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import { identityFolder, initIdentity, issueIdentity } from '@mutirao/runtime/identity';
import { BrokerClient, Grid, taskGroup, temporaryFolder, type WithTeardown } from '@mutirao/testkit';

const day = 24 * 3_600_000;

/** An address of this host that is not loopback's, or loopback by TLS. */
function otherAddress(): string {
  const found = Object.values(networkInterfaces()).flatMap((list) => list ?? []).find(({ internal, family }) => !internal && family === 'IPv4');
  return found === undefined ? 'tls://127.0.0.1' : found.address;
}

const host = otherAddress();
let grid: Grid;

test.before(async () => {
  grid = await Grid.start({
    clusters: [2], machines: [1], listen: `${host}:0`, providerArgs: ['--listen-agents', `${host}:0`],
    prepare: async (home) => { await initIdentity({ folder: identityFolder(home), user: userInfo().username, hosts: [], lasts: day, now: Date.now() }); },
  });
});
test.after.always(async () => { await grid.stop(); });

/** The client of a user with a home of her own, into which she has put the identity that she was given. */
async function clientOf(t: WithTeardown, user: string): Promise<BrokerClient> {
  const home = temporaryFolder(t);
  await issueIdentity({ folder: identityFolder(grid.home), out: identityFolder(home), hosts: [], user, lasts: day, now: Date.now() });
  const client = new BrokerClient(grid.broker.address, home);
  t.teardown(() => { client.close(); });
  return client;
}

test.serial('tasks run on the cluster and on the lab machine, and files large and small go both ways', async (t) => {
  const folder = temporaryFolder(t);
  const large = randomBytes(3 << 20);
  writeFileSync(join(folder, 'large.bin'), large);
  const put = { source: { source: { $case: 'localPath' as const, value: 'large.bin' } }, root: Root.STORAGE, path: 'large.bin', condition: '' };
  const jobId = await grid.client.submit([taskGroup('cat "$STORAGE/large.bin" > out.{}; echo {}; sleep 0.2', 12, {
    inputs: [put], outputs: [{ root: Root.PLAYPEN, path: 'out.{}', localPath: 'results/out.{}', condition: '' }],
  })], { homeDirectory: folder });
  const job = await grid.client.waitEnded(jobId);
  t.is(job.status, JobStatus.FINISHED, await grid.client.explain({ $case: 'jobId', value: jobId }));
  t.true(readFileSync(join(folder, 'results', 'out.7')).equals(large));
  const machines = new Set((await grid.client.tasks(jobId)).flatMap(({ replicas }) => replicas.map(({ machineId }) => machineId.split('/')[0])));
  t.deepEqual([...machines].sort(), ['alpha', 'lab']);
});

test.serial('agents and brokers come in by different doors', (t) => {
  for (const provider of grid.providers) {
    t.not(provider.agentsAddress, '');
    t.not(provider.agentsAddress, provider.address);
  }
});

test.serial('another user has jobs of her own on the same broker', async (t) => {
  const maria = await clientOf(t, 'maria');
  const jobId = await maria.submit([taskGroup('echo {}', 4)]);
  t.is((await maria.waitEnded(jobId)).status, JobStatus.FINISHED);
  t.is(await maria.output(jobId, 3), '3\n');
  t.is((await maria.job(jobId)).userId, 'maria');
});
