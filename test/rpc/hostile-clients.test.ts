// Proves that whoever can connect, but has no credential, gets little of a server: calls are admitted by their headers,
// and connections, calls and log lines are bounded.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterServiceClient, ClusterServiceService } from '@mutirao/api/cluster';
import { GridMachineServiceService } from '@mutirao/api/machine';
import { parseQuotas } from '@mutirao/core/quotas';
import { auditPath, openAudit } from '@mutirao/runtime/audit';
import { quietLogger, type Logger } from '@mutirao/runtime/log';
import {
  acceptToken,
  bind,
  callUnary,
  dial,
  serve,
  type Handlers,
  type RunningServer,
  type ServeOptions,
  type StreamWriter,
} from '@mutirao/runtime/rpc';
import {
  discardSocket,
  forbidLeaks,
  freeSocket,
  HostileClient,
  messagePrefix,
  temporaryFolder,
  until,
} from '@mutirao/testkit';
import test, { type ExecutionContext } from 'ava';

forbidLeaks(test);

const listing = { atUnixMs: 7, processorsFree: 3, requests: [], reservations: [], ranking: undefined, nodes: [] };
const getQueue = '/mutirao.cluster.v1.ClusterService/GetQueue';
const allocate = '/mutirao.cluster.v1.ClusterService/Allocate';
const { path: pushContent } = GridMachineServiceService.pushContent;
const { path: pullContent } = GridMachineServiceService.pullContent;
const healthWatch = '/grpc.health.v1.Health/Watch';
const mine = { authorization: 'Bearer secret' };
const invalidArgument = '3';
const resourceExhausted = '8';
const unimplemented = '12';
const unauthenticated = '16';

interface Attacked {
  readonly server: RunningServer;
  readonly hostile: HostileClient;
  readonly client: ClusterServiceClient;
  /** Warnings in the server's log. */
  readonly warnings: string[];
}

async function attack(
  t: ExecutionContext,
  options: Partial<ServeOptions> = {},
  handlers: Partial<Handlers<typeof ClusterServiceService>> = {},
): Promise<Attacked> {
  const warnings: string[] = [];
  const log: Logger = {
    ...quietLogger,
    warn: (_fields, message) => {
      warnings.push(message);
    },
  };
  const binding = bind(ClusterServiceService, {
    allocate: (request) => ({ requestId: `${request.command.join('').length}`, walltimeGain: undefined }),
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
    ...handlers,
  });
  const server = await serve({
    address: freeSocket(),
    tokens: acceptToken('secret', 'ana'),
    log,
    services: [binding],
    ...options,
  });
  const hostile = new HostileClient(server.address);
  let client: ClusterServiceClient | undefined;
  t.teardown(async () => {
    client?.close();
    await hostile.close();
    await server.drain(1000);
    if (server.address.startsWith('unix:')) discardSocket(server.address);
  });
  return {
    server,
    hostile,
    get client() {
      return (client ??= dial(ClusterServiceClient, server.address, { token: 'secret' }));
    },
    warnings,
  };
}

function ask(client: ClusterServiceClient): Promise<object> {
  return callUnary(client, 'getQueue', { endedMax: 0, userId: '' }, { deadlineMs: 60_000 });
}

test.serial(
  'a call without a credential is answered before its body is there, and its body goes nowhere',
  async (t) => {
    const { hostile, client } = await attack(t);
    const call = hostile.begin(hostile.connect(), allocate);
    call.stream.write(messagePrefix(15 * 1024 ** 2));
    await until(() => call.status() !== undefined && call.isOver(), 'the call is answered and over');
    t.is(call.status(), unauthenticated);
    t.like(await ask(client), { processorsFree: 3 });
  },
);

test.serial(
  'a wrong credential, a method that does not exist and another content type are answered by the headers too',
  async (t) => {
    const { hostile } = await attack(t);
    const session = hostile.connect();
    const calls = [
      hostile.begin(session, allocate, { authorization: 'Bearer guessed' }),
      hostile.begin(session, '/mutirao.cluster.v1.ClusterService/Absent', mine),
      hostile.begin(session, allocate, { ...mine, 'content-type': 'text/plain' }),
    ];
    for (const { stream } of calls) stream.write(messagePrefix(1000));
    await until(() => calls.every((call) => call.isOver()), 'all calls are over');
    t.deepEqual(
      calls.map((call) => call.status()),
      [unauthenticated, unimplemented, invalidArgument],
    );
  },
);

test.serial(
  'a request that is too large for its call is refused by its first bytes, and one that is compressed too',
  async (t) => {
    const { hostile, client } = await attack(t);
    const session = hostile.connect();
    const large = hostile.begin(session, getQueue, mine);
    const small = hostile.begin(session, getQueue, mine);
    const compressed = hostile.begin(session, getQueue, mine);
    large.stream.write(messagePrefix(64 * 1024 + 1));
    small.stream.end(messagePrefix(0));
    compressed.stream.write(messagePrefix(10, true));
    await until(() => [large, small, compressed].every((call) => call.isOver()), 'all calls are over');
    t.deepEqual([large.status(), small.status(), compressed.status()], [invalidArgument, '0', invalidArgument]);
    const allocation = {
      userId: '',
      widthProcessors: 1,
      walltimeMs: 1,
      command: ['x'.repeat(500_000)],
      environment: {},
      workingDirectory: '',
      clientRequestId: '',
      reservationClaim: '',
    };
    t.is((await callUnary(client, 'allocate', allocation, { deadlineMs: 60_000 })).requestId, '500000');
  },
);

test.serial(
  'connections without a credential are few: a further one closes the oldest, and a connection with a credential stays',
  async (t) => {
    const { hostile, client } = await attack(t, { limits: { unprovenConnections: 10, unprovenGrace: 0 } });
    await ask(client);
    for (let count = 0; count < 200; count += 1) hostile.connectSilently();
    await until(() => hostile.openCount === 10, 'ten connections are left');
    t.like(await ask(client), { processorsFree: 3 });
    const late = dial(ClusterServiceClient, hostile.address, { token: 'secret' });
    t.teardown(() => {
      late.close();
    });
    t.like(await ask(late), { processorsFree: 3 });
  },
);

test.serial(
  'a connection that shows no credential does not last, whatever it does meanwhile; with one it does',
  async (t) => {
    const { hostile } = await attack(t, { limits: { unprovenAge: 300 } });
    hostile.connectSilently();
    hostile.begin(hostile.connect(), healthWatch).stream.end(messagePrefix(0));
    const proven = hostile.connect();
    const watching = hostile.begin(proven, '/mutirao.cluster.v1.ClusterService/WatchQueue', mine);
    watching.stream.end(messagePrefix(0));
    await until(() => hostile.openCount === 1, 'the connections without a credential are closed');
    t.false(proven.closed);
    t.false(watching.isOver());
  },
);

test.serial(
  'without a credential few calls are open at once, and after many refusals the connection is closed',
  async (t) => {
    const { hostile } = await attack(t, { limits: { unprovenCalls: 2, unprovenRefusals: 20 } });
    const session = hostile.connect();
    const watches = [1, 2, 3].map(() => hostile.begin(session, healthWatch));
    for (const { stream } of watches) stream.end(messagePrefix(0));
    await until(() => watches[2]?.isOver() === true, 'the third health check is refused');
    t.is(watches[2]?.status(), resourceExhausted);
    t.deepEqual(
      watches.slice(0, 2).map((call) => call.isOver()),
      [false, false],
    );
    for (let count = 0; count < 19; count += 1) hostile.begin(session, allocate);
    await until(() => session.destroyed, 'the connection is closed');
    t.is(hostile.openCount, 0);
  },
);

test.serial('a request that does not arrive in time is given up', async (t) => {
  const { hostile } = await attack(t, { limits: { requestStart: 200 } });
  const call = hostile.begin(hostile.connect(), getQueue, mine);
  call.stream.write(messagePrefix(100).subarray(0, 3));
  await until(() => call.isOver(), 'the call is over');
  t.is(call.status(), resourceExhausted);
});

/** A server of transfers: it reads all that is pushed, and sends chunks to who pulls for as long as that reads. */
async function serveTransfers(
  t: ExecutionContext,
  transferWait: number,
): Promise<{ readonly hostile: HostileClient; readonly ended: string[] }> {
  const ended: string[] = [];
  const note =
    (name: string) =>
    (error: unknown): never => {
      ended.push(name);
      throw error;
    };
  const read = async (messages: AsyncIterable<Buffer>): Promise<Buffer> => {
    for await (const message of messages) if (message.length === 0) break;
    ended.push('pushed');
    return Buffer.alloc(0);
  };
  const send = async (writer: StreamWriter<Buffer>): Promise<void> => {
    for (let count = 0; count < 100; count += 1) {
      writer.write(Buffer.alloc(128 * 1024));
      await writer.drained();
    }
    ended.push('pulled');
  };
  const server = await serve({
    address: freeSocket(),
    tokens: acceptToken('secret', 'ana'),
    log: quietLogger,
    limits: { transferWait },
    services: [
      bind(
        GridMachineServiceService,
        {
          attach: () => undefined,
          pushContent: (messages) => read(messages).catch(note('push failed')),
          pullContent: (_bytes, writer) => send(writer).catch(note('pull failed')),
        },
        { raw: ['attach', 'pushContent', 'pullContent'] },
      ),
    ],
  });
  const hostile = new HostileClient(server.address);
  t.teardown(async () => {
    await hostile.close();
    await server.drain(1000);
    discardSocket(server.address);
  });
  return { hostile, ended };
}

test.serial('a sender of a byte now and then is given up, and a slow honest one is not', async (t) => {
  const { hostile, ended } = await serveTransfers(t, 1500);
  const session = hostile.connect();
  const dripping = hostile.begin(session, pushContent, mine);
  dripping.stream.write(messagePrefix(100_000));
  const slow = hostile.begin(session, pushContent, mine);
  let sent = 0;
  const timer = setInterval(() => {
    if (!dripping.isOver()) dripping.stream.write(Buffer.alloc(1));
    slow.stream.write(Buffer.concat([messagePrefix(512), Buffer.alloc(512)]));
    sent += 1;
  }, 50);
  t.teardown(() => {
    clearInterval(timer);
  });
  await until(() => dripping.isOver(), 'the one that drips is given up');
  t.is(dripping.status(), resourceExhausted);
  await until(() => ended.includes('push failed'), 'its handler receives the error');
  const before = sent;
  await until(() => sent > before + 60, 'the slow one goes on for longer than the other was waited for');
  t.false(slow.isOver());
  clearInterval(timer);
  slow.stream.end();
  await until(() => ended.includes('pushed'), 'all of it is here');
});

test.serial('a receiver that reads nothing is given up, and its chunks are dropped', async (t) => {
  const { hostile, ended } = await serveTransfers(t, 1500);
  const session = hostile.connect();
  const stuck = hostile.begin(session, pullContent, mine);
  stuck.stream.pause();
  stuck.stream.end(messagePrefix(0));
  const reading = hostile.begin(session, pullContent, mine);
  reading.stream.end(messagePrefix(0));
  await until(() => ended.includes('pulled'), 'who reads has all');
  await until(() => ended.includes('pull failed'), 'who does not is given up');
  t.deepEqual(ended, ['pulled', 'pull failed']);
});

test.serial('headers beyond their bound end the call, and the server goes on', async (t) => {
  const { hostile, client } = await attack(t);
  const session = hostile.connect();
  // A server's limit holds from when the client has received it.
  const first = hostile.begin(session, healthWatch);
  first.stream.end(messagePrefix(0));
  await once(first.stream, 'response');
  const call = hostile.begin(session, getQueue, { ...mine, 'x-long': 'x'.repeat(40_000) });
  await until(() => call.isOver(), 'the call is over');
  t.is(call.status(), undefined);
  t.like(await ask(client), { processorsFree: 3 });
});

test.serial('any number of refusals makes a few lines in the log and the audit log', async (t) => {
  const path = auditPath(temporaryFolder(t), 'cluster-x');
  const audit = openAudit(path, { log: quietLogger });
  t.teardown(() => {
    audit.close();
  });
  const { hostile, warnings } = await attack(t, { audit });
  for (let connection = 0; connection < 20; connection += 1) {
    const session = hostile.connect();
    const calls = Array.from({ length: 100 }, () => hostile.begin(session, allocate));
    await until(() => calls.every((call) => call.isOver()), 'the calls are refused');
  }
  t.true(warnings.length >= 1 && warnings.length <= 20, `${warnings.length} lines`);
  const lines = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  t.true(lines.length <= 30, `${lines.length} lines`);
  t.like(lines[0], {
    action: 'call.refuse',
    who: '',
    from: 'socket',
    target: allocate,
    refused_with: 'MUT_UNAUTHENTICATED',
  });
});

test.serial('at a port, connections that never finish TLS are bounded as others are', async (t) => {
  const identity = join(temporaryFolder(t), 'identity');
  const { hostile } = await attack(t, {
    address: '127.0.0.1:0',
    identity,
    limits: { unprovenConnections: 8, unprovenGrace: 0, unprovenAge: 1500 },
  });
  for (let count = 0; count < 100; count += 1) hostile.connectSilently();
  await until(() => hostile.openCount <= 8, 'eight connections are left');
  const call = hostile.begin(hostile.connect(), allocate);
  call.stream.write(messagePrefix(15 * 1024 ** 2));
  await until(() => call.isOver(), 'the call is over');
  t.is(call.status(), unauthenticated);
  const shaken = hostile.connect();
  await once(shaken, 'remoteSettings');
  await until(() => hostile.openCount === 0 && shaken.destroyed, 'no connection without a credential lasts');
  t.pass();
});

test.serial(
  'a user gets a limited number of connections, calls and calls per second, and the owner any number',
  async (t) => {
    const quotas = parseQuotas(['connections=2', 'streams=3', 'requests-per-second=2'], 'owner');
    if ('fault' in quotas) throw new Error(quotas.fault.code);
    const tokens = (credential: string): string | undefined => ({ secret: 'owner', marias: 'maria' })[credential];
    const { hostile, client } = await attack(t, { tokens, quotas });
    const marias = { authorization: 'Bearer marias' };
    const sessions = [1, 2, 3].map(() => hostile.connect());
    const calls = sessions.map((session) => hostile.begin(session, getQueue, marias));
    for (const { stream } of calls) stream.end(messagePrefix(0));
    await until(() => calls.every((call) => call.isOver()), 'the calls are over');
    t.deepEqual(calls.map((call) => call.status()).sort(), ['0', '0', resourceExhausted]);
    const watches = Array.from({ length: 4 }, () =>
      hostile.begin(sessions[0] ?? hostile.connect(), '/mutirao.cluster.v1.ClusterService/WatchQueue', marias),
    );
    for (const { stream } of watches) stream.end(messagePrefix(0));
    await until(() => watches.filter((call) => call.isOver()).length === 1, 'the fourth open call is refused');
    const many = Array.from({ length: 40 }, () => hostile.begin(sessions[0] ?? hostile.connect(), getQueue, marias));
    for (const { stream } of many) stream.end(messagePrefix(0));
    await until(() => many.every((call) => call.isOver()), 'the calls are over');
    t.true(many.every((call) => call.status() === resourceExhausted));
    await Promise.all(Array.from({ length: 100 }, () => ask(client)));
  },
);
