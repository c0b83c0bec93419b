import { join } from 'node:path';
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { MutiraoError } from '@mutirao/api/errors';
import { ClusterServiceClient, ClusterServiceService, QueuedRequest, type UserScore } from '@mutirao/api/cluster';
import { quietLogger } from '@mutirao/runtime/log';
import {
  acceptToken,
  bind,
  callUnary,
  dial,
  listMessages,
  serve,
  type CallContext,
  type Handlers,
  type RunningServer,
  type ServiceBinding,
} from '@mutirao/runtime/rpc';
import { discardSocket, forbidLeaks, freeSocket, temporaryFolder } from '@mutirao/testkit';
import test from 'ava';

forbidLeaks(test);

const listing = { atUnixMs: 7, processorsFree: 3, requests: [], reservations: [], ranking: undefined, nodes: [] };

/** A cluster that answers everything; `parts` replaces what a test is about. */
function clusterBinding(parts: Partial<Handlers<typeof ClusterServiceService>> = {}): ServiceBinding {
  return bind(ClusterServiceService, {
    allocate: (request) => ({ requestId: `${request.userId}-1`, walltimeGain: undefined }),
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
    watchQueue: async () => undefined,
    ...parts,
  });
}

async function served(
  binding: ServiceBinding,
  use: (client: ClusterServiceClient, server: RunningServer) => Promise<void>,
): Promise<void> {
  const server = await serve({
    address: freeSocket(),
    tokens: acceptToken('secret', 'ana'),
    log: quietLogger,
    services: [binding],
  });
  const client = dial(ClusterServiceClient, server.address, { token: 'secret' });
  try {
    await use(client, server);
  } finally {
    client.close();
    await server.drain(1000);
    discardSocket(server.address);
  }
}

test.serial('a call reaches its handler with the user of the token, and its answer comes back', async (t) => {
  let context: CallContext | undefined;
  await served(
    clusterBinding({
      getQueue: (_request, given) => {
        context = given;
        return listing;
      },
    }),
    async (client) => {
      t.deepEqual(await callUnary(client, 'getQueue', { endedMax: 0, userId: '' }, { deadlineMs: 60_000 }), listing);
    },
  );
  t.like(context, { userId: 'ana', credential: 'secret' });
  t.is(typeof context?.deadline, 'number');
});

test.serial('an error keeps its code, message and field on the way', async (t) => {
  const refusal = new MutiraoError('MUT_BAD_REQUEST', 'width is 0; expected 1 or more', { field: 'width_processors' });
  await served(
    clusterBinding({
      release: () => {
        throw refusal;
      },
    }),
    async (client) => {
      const error = await t.throwsAsync(callUnary(client, 'release', { requestId: '1' }, { deadlineMs: 60_000 }), {
        instanceOf: MutiraoError,
      });
      t.like(error, { code: 'MUT_BAD_REQUEST', message: 'width is 0; expected 1 or more', field: 'width_processors' });
    },
  );
});

test.serial(
  'an answer that is larger than the server sends is refused for good, with what is large in it',
  async (t) => {
    const userId = 'x'.repeat(9 * 1024 * 1024);
    const getScore = (user: string): UserScore => ({ userId: user, score: 1, countedCount: 1, precisionMean: 1 });
    await served(
      clusterBinding({
        getQueue: () => ({
          ...listing,
          requests: [QueuedRequest.decode(Buffer.alloc(0))].flatMap((one) => [
            { ...one, userId },
            { ...one, userId },
          ]),
        }),
        getScores: () => ({
          ordersQueue: false,
          weight: 0,
          leadMsMax: 0,
          scores: [getScore(userId + userId), getScore('zoe')],
        }),
      }),
      async (client) => {
        await t.throwsAsync(callUnary(client, 'getQueue', { endedMax: 0, userId: '' }, { deadlineMs: 60_000 }), {
          code: 'MUT_ANSWER_TOO_LARGE',
          message: 'the answer of GetQueue takes 18.0 MiB, 18.0 MiB of it requests; this server sends 16.0 MiB at most',
        });
        await t.throwsAsync(callUnary(client, 'getScores', { userId: '' }, { deadlineMs: 60_000 }), {
          code: 'MUT_ANSWER_TOO_LARGE',
          message: /18\.0 MiB of it scores\.user_id/,
        });
      },
    );
  },
);

test.serial('a port that is taken is said to be taken', async (t) => {
  const settings = {
    tokens: acceptToken('secret', 'ana'),
    identity: join(temporaryFolder(t), 'identity'),
    log: quietLogger,
    services: [],
  };
  const server = await serve({ ...settings, address: '127.0.0.1:0' });
  await t.throwsAsync(serve({ ...settings, address: server.address }), {
    code: 'MUT_ADDRESS_TAKEN',
    message: `cannot listen on ${server.address}: another process listens there`,
  });
  await server.drain(0);
});

test.serial('a wrong token is refused', async (t) => {
  await served(clusterBinding(), async (_client, server) => {
    const foreign = dial(ClusterServiceClient, server.address, { token: 'Secret' });
    await t.throwsAsync(callUnary(foreign, 'getQueue', { endedMax: 0, userId: '' }, { deadlineMs: 60_000 }), {
      code: 'MUT_UNAUTHENTICATED',
    });
    foreign.close();
  });
});

test.serial('a server that is not there is unreachable', async (t) => {
  const client = dial(ClusterServiceClient, freeSocket(), { token: 'secret' });
  await t.throwsAsync(callUnary(client, 'getQueue', { endedMax: 0, userId: '' }, { deadlineMs: 60_000 }), {
    code: 'MUT_UNREACHABLE',
  });
  client.close();
});

test.serial(
  'an answer that comes too late is a deadline exceeded, and its handler is notified that nobody waits',
  async (t) => {
    const aborted = Promise.withResolvers<void>();
    const slow = (_request: unknown, { signal }: CallContext): Promise<typeof listing> =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          aborted.resolve();
        });
      });
    await served(clusterBinding({ getQueue: slow }), async (client) => {
      await t.throwsAsync(callUnary(client, 'getQueue', { endedMax: 0, userId: '' }, { deadlineMs: 100 }), {
        code: 'MUT_DEADLINE_EXCEEDED',
      });
      await aborted.promise;
    });
  },
);

test.serial('a stream of answers ends with its handler', async (t) => {
  const watch: Handlers<typeof ClusterServiceService>['watchQueue'] = async (_request, writer) => {
    for (let at = 1; at <= 3; at++) writer.write({ queue: { ...listing, atUnixMs: at } });
    await writer.drained();
  };
  await served(clusterBinding({ watchQueue: watch }), async (client) => {
    const times: (number | undefined)[] = [];
    for await (const { queue } of listMessages(client.watchQueue({}))) times.push(queue?.atUnixMs);
    t.deepEqual(times, [1, 2, 3]);
  });
});

test.serial('malformed bytes end their own call only, with a protocol error', async (t) => {
  await served(clusterBinding(), async (client) => {
    const { path } = ClusterServiceService.allocate;
    const error = await new Promise<ServiceError | null>((resolve) => {
      client.makeUnaryRequest(
        path,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        Buffer.from([0x0a, 0xff, 0xff]),
        new Metadata(),
        {},
        resolve,
      );
    });
    t.regex(error?.details ?? '', /malformed message/);
    t.deepEqual(await callUnary(client, 'getQueue', { endedMax: 0, userId: '' }, { deadlineMs: 60_000 }), listing);
  });
});

test.serial('a server without an identity listens at no port, not even on loopback', async (t) => {
  for (const address of ['0.0.0.0:0', '127.0.0.1:0']) {
    await t.throwsAsync(serve({ address, tokens: () => 'ana', log: quietLogger, services: [] }), {
      code: 'MUT_LOOPBACK_ONLY',
    });
  }
});

test('a token is sent to no port without a certificate of the server', (t) => {
  for (const address of ['192.0.2.1:7000', '127.0.0.1:7000'])
    t.throws(() => dial(ClusterServiceClient, address, { token: 'secret' }), { code: 'MUT_LOOPBACK_ONLY' });
});

test.serial('health is open to all, reflection only to those with a token', async (t) => {
  await served(clusterBinding(), async (_client, server) => {
    const plain = new ClusterServiceClient(server.address, credentials.createInsecure());
    const keep = (bytes: Buffer): Buffer => bytes;
    const health = await new Promise<Buffer | undefined>((resolve, reject) => {
      plain.makeUnaryRequest(
        '/grpc.health.v1.Health/Check',
        keep,
        keep,
        Buffer.alloc(0),
        new Metadata(),
        {},
        (error, response) => {
          if (error === null) resolve(response);
          else reject(error);
        },
      );
    });
    t.deepEqual([...(health ?? [])], [8, 1]);
    t.regex(await reflectedServices(plain, new Metadata()), /UNAUTHENTICATED/);
    const metadata = new Metadata();
    metadata.set('authorization', 'Bearer secret');
    const services = await reflectedServices(plain, metadata);
    t.deepEqual(services.match(/[a-z]+\.[a-z.]+\.v1(?:alpha)?\.[A-Za-z]+/g)?.sort(), [
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
      'mutirao.cluster.v1.ClusterService',
    ]);
    plain.close();
  });
});

/** What reflection answers to "list services", as raw text, or the error. */
function reflectedServices(client: ClusterServiceClient, metadata: Metadata): Promise<string> {
  const keep = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve) => {
    const call = client.makeBidiStreamRequest(
      '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
      keep,
      keep,
      metadata,
      {},
    );
    call.on('data', (bytes: Buffer) => {
      resolve(bytes.toString('latin1'));
      call.end();
    });
    call.on('error', (error) => {
      resolve(error.message);
    });
    call.write(Buffer.from([0x3a, 0x00]));
  });
}
