// Proves that a user with a certificate gets what the configuration allows, receives the reason of each refusal, and
// sees the limits; and that none of them apply to the owner.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import test from 'ava';
import type { UploadBlobRequest, UploadBlobResponse } from '@mutirao/api/broker';
import { auditPath } from '@mutirao/runtime/audit';
import { identityFolder, initIdentity, issueIdentity } from '@mutirao/runtime/identity';
import { callUnary, openSending } from '@mutirao/runtime/rpc';
import { BrokerClient, Grid, taskGroup, temporaryFolder, type WithTeardown } from '@mutirao/testkit';

const day = 24 * 3_600_000;
const wait = { deadlineMs: 60_000 };
let grid: Grid;

test.before(async () => {
  grid = await Grid.start({
    machines: [1],
    listen: '127.0.0.1:0',
    brokerArgs: ['--quota', 'jobs=1', '--quota', 'tasks=100', '--quota', 'blob-bytes=1M', '--quota', 'joao:jobs=2'],
    prepare: async (home) => {
      await initIdentity({
        folder: identityFolder(home),
        user: userInfo().username,
        hosts: [],
        lasts: day,
        now: Date.now(),
      });
    },
  });
});
test.after.always(async () => {
  await grid.stop();
});

async function getClient(t: WithTeardown, user: string): Promise<BrokerClient> {
  const home = temporaryFolder(t);
  await issueIdentity({
    folder: identityFolder(grid.home),
    out: identityFolder(home),
    hosts: [],
    user,
    lasts: day,
    now: Date.now(),
  });
  const client = new BrokerClient(grid.broker.address, home);
  t.teardown(() => {
    client.close();
  });
  return client;
}

async function upload(client: BrokerClient, bytes: number): Promise<void> {
  const { writer, response } = openSending<UploadBlobRequest, UploadBlobResponse>((done) =>
    client.raw.uploadBlob(done),
  );
  for (let left = bytes; left > 0; left -= 65_536) writer.write({ data: randomBytes(Math.min(left, 65_536)) });
  writer.end();
  await response;
}

test.serial(
  'jobs and tasks of a user are limited, the refusal names the limit, and the audit log records it',
  async (t) => {
    const [maria, joao] = [await getClient(t, 'maria'), await getClient(t, 'joao')];
    await t.throwsAsync(maria.submit([taskGroup('sleep 600', 101)]), {
      code: 'MUT_USER_QUOTA',
      message: /your quota "tasks" .* is 100; you have 0 and ask for 101 more; .*submit fewer tasks/,
    });
    const jobId = await maria.submit([taskGroup('sleep 600', 100)]);
    await t.throwsAsync(maria.submit([taskGroup('sleep 600', 1)]), {
      code: 'MUT_USER_QUOTA',
      message: /your quota "jobs"/,
    });
    await joao.submit([taskGroup('true', 1)]);
    await maria.cancel(jobId);
    await maria.waitEnded(jobId);
    await maria.submit([taskGroup('true', 1)]);
    for (let count = 0; count < 3; count += 1) await grid.client.submit([taskGroup('true', 1000)]);
    const refused = readFileSync(auditPath(grid.home, 'broker'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ action }) => action === 'call.refuse');
    t.deepEqual(
      refused.map(({ who, refused_with: code }) => [who, code]),
      [
        ['maria', 'MUT_USER_QUOTA'],
        ['maria', 'MUT_USER_QUOTA'],
      ],
    );
  },
);

test.serial('blobs of a user are bounded by their sum, while they arrive', async (t) => {
  const maria = await getClient(t, 'maria');
  await upload(maria, 600_000);
  await t.throwsAsync(upload(maria, 600_000), { code: 'MUT_USER_QUOTA', message: /your quota "blob-bytes"/ });
  await upload(maria, 300_000);
  await upload(grid.client, 3_000_000);
});

test.serial('a user sees what is used and allowed, and only the owner sees that of others', async (t) => {
  const [maria, joao] = [await getClient(t, 'maria'), await getClient(t, 'joao')];
  const { userId, uses } = await callUnary(maria.raw, 'getQuota', { userId: '' }, wait);
  t.is(userId, 'maria');
  const blobs = uses.find(({ kind }) => kind === 'blob-bytes');
  t.deepEqual(blobs, { kind: 'blob-bytes', used: 900_000, allowed: 1024 ** 2 });
  t.is(uses.find(({ kind }) => kind === 'jobs')?.allowed, 1);
  t.true((uses.find(({ kind }) => kind === 'connections')?.used ?? 0) >= 1);
  await t.throwsAsync(callUnary(joao.raw, 'getQuota', { userId: 'maria' }, wait), { code: 'MUT_NOT_OWNER' });
  const owners = await callUnary(grid.client.raw, 'getQuota', { userId: '' }, wait);
  t.deepEqual(
    owners.uses.filter(({ allowed }) => allowed !== undefined).map(({ kind }) => kind),
    ['machine-bytes'],
    'machines are bounded, the owner is not',
  );
  t.deepEqual(
    (await callUnary(grid.client.raw, 'getQuota', { userId: 'maria' }, wait)).uses.find(
      ({ kind }) => kind === 'blob-bytes',
    ),
    blobs,
  );
});
