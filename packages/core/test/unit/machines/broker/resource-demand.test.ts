// What is wanted of a provider whose tasks ask for more than processors, by what its machines have had.
import test from 'ava';
import { type BrokerInput, brokerMachine, createBrokerState, type BrokerState } from '@mutirao/core/machines/broker';
import type { AllocationRequest, Demand, JobSpec } from '@mutirao/core/messages';
import { emptyRequest } from '@mutirao/core/resources';
import { aJob, aMachine } from '@mutirao/testkit';

const gibibyte = 2 ** 30;
const hour = 3_600_000;

function aRequest(requestId: string, status: 'queued' | 'running', width: number): AllocationRequest {
  return {
    providerId: 'p',
    requestId,
    managerRequestId: '',
    width,
    walltime: hour,
    status,
    seenAt: 0,
    submittedAt: 0,
    startedAt: 0,
    endedAt: 0,
    reasons: [],
    heuristic: 'static',
  };
}

/** A machine of 4 processors and 16 GiB runs, and one request waits for so many processors. */
function demandOf(spec: JobSpec, waitingWidth: number): BrokerState {
  const state = createBrokerState({ demandInterval: 0 });
  const step = (now: number, ...inputs: BrokerInput[]): void => {
    brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
  };
  step(
    0,
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
    { kind: 'RequestsChanged', providerId: 'p', requests: [aRequest('q1', 'running', 4)] },
    {
      kind: 'MachineJoined',
      providerId: 'p',
      facts: aMachine('p/a', {
        processors: 4,
        requestId: 'q1',
        until: hour,
        capacity: { memory: 16 * gibibyte, gpus: [], named: {} },
      }),
      heldReplicaIds: [],
    },
    { kind: 'RequestsChanged', providerId: 'p', requests: [aRequest('q2', 'queued', waitingWidth)] },
    { kind: 'JobSubmitted', replyTo: 1, userId: 'ann', clientJobId: '', spec },
  );
  step(1000);
  return state;
}

const ofEightGibibytes = aJob(10, { resources: { ...emptyRequest, memory: 8 * gibibyte } });

test('as many tasks have a place at a waiting request as its machines will have memory for', (t) => {
  const unplacedWith = (width: number): number | undefined =>
    demandOf(ofEightGibibytes, width).providers.get('p')?.demand?.unplacedTasks;
  // Two run. Four processors are one machine more, which takes two; sixteen are four.
  t.is(unplacedWith(4), 6);
  t.is(unplacedWith(16), 0);
  t.is(demandOf(aJob(10), 4).providers.get('p')?.demand?.unplacedTasks, 2, 'by processors alone');
});

test('nothing is asked for tasks that no machine of the provider ever had enough for', (t) => {
  const { demand } = demandOf(aJob(3, { resources: { ...emptyRequest, gpus: 1000 } }), 4).providers.get('p') ?? {};
  t.is(demand?.unplacedTasks, 0);
  t.is(demand?.pendingTasks, 0);
});

/** The demand of a provider that knows its nodes, for a job of tasks of one processor and one of tasks of 3. */
function demandsOfMix(requests: readonly AllocationRequest[], narrow: number): Demand | undefined {
  const state = createBrokerState({ demandInterval: 0 });
  const nodes = [{ count: 4, processors: 8, memory: 16 * gibibyte, gpus: {} }];
  const inputs: BrokerInput[] = [
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
    {
      kind: 'ResourceReported',
      providerId: 'p',
      resourceStatus: { processors: 32, widthMax: 32, isTimeShared: false, isDraining: false, nodes },
    },
    { kind: 'RequestsChanged', providerId: 'p', requests },
    { kind: 'JobSubmitted', replyTo: 1, userId: 'ann', clientJobId: 'n', spec: aJob(narrow) },
    { kind: 'JobSubmitted', replyTo: 2, userId: 'ann', clientJobId: 'w', spec: aJob(2, { processors: 3 }) },
  ];
  brokerMachine.step(state, inputs, 0);
  brokerMachine.step(state, [], 1000);
  brokerMachine.checkInvariants(state);
  return state.providers.get('p')?.demand;
}

test('a provider that knows its nodes receives the shapes that wait in turn, first the one that has least there', (t) => {
  t.like(demandsOfMix([], 10), { processors: 1, pendingTasks: 10, slot: undefined, otherProcessors: undefined });
  const slot = { processors: 3, memory: 0, gpus: 0 };
  t.like(demandsOfMix([aRequest('q1', 'queued', 4)], 10), {
    processors: 3,
    pendingTasks: 2,
    unplacedTasks: 2,
    slot,
    otherProcessors: 4,
  });
  t.like(demandsOfMix([aRequest('q1', 'queued', 4), { ...aRequest('q2', 'queued', 6), slot }], 20), {
    processors: 1,
    slot: undefined,
  });
});

test('a task takes no more of a request than one of its slots has', (t) => {
  const slot = { processors: 2, memory: 0, gpus: 0 };
  t.like(demandsOfMix([{ ...aRequest('q1', 'queued', 12), slot }], 4), { processors: 3, unplacedTasks: 2 });
  // So many slots are imagined as a few machines of several each.
  t.like(demandsOfMix([{ ...aRequest('q1', 'queued', 10_000), slot }], 4), { processors: 3, unplacedTasks: 2 });
});

test('a provider that has yet to report its nodes is not asked for plain processors for tasks that need more', (t) => {
  const state = createBrokerState({ demandInterval: 0 });
  const step = (now: number, ...inputs: BrokerInput[]): Demand | undefined => {
    brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
    return state.providers.get('p')?.demand;
  };
  const connected = { kind: 'ProviderConnected', providerId: 'p', reportsResource: true } as const;
  step(0, { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' }, connected);
  t.like(step(10, { kind: 'JobSubmitted', replyTo: 1, userId: 'ann', clientJobId: '', spec: ofEightGibibytes }), {
    pendingTasks: 0,
  });
  const resourceStatus = { processors: 0, widthMax: 0, isTimeShared: false, isDraining: false };
  t.like(step(20, { kind: 'ResourceReported', providerId: 'p', resourceStatus }), { pendingTasks: 0 });
  // It is waited for but so long.
  const due = state.providers.get('p')?.resourceAwaitedUntil ?? Infinity;
  t.like(step(due), { pendingTasks: 10, processors: 1 });
});

/** The demand after a machine of a slot of 12 GiB has joined with that much memory, for a task of so many. */
function demandAfterLess(given: number, wanted: number): Demand | undefined {
  const state = createBrokerState({ demandInterval: 0 });
  const nodes = [{ count: 4, processors: 8, memory: 16 * gibibyte, gpus: {} }];
  const slot = { processors: 1, memory: 12 * gibibyte, gpus: 0 };
  const spec = aJob(1, { resources: { ...emptyRequest, memory: wanted * gibibyte } });
  const steps: BrokerInput[][] = [
    [
      { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
      { kind: 'ProviderConnected', providerId: 'p' },
      {
        kind: 'ResourceReported',
        providerId: 'p',
        resourceStatus: { processors: 32, widthMax: 32, isTimeShared: false, isDraining: false, nodes },
      },
      { kind: 'RequestsChanged', providerId: 'p', requests: [{ ...aRequest('q1', 'running', 1), slot }] },
      {
        kind: 'MachineJoined',
        providerId: 'p',
        facts: aMachine('p/a', {
          processors: 1,
          requestId: 'q1',
          until: hour,
          capacity: { memory: given * gibibyte, gpus: [], named: {} },
        }),
        heldReplicaIds: [],
      },
    ],
    [{ kind: 'JobSubmitted', replyTo: 1, userId: 'ann', clientJobId: '', spec }],
  ];
  for (const [index, inputs] of steps.entries()) brokerMachine.step(state, inputs, 1000 * index);
  brokerMachine.step(state, [], 3000);
  brokerMachine.checkInvariants(state);
  return state.providers.get('p')?.demand;
}

test('memory that a manager did not give though it was requested is no longer requested', (t) => {
  t.like(demandAfterLess(8, 12), { pendingTasks: 0, unplacedTasks: 0 });
  t.like(demandAfterLess(8, 14), { pendingTasks: 0, unplacedTasks: 0 });
  t.like(demandAfterLess(8, 10), { pendingTasks: 1, unplacedTasks: 1 });
  t.like(demandAfterLess(12, 14), { pendingTasks: 1, unplacedTasks: 1 });
});

test('a provider is asked for the first request of a task that its nodes have', (t) => {
  const state = createBrokerState({ demandInterval: 0 });
  const nodes = [{ count: 4, processors: 8, memory: 16 * gibibyte, gpus: {} }];
  const { groups, ...spec } = aJob(2, { resources: { ...emptyRequest, gpus: 1000 } });
  const resources = { ...emptyRequest, memory: 2 * gibibyte };
  const alternatives = [{ processors: 16 }, { processors: 4, resources }, { processors: 2 }];
  const inputs: BrokerInput[] = [
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
    {
      kind: 'ResourceReported',
      providerId: 'p',
      resourceStatus: { processors: 32, widthMax: 32, isTimeShared: false, isDraining: false, nodes },
    },
    {
      kind: 'JobSubmitted',
      replyTo: 1,
      userId: 'ann',
      clientJobId: '',
      spec: { ...spec, groups: groups.map((group) => ({ ...group, alternatives })) },
    },
  ];
  brokerMachine.step(state, inputs, 0);
  brokerMachine.step(state, [], 1000);
  brokerMachine.checkInvariants(state);
  t.like(state.providers.get('p')?.demand, {
    processors: 4,
    pendingTasks: 2,
    unplacedTasks: 2,
    userId: 'ann',
    slot: { processors: 4, memory: 2 * gibibyte, gpus: 0 },
  });
});
