// When a process has ended, any account of the host can listen at its port. Clients must show such a server nothing.
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session } from 'node:http2';
import { join } from 'node:path';
import { ClusterServiceClient, ClusterServiceService } from '@mutirao/api/cluster';
import { ensureIdentity, identityFolder, userTrust } from '@mutirao/runtime/identity';
import { quietLogger } from '@mutirao/runtime/log';
import {
  acceptToken,
  bind,
  callUnary,
  dial,
  isHomeSocket,
  listenAddress,
  parseAddress,
  serve,
  type Address,
} from '@mutirao/runtime/rpc';
import { forbidLeaks, temporaryFolder } from '@mutirao/testkit';
import test, { type ExecutionContext } from 'ava';

forbidLeaks(test);

const secret = 'a-secret-that-nobody-else-may-see';
const limits = { deadlineMs: 20_000 };
const binding = bind(ClusterServiceService, {
  allocate: () => ({ requestId: '1', walltimeGain: undefined }),
  release: () => ({}),
  getLimits: () => ({
    processors: 3,
    requestsMax: 1,
    walltimeMsMax: 1,
    widthProcessorsMax: 1,
    walltimeGranularityMs: 1,
    nodes: [],
  }),
  getQueue: () => ({ atUnixMs: 7, processorsFree: 3, requests: [], reservations: [], ranking: undefined, nodes: [] }),
  getScores: () => ({ ordersQueue: false, weight: 0, leadMsMax: 0, scores: [] }),
  watchQueue: async () => undefined,
});

const getPort = (address: Address): number => ('port' in address ? address.port : 0);

/** Takes a port, and returns the headers of the calls made there, as a server without TLS receives them. */
async function squat(t: ExecutionContext, port: number): Promise<() => readonly IncomingHttpHeaders[]> {
  const received: IncomingHttpHeaders[] = [];
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
  });
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, headers) => {
    received.push(headers);
    stream.on('error', () => undefined);
    stream.close();
  });
  t.teardown(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  return () => received;
}

test.serial('a client calls no server that has taken the port of another one, so that it shows no token', async (t) => {
  const home = temporaryFolder(t);
  const server = await serve({
    address: '127.0.0.1:0',
    identity: identityFolder(home),
    tokens: acceptToken(secret, 'ana'),
    log: quietLogger,
    services: [binding],
  });
  const client = dial(ClusterServiceClient, server.address, { token: secret, trust: userTrust(home, {}) });
  t.teardown(() => {
    client.close();
  });
  t.is(
    (await callUnary(client, 'getLimits', { userId: '' }, limits)).processors,
    3,
    'the server itself is found by its certificate',
  );
  await server.drain(0);
  const received = await squat(t, getPort(parseAddress(server.address)));
  await t.throwsAsync(callUnary(client, 'getLimits', { userId: '' }, limits), { code: 'MUT_UNREACHABLE' });
  t.deepEqual(received(), [], 'no call is made before the server has proved who it is');
});

test.serial('a server with another authority is called by nobody', async (t) => {
  const [home, other] = [temporaryFolder(t), temporaryFolder(t)];
  await ensureIdentity(identityFolder(home));
  const server = await serve({
    address: '127.0.0.1:0',
    identity: identityFolder(other),
    tokens: () => 'ana',
    log: quietLogger,
    services: [binding],
  });
  t.teardown(() => server.drain(0));
  const client = dial(ClusterServiceClient, server.address, { token: secret, trust: userTrust(home, {}) });
  t.teardown(() => {
    client.close();
  });
  await t.throwsAsync(callUnary(client, 'getLimits', { userId: '' }, limits), { code: 'MUT_UNTRUSTED' });
});

test('processes of one home that start at once agree on one identity', async (t) => {
  const home = temporaryFolder(t);
  const servers = await Promise.all(
    Array.from({ length: 3 }, () =>
      serve({
        address: '127.0.0.1:0',
        identity: identityFolder(home),
        tokens: acceptToken(secret, 'ana'),
        log: quietLogger,
        services: [binding],
      }),
    ),
  );
  t.teardown(() => Promise.all(servers.map((server) => server.drain(0))));
  for (const { address } of servers) {
    const client = dial(ClusterServiceClient, address, { token: secret, trust: userTrust(home, {}) });
    t.is((await callUnary(client, 'getLimits', { userId: '' }, limits)).processors, 3);
    client.close();
  }
});

test('a process listens at a socket in its home folder, or below the temporary one where a socket cannot be there', async (t) => {
  const home = temporaryFolder(t);
  t.is(await listenAddress(home, 'broker'), `unix:${join(home, 'sockets/broker')}`);
  const places = [join(home, 'x'.repeat(120)), join(home, 'cost in $'), join(home, 'a "quoted" name')];
  const elsewhere = await Promise.all(places.map((place) => listenAddress(place, 'broker')));
  for (const [index, address] of elsewhere.entries()) {
    t.regex(address, /^unix:\/.*\/mutirao-\d+-[0-9a-f]{16}\/broker$/);
    t.is(await listenAddress(places[index] ?? '', 'broker'), address, 'the same each time');
  }
  t.is(new Set(elsewhere).size, 3);
  t.notThrows(() => parseAddress(elsewhere[0] ?? ''));
  const longName = await listenAddress(places[0] ?? '', `provider-${'y'.repeat(64)}`);
  t.notThrows(() => parseAddress(longName), 'a long name');
  for (const address of [...elsewhere, longName, `unix:${join(home, 'sockets/broker')}`])
    t.true(isHomeSocket(address.slice('unix:'.length)), address);
  t.false(isHomeSocket('/home/ana/.mutirao/agents/pc1/provider'));
});
