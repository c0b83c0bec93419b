import test from 'ava';
import { RequestStatus, type WatchQueueResponse } from '@mutirao/api/cluster';
import { encodeAllocateRequest } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import {
  clusterMachine,
  createClusterState,
  listQueue,
  listScores,
  type ClusterInput,
  type ClusterOptions,
} from '@mutirao/core/machines/cluster';
import { conservativeBackfilling, easyBackfilling } from '@mutirao/core/queue';
import type { StreamWriter } from '@mutirao/runtime/rpc';
import { aCallContext, inject } from '@mutirao/testkit';
import { ChangeSignal } from '@mutirao/runtime/driver';
import { clusterRoutes } from '../../src/routes.ts';

const options: ClusterOptions = {
  processors: 4,
  requestsMax: 2,
  walltimeMax: 10_000,
  widthMax: 4,
  walltimeGranularity: 1000,
  endedMax: 10,
  policy: conservativeBackfilling('start-now'),
};

/** Routes over the real machine at the instant 5000, without driver, journal and processes. */
function cluster(other: Partial<ClusterOptions> = {}) {
  const state = createClusterState({ ...options, ...other });
  const changes = new ChangeSignal();
  const receive = (input: ClusterInput) => clusterMachine.step(state, [input], 5000).commands;
  receive({ kind: 'ClusterStarted' });
  const routes = clusterRoutes({
    requireDiskSpace: () => undefined,
    show: (window) => {
      receive({ kind: 'ReservationShown', window });
    },
    admitClaim: (claim, userId) =>
      claim === 'good'
        ? Promise.resolve({ reservationId: 7, userId, count: 2, startsAt: 6000, endsAt: 9000 })
        : Promise.reject(new MutiraoError('MUT_CLAIM_FORGED', 'no')),
    limits: options,
    changes,
    ownerId: 'ana',
    getUser: (requestId) => state.requests.get(requestId)?.order.userId,
    listQueue: (endedMax, userId) => listQueue(state, 5000, endedMax, userId),
    listNodes: () => [],
    listScores: (userId) => ({ order: other.order, scores: listScores(state, userId) }),
    ask: <T>(make: (replyTo: number) => ClusterInput): Promise<T> => {
      const reply = receive(make(1)).find((command) => command.kind === 'Reply')?.reply;
      changes.notify();
      if (reply?.ok === true) return Promise.resolve(reply.value as T);
      return Promise.reject(new Error(reply?.code));
    },
  });
  return { routes, changes, receive };
}

const order = encodeAllocateRequest({
  userId: 'ana',
  width: 3,
  walltime: 1500,
  command: ['work'],
  environment: {},
  workingDirectory: '',
  clientRequestId: 'k',
});

test('an order is answered with the id of its request, and again with the same', async (t) => {
  const { routes } = cluster();
  t.deepEqual(await inject(routes.allocate, order), { requestId: '1', walltimeGain: undefined });
  t.deepEqual(await inject(routes.allocate, order), { requestId: '1', walltimeGain: undefined });
});

test("an order that names no user is its caller's", async (t) => {
  const { routes } = cluster();
  await inject(routes.allocate, { ...order, userId: '' }, { userId: 'maria' });
  const { requests } = await inject(routes.getQueue, { endedMax: 0, userId: '' });
  t.is(requests[0]?.userId, 'maria');
});

test('a user asks and releases for herself, the owner of the cluster for anybody', async (t) => {
  const { routes } = cluster();
  await inject(routes.allocate, { ...order, userId: 'bob' });
  const maria = { userId: 'maria' };
  await t.throwsAsync(inject(routes.allocate, { ...order, userId: 'bob', clientRequestId: 'm' }, maria), {
    code: 'MUT_NOT_OWNER',
    message: /bob's; you are maria/,
  });
  await t.throwsAsync(inject(routes.release, { requestId: '1' }, maria), { code: 'MUT_NOT_OWNER' });
  const { requestId } = await inject(routes.allocate, { ...order, userId: 'maria', clientRequestId: 'm' }, maria);
  await t.notThrowsAsync(inject(routes.release, { requestId }, maria));
  await t.notThrowsAsync(inject(routes.release, { requestId: '1' }));
});

test('the queue shows walltimes rounded up, starts and what is free', async (t) => {
  const { routes } = cluster();
  await inject(routes.allocate, order);
  await inject(routes.allocate, { ...order, clientRequestId: 'k2' });
  const queue = await inject(routes.getQueue, { endedMax: 0, userId: '' });
  t.is(queue.processorsFree, 1);
  t.deepEqual(
    queue.requests.map(({ status, walltimeMs, startsUnixMs }) => [status, walltimeMs, startsUnixMs]),
    [
      [RequestStatus.RUNNING, 2000, 5000],
      [RequestStatus.QUEUED, 2000, 7000],
    ],
  );
});

test('a claim lets its user into its reservation, which the queue shows; one that is not good does not reach the machine', async (t) => {
  const { routes } = cluster();
  const inside = { ...order, widthProcessors: 2, reservationClaim: 'good' };
  await t.throwsAsync(inject(routes.allocate, { ...inside, reservationClaim: 'bad' }), { code: 'MUT_CLAIM_FORGED' });
  t.deepEqual(await inject(routes.allocate, inside), { requestId: '1', walltimeGain: undefined });
  await t.throwsAsync(inject(routes.allocate, { ...inside, widthProcessors: 3, clientRequestId: 'wide' }), {
    message: 'MUT_RESERVATION_EXCEEDED',
  });
  const { requests, reservations } = await inject(routes.getQueue, { endedMax: 0, userId: '' });
  t.deepEqual(
    requests.map(({ status, reservationId }) => [status, reservationId]),
    [[RequestStatus.QUEUED, 7]],
  );
  t.deepEqual(reservations, [
    {
      reservationId: 7,
      userId: 'ana',
      processors: 2,
      processorsUsed: 0,
      startUnixMs: 6000,
      endUnixMs: 9000,
      lateMs: 0,
    },
  ]);
});

test('a refusal by the machine reaches the caller, bad input does not reach the machine', async (t) => {
  const { routes } = cluster();
  await t.throwsAsync(inject(routes.allocate, { ...order, widthProcessors: 5 }), { message: 'MUT_WIDTH_MAX' });
  await t.throwsAsync(inject(routes.allocate, { ...order, command: [] }), {
    instanceOf: MutiraoError,
    message: 'command is empty',
  });
  await t.throwsAsync(inject(routes.release, { requestId: 'r1' }), { instanceOf: MutiraoError });
});

test('a released request is gone from the queue and listed as ended', async (t) => {
  const { routes } = cluster();
  await inject(routes.allocate, order);
  await inject(routes.allocate, { ...order, clientRequestId: 'k2' });
  t.deepEqual(await inject(routes.release, { requestId: '2' }), {});
  const { requests } = await inject(routes.getQueue, { endedMax: 5, userId: '' });
  t.deepEqual(
    requests.map(({ requestId, status, endReason }) => [requestId, status, endReason]),
    [
      ['1', RequestStatus.RUNNING, ''],
      ['2', RequestStatus.ENDED, 'MUT_RELEASED'],
    ],
  );
});

test('limits are reported', async (t) => {
  t.deepEqual(await inject(cluster().routes.getLimits, { userId: 'ana' }), {
    nodes: [],
    processors: 4,
    requestsMax: 2,
    walltimeMsMax: 10_000,
    widthProcessorsMax: 4,
    walltimeGranularityMs: 1000,
  });
});

const byScores = { policy: easyBackfilling, order: { weight: 1440, leadMax: 1e10 }, requestsMax: 9 };

test('scores are listed for all users who have one or for any one user, and for nobody before a request has counted', async (t) => {
  const { routes, receive } = cluster(byScores);
  t.deepEqual(await inject(routes.getScores, { userId: '' }), {
    ordersQueue: true,
    weight: 1440,
    leadMsMax: 1e10,
    scores: [],
  });
  await inject(routes.allocate, order);
  for (const processIndex of [0, 1, 2]) receive({ kind: 'ProcessExited', requestId: 1, processIndex, exitStatus: 0 });
  t.deepEqual((await inject(routes.getScores, { userId: '' })).scores, [
    { userId: 'ana', score: 56, countedCount: 1, precisionMean: 0 },
  ]);
  t.deepEqual((await inject(routes.getScores, { userId: 'bia' })).scores, [
    { userId: 'bia', score: 60, countedCount: 0, precisionMean: 0 },
  ]);
  await t.throwsAsync(inject(routes.getScores, { userId: 'x'.repeat(257) }), { code: 'MUT_BAD_REQUEST' });
});

test('a queue by scores is listed with its ranking for the named user, or the caller, and each waiting request with the time it counts as submitted', async (t) => {
  const { routes, receive } = cluster({ ...byScores, order: { weight: 1440, leadMax: 3000 } });
  t.is((await inject(cluster().routes.getQueue, { endedMax: 0, userId: '' })).ranking, undefined);
  await inject(routes.allocate, order);
  for (const processIndex of [0, 1, 2]) receive({ kind: 'ProcessExited', requestId: 1, processIndex, exitStatus: 0 });
  const rankingFor = async (userId: string, asker: string) =>
    (await inject(routes.getQueue, { endedMax: 0, userId }, { userId: asker })).ranking;
  t.deepEqual(await rankingFor('ana', 'maria'), { weight: 1440, leadMsMax: 3000, score: 56 });
  t.is((await rankingFor('', 'ana'))?.score, 56);
  t.is((await rankingFor('', 'maria'))?.score, 60);
  for (const key of ['a', 'b']) await inject(routes.allocate, { ...order, widthProcessors: 4, clientRequestId: key });
  const { requests } = await inject(routes.getQueue, { endedMax: 0, userId: '' });
  t.deepEqual(
    requests.map(({ requestId, rankedUnixMs }) => [requestId, rankedUnixMs]),
    [
      ['2', 0],
      ['3', 2000],
    ],
  );
});

test('a waiting order gets the gain of a tighter walltime; an order that starts, or comes again, does not', async (t) => {
  const { routes } = cluster(byScores);
  const long = { ...order, walltimeMs: 10_000 };
  t.is((await inject(routes.allocate, { ...long, clientRequestId: 'a' })).walltimeGain, undefined);
  t.is((await inject(routes.allocate, { ...long, walltimeMs: 7000, clientRequestId: 'b' })).walltimeGain, undefined);
  const wanted = {
    walltimeMs: 5000,
    aheadCount: 1,
    tighterAheadCount: 0,
    expectedWaitMs: Math.ceil((3 * 10_000 + 3 * 7000) / 4),
    tighterExpectedWaitMs: 7500,
  };
  t.deepEqual((await inject(routes.allocate, { ...long, clientRequestId: 'c' })).walltimeGain, wanted);
  t.is((await inject(routes.allocate, { ...long, clientRequestId: 'c' })).walltimeGain, undefined);
});

test('a walltime of nothing is refused', async (t) => {
  await t.throwsAsync(inject(cluster(byScores).routes.allocate, { ...order, walltimeMs: 0 }), {
    code: 'MUT_BAD_REQUEST',
    message: /walltime_ms is 0; expected 1 or more/,
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
    end: () => undefined,
    onDrain: undefined,
    drained: () => Promise.resolve(),
  };
  const watching = routes.watchQueue({}, writer, aCallContext({ signal: over.signal }));
  await inject(routes.allocate, order);
  await watching;
  t.deepEqual(levels, [0, 1]);
});
