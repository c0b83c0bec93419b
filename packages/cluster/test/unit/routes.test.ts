import test from 'ava';
import { RequestStatus, type WatchQueueResponse } from '@mutirao/api/cluster';
import { encodeAllocateRequest } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { clusterMachine, createClusterState, listQueue, type ClusterInput } from '@mutirao/core/machines/cluster';
import { conservativeBackfilling } from '@mutirao/core/queue';
import type { CallContext, StreamWriter } from '@mutirao/runtime/rpc';
import { ChangeSignal } from '../../src/change-signal.ts';
import { clusterRoutes } from '../../src/routes.ts';

const options = {
  processors: 4, requestsMax: 2, walltimeMax: 10_000, widthMax: 4, walltimeGranularity: 1000, endedMax: 10,
  policy: conservativeBackfilling('start-now'),
};

/** Routes over the real machine at the instant 5000, without driver, journal and processes. */
function cluster() {
  const state = createClusterState(options);
  const changes = new ChangeSignal();
  const hear = (input: ClusterInput) => clusterMachine.step(state, [input], 5000).commands;
  hear({ kind: 'ClusterStarted' });
  const routes = clusterRoutes({
    limits: options, changes,
    listQueue: (endedMax) => listQueue(state, 5000, endedMax),
    ask: <T>(make: (replyTo: number) => ClusterInput): Promise<T> => {
      const reply = hear(make(1)).find((command) => command.kind === 'Reply')?.reply;
      changes.notify();
      if (reply?.ok === true) return Promise.resolve(reply.value as T);
      return Promise.reject(new Error(reply?.code));
    },
  });
  return { routes, changes };
}

function context(over = new AbortController()): CallContext {
  return { userId: 'owner', credential: 'x', deadline: undefined, signal: over.signal, stopping: new AbortController().signal };
}

const order = encodeAllocateRequest({
  userId: 'ana', width: 3, walltime: 1500, command: ['work'], environment: {}, workingDirectory: '', clientRequestId: 'k',
});

test('an order is answered with the id of its request, and again with the same', async (t) => {
  const { routes } = cluster();
  t.deepEqual(await routes.allocate(order, context()), { requestId: '1' });
  t.deepEqual(await routes.allocate(order, context()), { requestId: '1' });
});

test('an order that names no user is its caller\'s', async (t) => {
  const { routes } = cluster();
  await routes.allocate({ ...order, userId: '' }, context());
  const { requests } = await routes.getQueue({ endedMax: 0 }, context());
  t.is(requests[0]?.userId, 'owner');
});

test('the queue shows walltimes rounded up, starts and what is free', async (t) => {
  const { routes } = cluster();
  await routes.allocate(order, context());
  await routes.allocate({ ...order, clientRequestId: 'k2' }, context());
  const queue = await routes.getQueue({ endedMax: 0 }, context());
  t.is(queue.processorsFree, 1);
  t.deepEqual(queue.requests.map(({ status, walltimeMs, startsUnixMs }) => [status, walltimeMs, startsUnixMs]), [
    [RequestStatus.RUNNING, 2000, 5000], [RequestStatus.QUEUED, 2000, 7000],
  ]);
});

test('a refusal by the machine reaches the caller, bad input does not reach the machine', async (t) => {
  const { routes } = cluster();
  await t.throwsAsync(async () => routes.allocate({ ...order, widthProcessors: 5 }, context()), { message: 'MUT_WIDTH_MAX' });
  await t.throwsAsync(async () => routes.allocate({ ...order, command: [] }, context()), { instanceOf: MutiraoError, message: 'command is empty' });
  await t.throwsAsync(async () => routes.release({ requestId: 'r1' }, context()), { instanceOf: MutiraoError });
});

test('a released request is gone from the queue and listed as ended', async (t) => {
  const { routes } = cluster();
  await routes.allocate(order, context());
  await routes.allocate({ ...order, clientRequestId: 'k2' }, context());
  t.deepEqual(await routes.release({ requestId: '2' }, context()), {});
  const { requests } = await routes.getQueue({ endedMax: 5 }, context());
  t.deepEqual(requests.map(({ requestId, status, endReason }) => [requestId, status, endReason]), [
    ['1', RequestStatus.RUNNING, ''], ['2', RequestStatus.ENDED, 'MUT_RELEASED'],
  ]);
});

test('limits are told', async (t) => {
  t.deepEqual(await cluster().routes.getLimits({ userId: 'ana' }, context()), {
    processors: 4, requestsMax: 2, walltimeMsMax: 10_000, widthProcessorsMax: 4, walltimeGranularityMs: 1000,
  });
});

test('a watcher gets the queue at once, once after changes, and is let go when it leaves', async (t) => {
  const { routes } = cluster();
  const over = new AbortController();
  const levels: number[] = [];
  const writer: StreamWriter<WatchQueueResponse> = {
    write: ({ queue }) => {
      levels.push(queue?.requests.length ?? -1);
      if (levels.length === 2) over.abort();
      return true;
    },
    end: () => undefined, onDrain: undefined, drained: () => Promise.resolve(),
  };
  const watching = routes.watchQueue({}, writer, context(over));
  await routes.allocate(order, context());
  await watching;
  t.deepEqual(levels, [0, 1]);
});
