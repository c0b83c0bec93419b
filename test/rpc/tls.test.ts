import { credentials } from '@grpc/grpc-js';
import { X509Certificate } from 'node:crypto';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { MutiraoError } from '@mutirao/api/errors';
import { ClusterServiceClient, ClusterServiceService } from '@mutirao/api/cluster';
import type { AuditEntry } from '@mutirao/runtime/audit';
import {
  identityPaths,
  initIdentity,
  issueForHosts,
  issueForUser,
  makeAuthority,
  revokeSerial,
  type KeyPair,
  type Trust,
} from '@mutirao/runtime/identity';
import { quietLogger } from '@mutirao/runtime/log';
import {
  acceptToken,
  bind,
  callUnary,
  dial,
  listMessages,
  serve,
  type BindOptions,
  type RunningServer,
} from '@mutirao/runtime/rpc';
import { discardSocket, forbidLeaks, freeSocket, temporaryFolder, until } from '@mutirao/testkit';
import test, { type ExecutionContext } from 'ava';

forbidLeaks(test);

const day = 24 * 3_600_000;
const wait = { deadlineMs: 60_000 };
const listing = { atUnixMs: 7, processorsFree: 3, requests: [], reservations: [], ranking: undefined, nodes: [] };

interface Tls {
  readonly folder: string;
  readonly authority: KeyPair;
  readonly server: RunningServer;
}

/** A server with TLS that answers with the name of its caller. */
async function serveTls(
  t: ExecutionContext,
  address = 'tls://127.0.0.1:0',
  options: BindOptions<never> = {},
  audited: AuditEntry[] = [],
): Promise<Tls> {
  const folder = temporaryFolder(t);
  await initIdentity({ folder, user: 'ana', hosts: [], lasts: day, now: Date.now() });
  const paths = identityPaths(folder);
  const authority = {
    certificate: readFileSync(paths.authorityCertificate, 'utf8'),
    key: readFileSync(paths.authorityKey, 'utf8'),
  };
  const binding = bind(
    ClusterServiceService,
    {
      allocate: (_request, { userId }) => ({ requestId: userId, walltimeGain: undefined }),
      release: () => ({}),
      getLimits: () => ({
        processors: 1,
        requestsMax: 1,
        walltimeMsMax: 1,
        widthProcessorsMax: 1,
        walltimeGranularityMs: 1,
        nodes: [],
      }),
      getQueue: () => listing,
      getScores: () => ({ ordersQueue: false, weight: 0, leadMsMax: 0, scores: [] }),
      watchQueue: async (_request, writer, { signal }) => {
        writer.write({ queue: listing });
        await new Promise<void>((resolve) => {
          signal.addEventListener(
            'abort',
            () => {
              resolve();
            },
            { once: true },
          );
        });
      },
    },
    options,
  );
  const server = await serve({
    address,
    identity: folder,
    tokens: acceptToken('secret', 'bob'),
    log: quietLogger,
    services: [binding],
    audit: {
      record: (entry) => {
        audited.push(entry);
      },
      close: () => undefined,
    },
  });
  t.teardown(() => server.drain(1000));
  return { folder, authority, server };
}

function dialWith(t: ExecutionContext, address: string, trust: Trust): ClusterServiceClient {
  const client = dial(ClusterServiceClient, address, { token: 'secret', trust: () => trust });
  t.teardown(() => {
    client.close();
  });
  return client;
}

function whoAmI(client: ClusterServiceClient): Promise<string> {
  return callUnary(
    client,
    'allocate',
    {
      userId: '',
      widthProcessors: 1,
      walltimeMs: 1,
      command: [],
      environment: {},
      workingDirectory: '',
      clientRequestId: '',
      reservationClaim: '',
    },
    wait,
  ).then(({ requestId }) => requestId);
}

/** The good certificate of a user. @param lasts may be over already. */
function getUser(authority: KeyPair, user: string, lasts = day): Promise<KeyPair> {
  return issueForUser(authority, user, { now: Date.now(), lasts });
}

test.serial('a user is who her certificate says, and her token stays with her', async (t) => {
  const { authority, server } = await serveTls(t);
  t.is(
    await whoAmI(
      dialWith(t, server.address, { authority: authority.certificate, user: await getUser(authority, 'maria') }),
    ),
    'maria',
  );
});

test.serial('other hosts are served with TLS', async (t) => {
  const address = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  if (address === undefined) {
    t.pass('this host has no other address');
    return;
  }
  const { authority, server } = await serveTls(t, `${address}:0`);
  const trust = { authority: authority.certificate, user: await getUser(authority, 'maria') };
  t.is(await whoAmI(dialWith(t, server.address, trust)), 'maria');
  t.regex(server.address, /^[\d.]+:\d+$/);
  const plain = new ClusterServiceClient(server.address.replace(address, '127.0.0.1'), credentials.createInsecure());
  await t.throwsAsync(whoAmI(plain), { code: 'MUT_UNREACHABLE' }, 'nothing listens on loopback');
  plain.close();
});

test.serial('neither a token nor a missing certificate is accepted', async (t) => {
  const { authority, server } = await serveTls(t);
  await t.throwsAsync(whoAmI(dialWith(t, server.address, { authority: authority.certificate })), {
    code: 'MUT_UNAUTHENTICATED',
    message: /none was shown/,
  });
});

test.serial('a client without TLS receives nothing', async (t) => {
  const { server } = await serveTls(t);
  const plain = new ClusterServiceClient(server.address.replace('tls://', ''), credentials.createInsecure());
  await t.throwsAsync(whoAmI(plain), { code: 'MUT_UNREACHABLE' });
  plain.close();
});

test.serial('an expired certificate is refused', async (t) => {
  const { authority, server } = await serveTls(t);
  const trust = { authority: authority.certificate, user: await getUser(authority, 'ana', -1) };
  await t.throwsAsync(whoAmI(dialWith(t, server.address, trust)), { code: 'MUT_UNAUTHENTICATED' });
});

test.serial('the certificate of another authority is refused, whatever name it holds', async (t) => {
  const { authority, server } = await serveTls(t);
  const foreign = await makeAuthority('foreign', { now: Date.now(), lasts: day });
  const trust = { authority: authority.certificate, user: await getUser(foreign, 'ana') };
  await t.throwsAsync(whoAmI(dialWith(t, server.address, trust)), { code: 'MUT_UNAUTHENTICATED' });
});

test.serial('the certificate of a host lets nobody in', async (t) => {
  const { authority, server } = await serveTls(t);
  const host = await issueForHosts(authority, ['ana'], { now: Date.now(), lasts: day });
  await t.throwsAsync(whoAmI(dialWith(t, server.address, { authority: authority.certificate, user: host })), {
    code: 'MUT_UNAUTHENTICATED',
  });
});

test.serial('a copied certificate without its key connects to nothing', async (t) => {
  const { authority, server } = await serveTls(t);
  const { certificate } = await getUser(authority, 'ana');
  const { key } = await getUser(authority, 'maria');
  t.throws(() => dialWith(t, server.address, { authority: authority.certificate, user: { certificate, key } }), {
    message: /key values mismatch/,
  });
});

test.serial('a server of another authority is not trusted', async (t) => {
  const { authority, server } = await serveTls(t);
  const foreign = await makeAuthority('foreign', { now: Date.now(), lasts: day });
  const trust = { authority: foreign.certificate, user: await getUser(authority, 'ana') };
  await t.throwsAsync(whoAmI(dialWith(t, server.address, trust)), { code: 'MUT_UNTRUSTED' });
});

/** Puts another certificate into the place of the host's, and serves. */
async function serveAs(t: ExecutionContext, pair: (authority: KeyPair) => Promise<KeyPair>): Promise<RunningServer> {
  const { folder, authority } = await serveTls(t);
  const { hostCertificate, hostKey } = identityPaths(folder);
  const { certificate, key } = await pair(authority);
  writeFileSync(hostCertificate, certificate);
  writeFileSync(hostKey, key);
  return serve({
    address: 'tls://127.0.0.1:0',
    identity: folder,
    tokens: acceptToken('secret', 'bob'),
    log: quietLogger,
    services: [],
  });
}

test.serial('a server whose certificate names another host is not trusted', async (t) => {
  const { folder, authority } = await serveTls(t);
  const { certificate, key } = await issueForHosts(authority, ['n2.example.org', '192.0.2.7'], {
    now: Date.now(),
    lasts: day,
  });
  writeFileSync(identityPaths(folder).hostCertificate, certificate);
  writeFileSync(identityPaths(folder).hostKey, key);
  const server = await serve({
    address: 'tls://127.0.0.1:0',
    identity: folder,
    tokens: acceptToken('secret', 'bob'),
    log: quietLogger,
    services: [],
  });
  t.teardown(() => server.drain(1000));
  const client = dialWith(t, server.address, {
    authority: authority.certificate,
    user: await getUser(authority, 'ana'),
  });
  await t.throwsAsync(whoAmI(client), {
    code: 'MUT_UNTRUSTED',
    message: /127\.0\.0\.1 is not in the cert's list: *192\.0\.2\.7/,
  });
});

test.serial(
  'a server does not start with an expired certificate, one of another authority, or a key that others may read',
  async (t) => {
    const { folder } = await serveTls(t);
    const foreign = await makeAuthority('foreign', { now: Date.now(), lasts: day });
    await t.throwsAsync(
      serveAs(t, (authority) => issueForHosts(authority, ['localhost'], { now: Date.now(), lasts: -1 })),
      { code: 'MUT_BAD_CONFIG', message: /host\.crt has expired on .*mutirao init/ },
    );
    await t.throwsAsync(
      serveAs(t, () => issueForHosts(foreign, ['localhost'], { now: Date.now(), lasts: day })),
      { code: 'MUT_BAD_CONFIG', message: /not signed by/ },
    );
    chmodSync(identityPaths(folder).hostKey, 0o640);
    const open = serve({
      address: 'tls://127.0.0.1:0',
      identity: folder,
      tokens: acceptToken('secret', 'bob'),
      log: quietLogger,
      services: [],
    });
    await t.throwsAsync(open, { code: 'MUT_TOKEN_UNSAFE', message: /host\.key has mode 640; expected 600/ });
  },
);

test.serial('a server makes no identity by itself for the addresses of other hosts', async (t) => {
  const folder = temporaryFolder(t);
  const open = serve({
    address: '0.0.0.0:0',
    identity: folder,
    tokens: acceptToken('secret', 'bob'),
    log: quietLogger,
    services: [],
  });
  await t.throwsAsync(open, { code: 'MUT_BAD_CONFIG', message: /host\.crt is not there; .*mutirao init/ });
});

/** A call that is open, and the promise of its end. */
async function watch(client: ClusterServiceClient): Promise<{ readonly ended: Promise<void> }> {
  const messages = listMessages(client.watchQueue({}));
  await messages.next();
  return { ended: messages.next().then(() => undefined) };
}

test.serial(
  'a certificate that expires ends calls that are open, and is refused on connections that are',
  async (t) => {
    const { authority, server } = await serveTls(t);
    // Certificates hold whole seconds.
    const client = dialWith(t, server.address, {
      authority: authority.certificate,
      user: await getUser(authority, 'ana', 2000),
    });
    const { ended } = await watch(client);
    t.is(await whoAmI(client), 'ana');
    await t.throwsAsync(ended, { code: 'MUT_UNAUTHENTICATED', message: /certificate of ana has expired/ });
    await t.throwsAsync(whoAmI(client), { code: 'MUT_UNAUTHENTICATED', message: /certificate of ana has expired/ });
  },
);

test.serial(
  'a revoked certificate ends calls that are open, and is refused on new ones and new connections; others stay',
  async (t) => {
    const audited: AuditEntry[] = [];
    const { folder, authority, server } = await serveTls(t, 'tls://127.0.0.1:0', {}, audited);
    const user = await getUser(authority, 'maria');
    const client = dialWith(t, server.address, { authority: authority.certificate, user });
    const other = dialWith(t, server.address, {
      authority: authority.certificate,
      user: await getUser(authority, 'ana'),
    });
    const { ended } = await watch(client);
    revokeSerial(folder, new X509Certificate(user.certificate).serialNumber, 'left the lab');
    await t.throwsAsync(ended, { code: 'MUT_UNAUTHENTICATED', message: /of maria is revoked/ });
    t.deepEqual(
      audited.map(({ who, target }) => [who, target]),
      [['maria', '/mutirao.cluster.v1.ClusterService/WatchQueue']],
      'the audit log names who was admitted',
    );
    await t.throwsAsync(whoAmI(client), { code: 'MUT_UNAUTHENTICATED', message: /of maria is revoked/ });
    await t.throwsAsync(whoAmI(dialWith(t, server.address, { authority: authority.certificate, user })), {
      code: 'MUT_UNAUTHENTICATED',
      message: /of maria is revoked/,
    });
    t.is(await whoAmI(other), 'ana');
  },
);

test.serial('a service with credentials of its own takes those over TLS, and no other', async (t) => {
  const { authority, server } = await serveTls(t, 'tls://127.0.0.1:0', {
    tokens: acceptToken('of the allocation', 'request:q1'),
  });
  const trust = { authority: authority.certificate };
  const agent = dial(ClusterServiceClient, server.address, { token: 'of the allocation', trust: () => trust });
  t.teardown(() => {
    agent.close();
  });
  t.is(await whoAmI(agent), 'request:q1');
  await t.throwsAsync(whoAmI(dialWith(t, server.address, trust)), { code: 'MUT_UNAUTHENTICATED' });
  const user = await getUser(authority, 'ana');
  await t.throwsAsync(whoAmI(dialWith(t, server.address, { ...trust, user })), {
    code: 'MUT_UNAUTHENTICATED',
    message: /no credential/,
  });
});

test.serial('a certificate made again is shown to new connections without a restart', async (t) => {
  const { folder, authority, server } = await serveTls(t);
  const { hostCertificate, hostKey } = identityPaths(folder);
  const trust = { authority: authority.certificate, user: await getUser(authority, 'ana') };
  t.is(await whoAmI(dialWith(t, server.address, trust)), 'ana');
  const { certificate, key } = await issueForHosts(authority, ['n2'], { now: Date.now(), lasts: day });
  writeFileSync(hostKey, key);
  writeFileSync(`${hostCertificate}.new`, certificate);
  copyFileSync(`${hostCertificate}.new`, hostCertificate);
  await until(
    () =>
      whoAmI(dialWith(t, server.address, trust)).then(
        () => false,
        (error: unknown) => error instanceof MutiraoError && error.code === 'MUT_UNTRUSTED',
      ),
    'the new certificate is shown',
  );
  t.pass();
});

test.serial('a socket that leads to a server with TLS is spoken to with TLS', async (t) => {
  const { server, authority } = await serveTls(t, `tls://unix:${temporaryFolder(t)}/server`);
  t.regex(server.address, /^tls:\/\/unix:/);
  t.is(
    await whoAmI(
      dialWith(t, server.address, { authority: authority.certificate, user: await getUser(authority, 'maria') }),
    ),
    'maria',
  );
  await t.throwsAsync(
    whoAmI(dialWith(t, server.address.slice('tls://'.length), { authority: authority.certificate })),
    { code: 'MUT_UNREACHABLE' },
  );
});

for (const [served, dialled, advice] of [
  ['', 'tls://', /speaks no TLS: the address is tls:\/\/(unix:\S+); expected \1$/],
  [
    'tls://',
    '',
    /closed the connection before any call: if a server with TLS listens there, change the address to tls:\/\/unix:\S+$/,
  ],
] as const) {
  test.serial(
    `a client that dials ${dialled}unix:/path where ${served}unix:/path is served learns at once which address to write`,
    async (t) => {
      const socket = freeSocket();
      t.teardown(() => {
        discardSocket(socket);
      });
      const { folder } = await serveTls(t, `${served}${socket}`);
      const client = dial(ClusterServiceClient, `${dialled}${socket}`, {
        token: 'secret',
        trust: () => ({ authority: readFileSync(identityPaths(folder).authorityCertificate, 'utf8') }),
      });
      t.teardown(() => {
        client.close();
      });
      await t.throwsAsync(whoAmI(client), { code: 'MUT_UNREACHABLE', message: advice });
      await t.throwsAsync(
        async () => {
          for await (const one of listMessages(client.watchQueue({}))) t.fail(JSON.stringify(one));
        },
        { code: 'MUT_UNREACHABLE', message: advice },
      );
    },
  );
}

test.serial('a client that dials a port of a program without TLS learns so', async (t) => {
  const other = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end('220 mail.example.org ESMTP\r\n', () => {
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        other.close(() => {
          resolve();
        });
      }),
  );
  const { folder } = await serveTls(t);
  const client = dial(ClusterServiceClient, `127.0.0.1:${(other.address() as AddressInfo).port}`, {
    token: 'secret',
    trust: () => ({ authority: readFileSync(identityPaths(folder).authorityCertificate, 'utf8') }),
  });
  t.teardown(() => {
    client.close();
  });
  await t.throwsAsync(whoAmI(client), {
    code: 'MUT_UNREACHABLE',
    message: /speaks no TLS: another program than Mutirao's listens there; change the address/,
  });
});
