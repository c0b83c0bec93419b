// Whatever a user says in any field of a call to the cluster, the cluster answers or refuses it, and stays whole.
import test from 'ava';
import { encodeAllocateRequest } from '@mutirao/api/codecs';
import { ClusterServiceService } from '@mutirao/api/cluster';
import { errorOfRefusal, MutiraoError } from '@mutirao/api/errors';
import {
  clusterMachine,
  createClusterState,
  listQueue,
  listScores,
  type ClusterInput,
  type ClusterState,
} from '@mutirao/core/machines/cluster';
import { conservativeBackfilling } from '@mutirao/core/queue';
import { ChangeSignal } from '@mutirao/runtime/driver';
import { tryHostileCalls } from '@mutirao/testkit';
import { clusterChangeCodec } from '../../src/change-codec.ts';
import { clusterRoutes } from '../../src/routes.ts';

const options = {
  processors: 4,
  requestsMax: 50,
  walltimeMax: 10_000,
  widthMax: 4,
  walltimeGranularity: 1000,
  endedMax: 10,
  policy: conservativeBackfilling('start-now'),
};

/** Routes over the real machine, without driver, journal and processes. */
function service(state: ClusterState): ReturnType<typeof clusterRoutes> {
  let now = 5000;
  const receive = (input: ClusterInput): ReturnType<typeof clusterMachine.step> => {
    const decision = clusterMachine.step(state, [input], (now += 100));
    for (const change of decision.changes)
      clusterChangeCodec.decode(clusterChangeCodec.version, clusterChangeCodec.encode(change));
    return decision;
  };
  receive({ kind: 'ClusterStarted' });
  return clusterRoutes({
    requireDiskSpace: () => undefined,
    show: (window) => {
      receive({ kind: 'ReservationShown', window });
    },
    admitClaim: () => Promise.reject(new MutiraoError('MUT_CLAIM_FORGED', 'no')),
    limits: options,
    changes: new ChangeSignal(),
    ownerId: 'ana',
    getUser: (requestId) => state.requests.get(requestId)?.order.userId,
    listQueue: (endedMax, userId) => listQueue(state, now, endedMax, userId),
    listNodes: () => [],
    listScores: (userId) => ({ order: undefined, scores: listScores(state, userId) }),
    ask: <T>(make: (replyTo: number) => ClusterInput): Promise<T> => {
      const reply = receive(make(1)).commands.find((command) => command.kind === 'Reply')?.reply;
      return reply?.ok === true
        ? Promise.resolve(reply.value as T)
        : Promise.reject(reply === undefined ? new Error('no reply') : errorOfRefusal(reply));
    },
  });
}

test('no field of any call of a user ends the cluster or breaks what it knows', async (t) => {
  const state = createClusterState(options);
  const order = encodeAllocateRequest({
    userId: 'ana',
    width: 3,
    walltime: 1500,
    command: ['work'],
    environment: { A: 'b' },
    workingDirectory: '/tmp',
    clientRequestId: 'k',
  });
  const counts = await tryHostileCalls({
    methods: ClusterServiceService,
    handlers: service(state),
    context: { userId: 'ana' },
    requests: {
      allocate: order,
      release: { requestId: '1' },
      getLimits: {},
      getQueue: { endedMax: 5, userId: 'ana' },
      getScores: { userId: 'ana' },
      watchQueue: {},
    },
    checkWhole: () => {
      clusterMachine.checkInvariants(state);
    },
    fail: (what) => {
      t.fail(what);
    },
  });
  t.log(counts);
  t.true(counts.taken > 50 && counts.refused > 50, JSON.stringify(counts));
});
