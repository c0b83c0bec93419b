// Every method of every service, called by everybody, on their own objects and on those of others: each gets what the
// table of access says, no more and no less.
import { userInfo } from 'node:os';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import { findAccess, accessTable, type Access } from '@mutirao/api/access';
import { BrokerServiceService, type ListJobsResponse } from '@mutirao/api/broker';
import { ClusterServiceService } from '@mutirao/api/cluster';
import { protoFiles, protoFolder } from '@mutirao/api/descriptors';
import { AttachRequest, GridMachineServiceService, PullContentRequest, PushContentRequest } from '@mutirao/api/machine';
import { GridMachineProviderServiceService } from '@mutirao/api/provider';
import {
  ReservationServiceService,
  type ListReservationsResponse,
  type WatchReservationsResponse,
} from '@mutirao/api/reservation';
import {
  AccessWorld,
  brokerRequests,
  callMethod,
  clusterRequests,
  providerRequests,
  reservationRequests,
  resourceOf,
  WorldObjects,
  type AnyMethod,
  type CallOutcome,
  type WorldServer,
  type WorldUser,
} from '@mutirao/testkit/access';

let world: AccessWorld;
let objects: WorldObjects;

test.serial.before(async () => {
  world = await AccessWorld.start(true);
  objects = new WorldObjects(world);
});
test.serial.after.always(async () => {
  await world.stop();
});

/** A service for users as the tests call it. */
interface UserService {
  readonly server: WorldServer;
  readonly methods: Readonly<Record<string, AnyMethod>>;
  readonly requests: Readonly<Record<string, (objects: WorldObjects, named: WorldUser) => unknown>>;
}

const userServices: readonly UserService[] = [
  { server: 'broker', methods: BrokerServiceService, requests: brokerRequests },
  {
    server: 'cluster',
    methods: ClusterServiceService,
    requests: clusterRequests((user) => (user === 'owner' ? userInfo().username : user)),
  },
  { server: 'lab', methods: GridMachineProviderServiceService, requests: providerRequests },
  { server: 'reservations', methods: ReservationServiceService, requests: reservationRequests() },
];
const servicesAtOthers: UserService = {
  server: 'reservations',
  methods: ReservationServiceService,
  requests: reservationRequests(resourceOf.carl),
};

/** One call, and what the table says of it. */
interface Cell {
  readonly caller: WorldUser;
  /** Whose object the call names. */
  readonly named: WorldUser;
  readonly isAllowed: boolean;
}

const [anasOwn, ownersOwn] = [
  { caller: 'ana', named: 'ana' },
  { caller: 'owner', named: 'owner' },
] as const;
const [ofBen, ownerOfAna] = [
  { caller: 'ana', named: 'ben' },
  { caller: 'owner', named: 'ana' },
] as const;

/** The calls that separate the reaches. */
function listCells({ callers, objects: reach, others }: Access): Cell[] {
  if (callers === 'owner')
    return [
      { ...anasOwn, isAllowed: false },
      { ...ownersOwn, isAllowed: true },
    ];
  switch (reach) {
    case 'none':
      return [
        { ...anasOwn, isAllowed: true },
        { ...ownersOwn, isAllowed: true },
      ];
    case 'shared':
      return [
        { ...anasOwn, isAllowed: true },
        { ...ofBen, isAllowed: true },
        { ...ownersOwn, isAllowed: true },
      ];
    case 'manager':
      return [
        { ...anasOwn, isAllowed: false },
        { ...ownersOwn, isAllowed: true },
        { caller: 'carl', named: 'owner', isAllowed: false },
        { caller: 'carl', named: 'carl', isAllowed: true },
        { caller: 'owner', named: 'carl', isAllowed: true },
      ];
    default: {
      const own = [
        { ...anasOwn, isAllowed: true },
        { ...ownersOwn, isAllowed: true },
      ];
      return others === undefined
        ? own
        : [...own, { ...ofBen, isAllowed: false }, { ...ownerOfAna, isAllowed: reach !== 'own' }];
    }
  }
}

/**
 * What a caller that is let in gets where the request cannot be fulfilled: a lab requests nothing and has no list of
 * machines, and reservations have begun.
 */
const otherwiseDone: Readonly<Record<string, string>> = {
  sendContent: 'MUT_BAD_REQUEST',
  removeMachine: 'MUT_BAD_REQUEST',
  switchHeuristic: 'MUT_BAD_REQUEST',
  renegotiateReservation: 'MUT_RESERVATION_BEGUN',
};

/** Whether the answers of a list have an object of a user. */
const lists: Readonly<Record<string, (named: WorldUser, responses: readonly unknown[]) => Promise<boolean>>> = {
  listJobs: async (named, responses) => {
    const jobId = await objects.openJob(named);
    return (responses as ListJobsResponse[]).some(({ jobs }) => jobs.some((job) => job.jobId === jobId));
  },
  listReservations: (named, responses) =>
    Promise.resolve(
      (responses as ListReservationsResponse[]).some(({ reservations }) =>
        reservations.some(({ userId }) => userId === readAccount(named)),
      ),
    ),
  watchReservations: (named, responses) =>
    Promise.resolve(
      (responses as WatchReservationsResponse[]).some(({ events }) =>
        events.some(({ reservation }) => reservation?.userId === readAccount(named)),
      ),
    ),
};

function readAccount(user: WorldUser): string {
  return user === 'owner' ? userInfo().username : user;
}

async function checkCell(t: ExecutionContext, service: UserService, name: string, cell: Cell): Promise<void> {
  const method = service.methods[name] as AnyMethod;
  const access = findAccess(method.path);
  const what = `${method.path}: ${cell.caller} names what is of ${cell.named}`;
  if (access.others === 'left out') await objects[service.server === 'broker' ? 'openJob' : 'reservation'](cell.named);
  const { code, message, responses } = await callAs(service, name, cell);
  if (access.others === 'left out') {
    t.is(code, 'done', `${what}: ${message}`);
    t.is(await lists[name]?.(cell.named, responses), cell.isAllowed, what);
    return;
  }
  t.is(code, cell.isAllowed ? (otherwiseDone[name] ?? 'done') : getRefusal(access), `${what}: ${message}`);
}

async function callAs(
  { server, methods, requests }: UserService,
  name: string,
  { caller, named }: Cell,
): Promise<CallOutcome> {
  const method = methods[name] as AnyMethod;
  const request = await requests[name]?.(objects, named);
  // The history of a manager ends with a message of no events.
  const isLast =
    name === 'watchReservations'
      ? (response: unknown) => (response as WatchReservationsResponse).events.length === 0
      : undefined;
  return callMethod(await world.asUser(caller, server), method, method.requestSerialize(request as never), isLast);
}

function getRefusal({ callers, others }: Access): string {
  return callers === 'owner' ? 'MUT_NOT_OWNER' : (others ?? '');
}

for (const service of userServices) {
  for (const [name, method] of Object.entries(service.methods)) {
    // What its users own are transfers between machines and brokers; test/hostile-contents.test.ts makes them.
    if (name === 'receiveContent') continue;
    test.serial(`${method.path.slice(1)}: users and the owner get what the table of access says`, async (t) => {
      for (const cell of listCells(findAccess(method.path))) await checkCell(t, service, name, cell);
    });
  }
}

test.serial('the manager of a resource reaches the reservations of it, and of no other', async (t) => {
  for (const [name, method] of Object.entries(ReservationServiceService)) {
    const access = findAccess(method.path);
    if (access.objects !== 'own or manager') continue;
    await checkCell(t, servicesAtOthers, name, { caller: 'carl', named: 'ana', isAllowed: true });
    if (access.others !== 'left out')
      await checkCell(t, userServices[3] as UserService, name, { caller: 'carl', named: 'ana', isAllowed: false });
  }
});

test.serial('what notes of the table reserve for the owner is refused to other users', async (t) => {
  const ana = await world.asUser('ana', 'broker');
  const withCheck = BrokerServiceService.submitJob.requestSerialize({
    ...(await brokerRequests.submitJob(objects, 'ana')),
    resumesJobId: undefined,
  });
  const { job, clientJobId } = BrokerServiceService.submitJob.requestDeserialize(withCheck);
  if (job === undefined) throw new Error('there is no job');
  const submit = async (parts: object): Promise<string> =>
    (
      await callMethod(
        ana,
        BrokerServiceService.submitJob,
        BrokerServiceService.submitJob.requestSerialize({ job: { ...job, ...parts }, clientJobId }),
      )
    ).code;
  t.is(await submit({ groups: job.groups.map((group) => ({ ...group, check: 'true' })) }), 'MUT_NOT_OWNER');
  t.is(await submit({ gathering: { folder: '/tmp' } }), 'MUT_NOT_OWNER');
  t.is(await submit({ workFolder: '/tmp' }), 'MUT_NOT_OWNER');
  t.is(await submit({}), 'done');
  const { switchHeuristic } = GridMachineProviderServiceService;
  t.is(
    (
      await callMethod(
        await world.asUser('ana', 'site'),
        switchHeuristic,
        switchHeuristic.requestSerialize({ heuristic: 'adaptive', defaultTaskTimeMs: undefined }),
      )
    ).code,
    'MUT_NOT_OWNER',
  );
});

/** Calls every method of a service as somebody who may call none. */
async function checkShutOut(
  t: ExecutionContext,
  methods: Readonly<Record<string, AnyMethod>>,
  callers: ReadonlyMap<string, Client>,
): Promise<void> {
  for (const [who, client] of callers) {
    for (const method of Object.values(methods))
      t.is(
        (await callMethod(client, method, Buffer.alloc(0))).code,
        'MUT_UNAUTHENTICATED',
        `${method.path} with ${who}`,
      );
  }
}

test.serial('at a port nobody gets in but by a good certificate of a user', async (t) => {
  for (const { server, methods } of userServices) await checkShutOut(t, methods, await world.foreigners(server));
  await checkShutOut(t, GridMachineProviderServiceService, await world.foreigners('site'));
});

test.serial("neither a certificate of a user nor the owner's token is a credential of an agent", async (t) => {
  const callers = new Map([
    ['nothing', world.asToken('', 'agents')],
    ['a wrong token', world.asToken('wrong', 'agents')],
    ["the owner's token", world.asToken(world.token('token'), 'agents')],
    ['a certificate of a user', await world.asUser('ana', 'agents')],
    ['the certificate of the owner', await world.asUser('owner', 'agents')],
  ]);
  await checkShutOut(t, GridMachineServiceService, callers);
});

test.serial('an agent gets its own machine and its own transfers, and nothing of another agent', async (t) => {
  const [mine, other] = [
    world.asToken(await world.invitation('mine'), 'agents'),
    world.asToken(await world.invitation('other'), 'agents'),
  ];
  const attachAs = (machineId: string): Buffer => {
    const facts = {
      machineId,
      incarnation: 'one',
      processors: 1,
      attributes: {},
      untilUnixMs: undefined,
      requestId: '',
      sharedTokens: [],
      homeMarks: [],
    };
    const hello = { protocolVersion: 1, programVersion: '0', capabilities: [], speakerId: machineId };
    return Buffer.from(
      AttachRequest.encode({ message: { $case: 'hello', value: { hello, facts, heldReplicaIds: [] } } }).finish(),
    );
  };
  const { attach, pullContent, pushContent } = GridMachineServiceService;
  t.is((await callMethod(mine, attach, attachAs('mine'))).code, 'done');
  t.is((await callMethod(other, attach, attachAs('other'))).code, 'done');
  t.is((await callMethod(other, attach, attachAs('pc0'))).code, findAccess(attach.path).others ?? '');
  t.is(
    (await callMethod(other, pullContent, Buffer.from(PullContentRequest.encode({ transferId: 'of-pc0' }).finish())))
      .code,
    findAccess(pullContent.path).others ?? '',
  );
  const push = {
    transferId: 'forged',
    machineId: 'lab/pc0',
    content: { sha256: Buffer.alloc(32), sizeBytes: 1 },
    data: Buffer.from('x'),
    offset: 0,
  };
  t.is(
    (await callMethod(other, pushContent, Buffer.from(PushContentRequest.encode(push).finish()))).code,
    findAccess(pushContent.path).others ?? '',
  );
});

test.serial("at sockets nobody gets in but by the owner's token, nor an agent but by a machine's", async (t) => {
  const local = await AccessWorld.start(false);
  try {
    for (const { server, methods } of userServices) await checkShutOut(t, methods, await local.foreigners(server));
    await checkShutOut(
      t,
      GridMachineServiceService,
      new Map([
        ['nothing', local.asToken('', 'agents')],
        ["the owner's token", local.asToken(local.token('token'), 'agents')],
      ]),
    );
    const { code, message } = await callMethod(
      await local.asUser('owner', 'broker'),
      BrokerServiceService.getOverview,
      Buffer.alloc(0),
    );
    t.is(code, 'done', message);
  } finally {
    await local.stop();
  }
});

test.serial('health is open to all, and reflection to those with a credential', async (t) => {
  const method = (path: string, isStream: boolean): AnyMethod => ({
    path,
    requestStream: isStream,
    responseStream: isStream,
    requestSerialize: () => Buffer.alloc(0),
    responseDeserialize: (bytes) => bytes,
  });
  for (const server of ['broker', 'cluster', 'site', 'reservations'] as const) {
    for (const [who, client] of await world.foreigners(server)) {
      t.is(
        (await callMethod(client, method('/grpc.health.v1.Health/Check', false), Buffer.alloc(0))).code,
        'done',
        `health of ${server} with ${who}`,
      );
      for (const version of ['v1', 'v1alpha'])
        t.is(
          (
            await callMethod(
              client,
              method(`/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`, true),
              Buffer.alloc(0),
            )
          ).code,
          'MUT_UNAUTHENTICATED',
          `reflection of ${server} with ${who}`,
        );
    }
  }
});

test('every method of every .proto file has a row in the table, and every row a method', (t) => {
  const written = protoFiles().flatMap((file) => {
    const text = readFileSync(join(protoFolder, file), 'utf8');
    const name = /^package ([\w.]+);/m.exec(text)?.[1] ?? '';
    return [...text.matchAll(/^service (\w+) \{([^}]*)\}/gm)].flatMap(([, service = '', body = '']) =>
      [...body.matchAll(/^ *rpc (\w+)\(/gm)].map(([, rpc = '']) => `${name}.${service}/${rpc}`),
    );
  });
  const rows = Object.entries(accessTable).flatMap(([service, methods]) =>
    Object.keys(methods).map((method) => `${service}/${method.charAt(0).toUpperCase()}${method.slice(1)}`),
  );
  t.deepEqual(rows.sort(), written.sort());
  t.true(written.length > 60);
});
