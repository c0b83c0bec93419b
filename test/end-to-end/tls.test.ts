// A grid that listens for other hosts: every connection speaks TLS, agents come in at a door of their own, and a second
// user sees nothing
// of the first. Where this host has no address but loopback, loopback is spoken to with TLS.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, networkInterfaces, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { JobStatus, type UploadBlobRequest, type UploadBlobResponse } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import type { MutiraoError } from '@mutirao/api/errors';
import { GridMachineProviderServiceClient, type ConnectRequest, type ConnectResponse } from '@mutirao/api/provider';
import { identityFolder, initIdentity, issueIdentity, revokeSerial, userTrust } from '@mutirao/runtime/identity';
import { callUnary, dial, listMessages, openSending, openStream } from '@mutirao/runtime/rpc';
import { BrokerClient, Grid, taskGroup, temporaryFolder, until, type WithTeardown } from '@mutirao/testkit';

const day = 24 * 3_600_000;
const wait = { deadlineMs: 60_000 };

/** An address of this host that is not loopback's, or loopback by TLS. */
function otherAddress(): string {
  const found = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4');
  return found === undefined ? 'tls://127.0.0.1' : found.address;
}

const host = otherAddress();
const authorityHome = mkdtempSync(join(tmpdir(), 'mutirao-authority-'));
let grid: Grid;

test.before(async () => {
  grid = await Grid.start({
    clusters: [2],
    machines: [1],
    listen: `${host}:0`,
    providerArgs: ['--listen-agents', `${host}:0`],
    // The authority is elsewhere: a machine whose tasks could read its key would run none of maria's.
    prepare: async (home) => {
      await initIdentity({
        folder: identityFolder(authorityHome),
        user: userInfo().username,
        hosts: [],
        lasts: day,
        now: Date.now(),
      });
      await issueIdentity({
        folder: identityFolder(authorityHome),
        out: identityFolder(home),
        hosts: [host.replace('tls://', ''), hostname()],
        user: userInfo().username,
        lasts: day,
        now: Date.now(),
      });
    },
  });
});
test.after.always(async () => {
  await grid.stop();
  rmSync(authorityHome, { recursive: true, force: true });
});

/** The client of a user with a home of her own, into which she has put the identity that she was given. */
async function getClient(t: WithTeardown, user: string): Promise<BrokerClient> {
  const home = temporaryFolder(t);
  await issueIdentity({
    folder: identityFolder(authorityHome),
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

test.serial('tasks run on the cluster and on the lab machine, and files large and small go both ways', async (t) => {
  const folder = temporaryFolder(t);
  const large = randomBytes(3 << 20);
  writeFileSync(join(folder, 'large.bin'), large);
  const gate = join(folder, 'gate');
  const put = {
    source: { source: { $case: 'localPath' as const, value: 'large.bin' } },
    root: Root.STORAGE,
    path: 'large.bin',
    condition: '',
  };
  const jobId = await grid.client.submit(
    [
      taskGroup(`until [ -e ${gate} ]; do sleep 0.1; done; cat "$STORAGE/large.bin" > out.{}; echo {}`, 12, {
        inputs: [put],
        outputs: [{ root: Root.PLAYPEN, path: 'out.{}', localPath: 'results/out.{}', condition: '' }],
      }),
    ],
    { homeDirectory: folder },
  );
  const sites = async (): Promise<readonly string[]> => {
    const replicas = (await grid.client.tasks(jobId)).flatMap((task) => task.replicas);
    return [...new Set(replicas.map(({ machineId }) => machineId.split('/')[0] ?? ''))].sort();
  };
  await until(async () => (await sites()).join() === 'alpha,lab', 'tasks are on both');
  writeFileSync(gate, '');
  const job = await grid.client.waitEnded(jobId);
  t.is(job.status, JobStatus.FINISHED, await grid.client.explain({ $case: 'jobId', value: jobId }));
  t.true(readFileSync(join(folder, 'results', 'out.7')).equals(large));
});

test.serial('agents and brokers come in by different doors', (t) => {
  for (const provider of grid.providers) {
    t.not(provider.agentsAddress, '');
    t.not(provider.agentsAddress, provider.address);
  }
});

test.serial("another user has jobs of her own on the same broker, and sees nothing of the first one's", async (t) => {
  const maria = await getClient(t, 'maria');
  const jobId = await maria.submit([taskGroup('echo {}', 4)]);
  t.is((await maria.waitEnded(jobId)).status, JobStatus.FINISHED);
  t.is(await maria.output(jobId, 3), '3\n');
  t.is((await maria.job(jobId)).userId, 'maria');
  const secret = await grid.client.submit([taskGroup('echo secret; exit 1', 1)]);
  await grid.client.waitEnded(secret);
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    show: () => maria.job(secret),
    wait: () => callUnary(maria.raw, 'waitJob', { jobId: secret }, wait),
    cancel: () => maria.cancel(secret),
    retry: () => callUnary(maria.raw, 'retryTasks', { jobId: secret, taskIndexes: [], currentInputs: false }, wait),
    tasks: () => maria.tasks(secret),
    output: () => maria.output(secret, 0),
    explain: () => maria.explain({ $case: 'task', value: { jobId: secret, taskIndex: 0 } }),
    ledger: () => maria.ledger(secret),
    events: async () => {
      for await (const _message of listMessages(maria.raw.watchJob({ jobId: secret, afterSequence: 0 }))) break;
    },
  };
  for (const [name, call] of Object.entries(calls)) await t.throwsAsync(call(), { code: 'MUT_NOT_FOUND' }, name);
  await t.throwsAsync(grid.client.job(jobId), { code: 'MUT_NOT_FOUND' }, 'nor does the owner see hers');
  const { jobs } = await callUnary(maria.raw, 'listJobs', { pageSize: 0, beforeJobId: 0 }, wait);
  t.deepEqual(
    jobs.map((job) => job.jobId),
    [jobId],
  );
  const reported: number[] = [];
  for await (const { events } of listMessages(maria.raw.watchJob({ jobId: 0, afterSequence: 0 }))) {
    if (events.length === 0) break;
    reported.push(...events.map((event) => event.jobId).filter((id) => id !== 0));
  }
  t.deepEqual([...new Set(reported)], [jobId]);
});

test.serial("another user has no file of the broker's host read, written or run", async (t) => {
  const maria = await getClient(t, 'maria');
  const folder = temporaryFolder(t);
  const groups = {
    read: taskGroup('cat in', 1, {
      inputs: [
        {
          source: { source: { $case: 'localPath', value: join(grid.home, 'token') } },
          root: Root.PLAYPEN,
          path: 'in',
          condition: '',
        },
      ],
    }),
    written: taskGroup('echo > out', 1, {
      outputs: [{ root: Root.PLAYPEN, path: 'out', localPath: join(folder, 'out'), condition: '' }],
    }),
    run: taskGroup('true', 1, { check: `touch ${join(folder, 'ran')}` }),
  };
  for (const [what, group] of Object.entries(groups)) {
    await t.throwsAsync(maria.submit([group], { homeDirectory: folder }), { code: 'MUT_NOT_OWNER' }, what);
  }
  t.deepEqual(readdirSync(folder), []);
});

test.serial('outputs without a place at home are for the user whose task made them', async (t) => {
  const maria = await getClient(t, 'maria');
  const jobId = await maria.submit([
    taskGroup('echo of maria > out', 1, {
      outputs: [{ root: Root.PLAYPEN, path: 'out', localPath: '', condition: '' }],
    }),
  ]);
  t.is((await maria.waitEnded(jobId)).status, JobStatus.FINISHED);
  const { files } = await callUnary(maria.raw, 'getTaskOutput', { jobId, taskIndex: 0 }, wait);
  const sha256 = files[0]?.content?.sha256 ?? Buffer.alloc(0);
  const fetch = async (client: BrokerClient): Promise<string> => {
    const chunks: Buffer[] = [];
    for await (const { data } of listMessages(client.raw.downloadBlob({ sha256 }))) chunks.push(data);
    return Buffer.concat(chunks).toString();
  };
  t.is(await fetch(maria), 'of maria\n');
  await t.throwsAsync(fetch(await getClient(t, 'bob')), { code: 'MUT_CONTENT_NOT_FOUND' });
  await t.throwsAsync(fetch(grid.client), { code: 'MUT_CONTENT_NOT_FOUND' });
});

test.serial('without an identity, or with only the token, nobody gets in', async (t) => {
  const home = temporaryFolder(t);
  writeFileSync(join(home, 'token'), readFileSync(join(grid.home, 'token')), { mode: 0o600 });
  const client = (): BrokerClient => new BrokerClient(grid.broker.address, home);
  t.throws(client, { code: 'MUT_BAD_CONFIG', message: /user\.crt is not there; .*mutirao init/ });
  await initIdentity({
    folder: identityFolder(home),
    user: userInfo().username,
    hosts: [],
    lasts: day,
    now: Date.now(),
  });
  const foreign = client();
  t.teardown(() => {
    foreign.close();
  });
  await t.throwsAsync(foreign.machines(), { code: 'MUT_UNTRUSTED' });
});

test.serial('a user who is revoked loses all that she has open, and gets in nowhere', async (t) => {
  const home = temporaryFolder(t);
  const { user } = await issueIdentity({
    folder: identityFolder(authorityHome),
    out: identityFolder(home),
    hosts: [],
    user: 'maria',
    lasts: day,
    now: Date.now(),
  });
  const maria = new BrokerClient(grid.broker.address, home);
  const provider = dial(GridMachineProviderServiceClient, grid.providers[0]?.address ?? '', {
    token: '',
    trust: userTrust(home, {}),
  });
  t.teardown(() => {
    maria.close();
    provider.close();
  });
  const upload = openSending<UploadBlobRequest, UploadBlobResponse>((done) => maria.raw.uploadBlob(done));
  upload.writer.write({ data: Buffer.from('the first half') });
  const connection = Promise.withResolvers<MutiraoError | undefined>();
  const greeted = Promise.withResolvers<void>();
  const stream = openStream<ConnectResponse, ConnectRequest>(provider.connect());
  stream.listen({
    onMessage: () => {
      greeted.resolve();
    },
    onClosed: (error) => {
      connection.resolve(error);
    },
  });
  const hello = { protocolVersion: 1, programVersion: '0', capabilities: [], speakerId: 'b1', sentUnixMs: 0 };
  stream.write({ message: { $case: 'hello', value: hello } });
  await Promise.all([greeted.promise, maria.machines()]);
  revokeSerial(identityFolder(grid.home), user?.serial ?? '', 'left the lab');
  await t.throwsAsync(upload.response, { code: 'MUT_UNAUTHENTICATED', message: /revoked/ });
  t.is((await connection.promise)?.code, 'MUT_UNAUTHENTICATED');
  await t.throwsAsync(maria.machines(), { code: 'MUT_UNAUTHENTICATED' });
  await t.throwsAsync(callUnary(provider, 'getResource', {}, wait), { code: 'MUT_UNAUTHENTICATED' });
});
