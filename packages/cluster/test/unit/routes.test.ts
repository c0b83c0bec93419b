import test from 'ava';
import { RequestStatus, type WatchQueueResponse } from '@mutirao/api/cluster';
import { encodeAllocateRequest } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { clusterMachine, createClusterState, listQueue, type ClusterInput } from '@mutirao/core/machines/cluster';
import { conservativeBackfilling } from '@mutirao/core/queue';
import type { StreamWriter } from '@mutirao/runtime/rpc';
import { aCallContext, inject } from '@mutirao/testkit';
import { ChangeSignal } from '@mutirao/runtime/driver';
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
    demandRoom: () => undefined, show: (window) => { hear({ kind: 'ReservationShown', window }); },
    admitClaim: (claim, userId) => (claim === 'good' ? Promise.resolve({ reservationId: 7, userId, count: 2, startsAt: 6000, endsAt: 9000 }) : Promise.reject(new MutiraoError('MUT_CLAIM_FORGED', 'no'))),
    limits: options, changes, ownerId: 'ana', userOf: (requestId) => state.requests.get(requestId)?.order.userId,
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

const order = encodeAllocateRequest({
  userId: 'ana', width: 3, walltime: 1500, command: ['work'], environment: {}, workingDirectory: '', clientRequestId: 'k',
});

test('an order is answered with the id of its request, and again with the same', async (t) => {
  const { routes } = cluster();
  t.deepEqual(await inject(routes.allocate, order), { requestId: '1' });
  t.deepEqual(await inject(routes.allocate, order), { requestId: '1' });
});

test('an order that names no user is its caller\'s', async (t) => {
  const { routes } = cluster();
  await inject(routes.allocate, { ...order, userId: '' }, { userId: 'maria' });
  const { requests } = await inject(routes.getQueue, { endedMax: 0 });
  t.is(requests[0]?.userId, 'maria');
});

test('a user asks and releases for herself, the owner of the cluster for anybody', async (t) => {
  const { routes } = cluster();
  await inject(routes.allocate, { ...order, userId: 'bob' });
  const maria = { userId: 'maria' };
  await t.throwsAsync(inject(routes.allocate, { ...order, userId: 'bob', clientRequestId: 'm' }, maria), { code: 'MUT_NOT_OWNER', message: /bob's; you are maria/ });
  await t.throwsAsync(inject(routes.release, { requestId: '1' }, maria), { code: 'MUT_NOT_OWNER' });
  const { requestId } = await inject(routes.allocate, { ...order, userId: 'maria', clientRequestId: 'm' }, maria);
  await t.notThrowsAsync(inject(routes.release, { requestId }, maria));
  await t.notThrowsAsync(inject(routes.release, { requestId: '1' }));
});

test('the queue shows walltimes rounded up, starts and what is free', async (t) => {
  const { routes } = cluster();
  await inject(routes.allocate, order);
  await inject(routes.allocate, { ...order, clientRequestId: 'k2' });
  const queue = await inject(routes.getQueue, { endedMax: 0 });
  t.is(queue.processorsFree, 1);
  t.deepEqual(queue.requests.map(({ status, walltimeMs, startsUnixMs }) => [status, walltimeMs, startsUnixMs]), [
    [RequestStatus.RUNNING, 2000, 5000], [RequestStatus.QUEUED, 2000, 7000],
  ]);
});

test('a claim lets its user into its reservation, which the queue shows; one that is not good does not reach the machine', async (t) => {
  const { routes } = cluster();
  const inside = { ...order, widthProcessors: 2, reservationClaim: 'good' };
  await t.throwsAsync(inject(routes.allocate, { ...inside, reservationClaim: 'bad' }), { code: 'MUT_CLAIM_FORGED' });
  t.deepEqual(await inject(routes.allocate, inside), { requestId: '1' });
  await t.throwsAsync(inject(routes.allocate, { ...inside, widthProcessors: 3, clientRequestId: 'wide' }), { message: 'MUT_RESERVATION_EXCEEDED' });
  const { requests, reservations } = await inject(routes.getQueue, { endedMax: 0 });
  t.deepEqual(requests.map(({ status, reservationId }) => [status, reservationId]), [[RequestStatus.QUEUED, 7]]);
  t.deepEqual(reservations, [{ reservationId: 7, userId: 'ana', processors: 2, processorsUsed: 0, startUnixMs: 6000, endUnixMs: 9000, lateMs: 0 }]);
});

test('a refusal by the machine reaches the caller, bad input does not reach the machine', async (t) => {
  const { routes } = cluster();
  await t.throwsAsync(inject(routes.allocate, { ...order, widthProcessors: 5 }), { message: 'MUT_WIDTH_MAX' });
  await t.throwsAsync(inject(routes.allocate, { ...order, command: [] }), { instanceOf: MutiraoError, message: 'command is empty' });
  await t.throwsAsync(inject(routes.release, { requestId: 'r1' }), { instanceOf: MutiraoError });
});

test('a released request is gone from the queue and listed as ended', async (t) => {
  const { routes } = cluster();
  await inject(routes.allocate, order);
  await inject(routes.allocate, { ...order, clientRequestId: 'k2' });
  t.deepEqual(await inject(routes.release, { requestId: '2' }), {});
  const { requests } = await inject(routes.getQueue, { endedMax: 5 });
  t.deepEqual(requests.map(({ requestId, status, endReason }) => [requestId, status, endReason]), [
    ['1', RequestStatus.RUNNING, ''], ['2', RequestStatus.ENDED, 'MUT_RELEASED'],
  ]);
});

test('limits are told', async (t) => {
  t.deepEqual(await inject(cluster().routes.getLimits, { userId: 'ana' }), {
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
  const watching = routes.watchQueue({}, writer, aCallContext({ signal: over.signal }));
  await inject(routes.allocate, order);
  await watching;
  t.deepEqual(levels, [0, 1]);
});
