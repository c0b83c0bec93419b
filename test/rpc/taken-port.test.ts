// When a process has ended, any account of the host can listen at its port. Clients must show such a server nothing.
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ClusterServiceClient, ClusterServiceService } from '@mutirao/api/cluster';
import { ensureIdentity, identityFolder, userTrust } from '@mutirao/runtime/identity';
import { quietLogger } from '@mutirao/runtime/log';
import { acceptToken, bind, callUnary, dial, isHomeSocket, listenAddress, parseAddress, serve, type Address } from '@mutirao/runtime/rpc';
import { forbidLeaks, temporaryFolder } from '@mutirao/testkit';
import test, { type ExecutionContext } from 'ava';

forbidLeaks(test);

const secret = 'a-secret-that-nobody-else-may-see';
const limits = { deadlineMs: 20_000 };
const binding = bind(ClusterServiceService, {
  allocate: () => ({ requestId: '1', walltimeGain: undefined }), release: () => ({}),
  getLimits: () => ({ processors: 3, requestsMax: 1, walltimeMsMax: 1, widthProcessorsMax: 1, walltimeGranularityMs: 1 }),
  getQueue: () => ({ atUnixMs: 7, processorsFree: 3, requests: [], reservations: [], ranking: undefined }),
  getScores: () => ({ ordersQueue: false, weight: 0, leadMsMax: 0, scores: [] }), watchQueue: async () => undefined,
});

const portOf = (address: Address): number => ('port' in address ? address.port : 0);

/** Takes a port and keeps every byte that it is sent; answers as a server of HTTP/2 would at first, so that a client goes on. */
async function squat(t: ExecutionContext, port: number): Promise<() => string> {
  const heard: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => heard.push(data));
    // An empty SETTINGS frame.
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    setTimeout(() => socket.destroy(), 500).unref();
  });
  t.teardown(() => { server.close(); });
  await new Promise<void>((resolve) => { server.listen(port, '127.0.0.1', resolve); });
  return () => Buffer.concat(heard).toString('latin1');
}

test.serial('whoever takes the port of a server that has ended is shown no token', async (t) => {
  const home = temporaryFolder(t);
  const server = await serve({ address: '127.0.0.1:0', identity: identityFolder(home), tokens: acceptToken(secret, 'ana'), log: quietLogger, services: [binding] });
  const client = dial(ClusterServiceClient, server.address, { token: secret, trust: userTrust(home, {}) });
  t.teardown(() => { client.close(); });
  t.is((await callUnary(client, 'getLimits', { userId: '' }, limits)).processors, 3, 'the server itself is found by its certificate');
  await server.drain(0);
  const heard = await squat(t, portOf(parseAddress(server.address)));
  await t.throwsAsync(callUnary(client, 'getLimits', { userId: '' }, limits), { code: 'MUT_UNREACHABLE' });
  t.false(heard().includes(secret));
  t.false(heard().includes('getLimits') || heard().includes('GetLimits'), 'no call is made before the server has proved who it is');
});

test.serial('a server with another authority is called by nobody', async (t) => {
  const [home, other] = [temporaryFolder(t), temporaryFolder(t)];
  await ensureIdentity(identityFolder(home));
  const server = await serve({ address: '127.0.0.1:0', identity: identityFolder(other), tokens: () => 'ana', log: quietLogger, services: [binding] });
  t.teardown(() => server.drain(0));
  const client = dial(ClusterServiceClient, server.address, { token: secret, trust: userTrust(home, {}) });
  t.teardown(() => { client.close(); });
  await t.throwsAsync(callUnary(client, 'getLimits', { userId: '' }, limits), { code: 'MUT_UNTRUSTED' });
});

test('processes of one home that start at once agree on one identity', async (t) => {
  const home = temporaryFolder(t);
  const servers = await Promise.all(Array.from({ length: 3 }, () => serve({ address: '127.0.0.1:0', identity: identityFolder(home), tokens: acceptToken(secret, 'ana'), log: quietLogger, services: [binding] })));
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
  for (const address of [...elsewhere, longName, `unix:${join(home, 'sockets/broker')}`]) t.true(isHomeSocket(address.slice('unix:'.length)), address);
  t.false(isHomeSocket('/home/ana/.mutirao/agents/pc1/provider'));
});
