import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { errorOfRefusal } from '@mutirao/api/errors';
import { PullContentRequest, PushContentRequest } from '@mutirao/api/machine';
import { QueueKnowledge, ReceiveContentRequest, RequestStatus } from '@mutirao/api/provider';
import type { ProviderInput } from '@mutirao/core/machines/provider';
import { systemClock, systemTimers } from '@mutirao/runtime/driver';
import { quietLogger } from '@mutirao/runtime/log';
import type { StreamWriter } from '@mutirao/runtime/rpc';
import { aCallContext, inject, ProviderHarness } from '@mutirao/testkit';
import { AgentGate } from '../../src/agent-gate.ts';
import { MachineCredentials } from '../../src/machines/machine-credentials.ts';
import { TaskMeasure } from '../../src/relay/measure.ts';
import { Relay } from '../../src/relay/relay.ts';
import { machineRoutes, providerRoutes, type ProviderHost } from '../../src/routes.ts';
import { PushedContents } from '../../src/transfers/pushed-contents.ts';
import { TransferExchange } from '../../src/transfers/transfer-exchange.ts';

function aHost(harness: ProviderHarness): ProviderHost & { readonly asked: ProviderInput[] } {
  const asked: ProviderInput[] = [];
  const database = new DatabaseSync(':memory:');
  const machines = new MachineCredentials(database, { now: () => 1000 });
  const gate = new AgentGate(database, { findWidth: () => 4 }, machines);
  return {
    state: harness.state,
    asked,
    clock: { now: () => harness.now },
    relay: new Relay({
      providerId: 'p',
      measure: new TaskMeasure({ now: () => 7 }),
      log: quietLogger,
      clock: systemClock,
      gate,
      ownerId: 'ana',
      deliver: () => undefined,
    }),
    gate,
    machines,
    agentsPlace: () => ({ address: 'h:1', authority: 'MII' }),
    ownerId: 'ana',
    enrolled: undefined,
    trouble: () => undefined,
    queueTrouble: () => '',
    usesOf: () => [],
    exchange: new TransferExchange({
      timers: systemTimers,
      waitMax: 1,
      transfersMax: 10,
      passing: { note: () => undefined },
    }),
    pushed: new PushedContents(),
    ask: <T>(make: (replyTo: number) => ProviderInput): Promise<T> => {
      asked.push(make(1));
      return Promise.resolve(undefined as T);
    },
  };
}

function aHarness(): ProviderHarness {
  const harness = new ProviderHarness();
  harness.perform(['start', 'connect b1', 'limits requests=2 width=4 walltime=60000', 'demand b1 6', 'listing']);
  return harness;
}

const noWriter: StreamWriter<Buffer> = {
  write: () => true,
  end: () => undefined,
  onDrain: undefined,
  drained: () => Promise.resolve(),
};

test('faults of a provider are listed before the reasons of its last decision', async (t) => {
  const response = await inject(
    providerRoutes({ ...aHost(aHarness()), trouble: () => 'the disk is full' }).getResource,
    {},
  );
  t.like(response.reasons[0], { code: 'provider-trouble', text: 'the disk is full' });
  t.true(response.reasons.length > 1);
});

test('a queue that cannot be read is said in one sentence, and once', async (t) => {
  const unreadable = { ...aHost(aHarness()), queueTrouble: () => 'MUT_BAD_REQUEST, no partition "nix"' };
  const { reasons } = await inject(providerRoutes(unreadable).getResource, {});
  t.is(reasons[0]?.text, 'Cannot read the resource\'s queue: MUT_BAD_REQUEST, no partition "nix".');
  const status = [{ code: 'queue-stale', trouble: 'no answer' } as const];
  const stale = { ...unreadable, state: { ...unreadable.state, resourceStatus: status } };
  const reported = await inject(providerRoutes(stale).getResource, {});
  t.deepEqual(
    reported.reasons.map(({ code }) => code),
    ['queue-stale'],
  );
});

test('the resource is described with its limits, its rules and the reasons of the last decision', async (t) => {
  const response = await inject(providerRoutes(aHost(aHarness())).getResource, {});
  t.like(response, {
    providerId: 'p',
    resourceKind: 'cluster',
    processors: 4,
    requestsMax: 2,
    walltimeMsMax: 60_000,
    widthProcessorsMax: 4,
    heuristic: 'static',
    machines: 0,
    draining: false,
  });
  t.like(response.reasons[0], {
    code: 'static-equal-shares',
    parameters: { tasks: { value: { $case: 'number', value: 6 } } },
  });
  t.regex(
    response.reasons[0]?.text ?? '',
    /3 processors in each of 2 free request slots: equal shares of 6 pending tasks/,
  );
});

test('the queue is listed as the heuristic sees it, with our requests in it', async (t) => {
  const harness = aHarness();
  harness.perform(['listing']);
  const { queue } = await inject(providerRoutes(aHost(harness)).getQueue, {});
  t.like(queue, {
    providerId: 'p',
    knowledge: QueueKnowledge.COMPLETE,
    trouble: undefined,
    processors: 4,
    waitingCount: 2,
  });
  t.deepEqual(
    queue?.entries.map(({ requestId, running, widthProcessors, forecast }) => [
      requestId,
      running,
      widthProcessors,
      forecast,
    ]),
    [
      ['q1', false, 3, true],
      ['q2', false, 3, true],
    ],
  );
  t.deepEqual(
    queue?.steps.map(({ freeProcessors }) => freeProcessors),
    [1, 4],
  );
});

test('requests are listed with their states and reasons', async (t) => {
  const { requests } = await inject(providerRoutes(aHost(aHarness())).listRequests, {});
  t.deepEqual(
    requests.map(({ requestId, widthProcessors, status }) => [requestId, widthProcessors, status]),
    [
      ['q1', 3, RequestStatus.SUBMITTING],
      ['q2', 3, RequestStatus.SUBMITTING],
    ],
  );
  t.true(requests.every(({ reasons }) => reasons.length > 0));
});

test('draining and undraining are asked of the machine', async (t) => {
  const host = aHost(aHarness());
  t.deepEqual(await inject(providerRoutes(host).drain, { reason: 'moving house', atOnce: false }), {});
  t.deepEqual(await inject(providerRoutes(host).drain, { reason: 'a fire', atOnce: true }), {});
  t.deepEqual(await inject(providerRoutes(host).undrain, {}), {});
  t.deepEqual(host.asked, [
    { kind: 'DrainAsked', replyTo: 1, reason: 'moving house' },
    { kind: 'DrainAsked', replyTo: 1, reason: 'a fire', isAtOnce: true },
    { kind: 'UndrainAsked', replyTo: 1 },
  ]);
});

test('a request for another heuristic goes to the machine, and the answer names the one that then decides', async (t) => {
  const harness = aHarness();
  const host = {
    ...aHost(harness),
    ask: <T>(make: (replyTo: number) => ProviderInput): Promise<T> => getAnswer<T>(harness, make(7)),
  };
  const routes = providerRoutes(host);
  t.deepEqual(await inject(routes.switchHeuristic, { heuristic: 'adaptive', defaultTaskTimeMs: 2000 }), {
    heuristic: 'adaptive',
    defaultTaskTimeMs: 2000,
  });
  t.like(await inject(routes.getResource, {}), {
    heuristic: 'adaptive',
    defaultTaskTimeMs: 2000,
    heuristicSwitched: true,
  });
  t.deepEqual(await inject(routes.switchHeuristic, { heuristic: 'mixed', defaultTaskTimeMs: undefined }), {
    heuristic: 'mixed',
    defaultTaskTimeMs: 2000,
  });
  await t.throwsAsync(inject(routes.switchHeuristic, { heuristic: 'statc', defaultTaskTimeMs: undefined }), {
    code: 'MUT_BAD_REQUEST',
    message: /did you mean "static"/,
  });
});

/** The machine's own reply. */
function getAnswer<T>(harness: ProviderHarness, input: ProviderInput): Promise<T> {
  const reply = harness.step([input]).find((command) => command.kind === 'Reply')?.reply;
  if (reply?.ok === true) return Promise.resolve(reply.value as T);
  return Promise.reject(reply === undefined ? new Error('no reply') : errorOfRefusal(reply));
}

test('an agent of a request that is over moves no content', async (t) => {
  const harness = aHarness();
  const host = aHost(harness);
  const routes = machineRoutes(host);
  host.gate.enter({ kind: 'request', requestId: 'q2' }, 'p/q2.1', aCallContext().credential);
  const pull = Buffer.from(PullContentRequest.encode({ transferId: 't1' }).finish());
  await t.throwsAsync(routes.pullContent(pull, noWriter, aCallContext({ userId: 'request:q9' })), {
    code: 'MUT_ALLOCATION_ENDED',
  });
  harness.perform(['refused q1 no']);
  await t.throwsAsync(routes.pullContent(pull, noWriter, aCallContext({ userId: 'request:q1' })), {
    code: 'MUT_ALLOCATION_ENDED',
  });
  await t.throwsAsync(routes.pullContent(pull, noWriter, aCallContext({ userId: 'request:q2' })), {
    code: 'MUT_CONTENT_NOT_FOUND',
  });
});

test('a broker that asks for an output that nobody brings is refused at once, and does not wait for it', async (t) => {
  const timers = { start: () => t.fail('it waits'), cancel: () => undefined };
  const exchange = new TransferExchange({
    timers,
    waitMax: 60_000,
    transfersMax: 10,
    passing: { note: () => undefined },
  });
  const routes = providerRoutes({ ...aHost(aHarness()), exchange });
  const asked = Buffer.from(ReceiveContentRequest.encode({ transferId: 'gone', offset: 0, refusal: '' }).finish());
  await t.throwsAsync(routes.receiveContent(asked, noWriter, aCallContext()), { code: 'MUT_CONTENT_NOT_FOUND' });
  t.is(exchange.openCount, 0);
});

test('a push names a machine that is attached, and a content', async (t) => {
  const host = aHost(aHarness());
  const routes = machineRoutes(host);
  const context = aCallContext({ userId: 'request:q2' });
  host.gate.enter({ kind: 'request', requestId: 'q2' }, 'p/q2.1', context.credential);
  const content = { sha256: Buffer.alloc(32), sizeBytes: 1 };
  const push = (message: PushContentRequest): Promise<Buffer> =>
    routes.pushContent(once(Buffer.from(PushContentRequest.encode(message).finish())), context);
  await t.throwsAsync(push({ transferId: 't1', content, machineId: 'p/q2.0', data: Buffer.alloc(0), offset: 0 }), {
    code: 'MUT_TRANSFER_FAILED',
    message: /"p\/q2.0" is not attached/,
  });
  await t.throwsAsync(
    push({ transferId: 't1', content: undefined, machineId: 'p/q2.0', data: Buffer.alloc(0), offset: 0 }),
    { code: 'MUT_BAD_REQUEST' },
  );
  await t.throwsAsync(routes.pushContent(once(Buffer.from([0xff])), context), { code: 'MUT_PROTOCOL' });
});

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  await Promise.resolve();
  yield bytes;
}

test('another user does not switch the heuristic of a provider', async (t) => {
  const host = aHost(aHarness());
  const routes = providerRoutes(host);
  await t.throwsAsync(
    inject(routes.switchHeuristic, { heuristic: 'adaptive', defaultTaskTimeMs: 2000 }, { userId: 'maria' }),
    { code: 'MUT_NOT_OWNER' },
  );
  t.deepEqual(host.asked, []);
});

test('an agent that never attached takes no content, whatever credential it has', async (t) => {
  const host = aHost(aHarness());
  const pull = Buffer.from(PullContentRequest.encode({ transferId: 't1' }).finish());
  const context = aCallContext({ userId: 'request:q1', credential: 'q1.x~other' });
  host.gate.enter({ kind: 'request', requestId: 'q1' }, 'p/q1.0', 'q1.x~mine');
  await t.throwsAsync(machineRoutes(host).pullContent(pull, noWriter, context), { code: 'MUT_CREDENTIAL_COPIED' });
});

test('machines are kept only where no resource manager gives machines', async (t) => {
  const host = aHost(aHarness());
  const kept: string[] = [];
  const enrolled = {
    add: (machines: readonly { name: string }[]) => {
      kept.push(...machines.map(({ name }) => name));
    },
    remove: () => Promise.resolve(),
    list: () => [],
    keeps: () => false,
  };
  const machines = [
    {
      name: 'pc',
      reach: { $case: 'ssh' as const, value: { destination: 'ana@pc', options: [], program: [] } },
      processors: 0,
      folder: '',
      attributes: {},
      resources: [],
    },
  ];
  await t.throwsAsync(inject(providerRoutes(host).addMachines, { machines }, { userId: 'ana' }), {
    code: 'MUT_BAD_REQUEST',
    message: /gets its machines from a resource manager/,
  });
  await inject(providerRoutes({ ...host, enrolled }).addMachines, { machines }, { userId: 'ana' });
  t.deepEqual(kept, ['pc']);
});
