// What a provider asks for where its manager knows nodes: whole slots of the shape that tasks need.
import test from 'ava';
import type { ProviderChange, ProviderInput } from '@mutirao/core/machines/provider';
import type { Demand } from '@mutirao/core/messages';
import { packSlot, type NodeShape, type Slot } from '@mutirao/core/resources';
import { ProviderHarness } from '@mutirao/testkit';
import { limitsInSlots } from '../../../../src/machines/provider/slots.ts';

const gibibyte = 2 ** 30;
const hour = 3_600_000;
const nodes: readonly NodeShape[] = [{ count: 2, processors: 8, memory: 16 * gibibyte, gpus: { a100: 2 } }];
const wide: Slot = { processors: 3, memory: gibibyte, gpus: 0 };

interface Given {
  readonly heuristic?: string;
  readonly widthGranularity?: number;
  readonly nodes?: readonly NodeShape[];
  readonly requestsMax?: number;
  readonly widthMax?: number;
  readonly nodesMax?: number;
}

function feed(harness: ProviderHarness, input: ProviderInput): void {
  harness.step([input]);
}

function open({ heuristic = 'static', requestsMax = 1, ...limits }: Given = {}): ProviderHarness {
  const harness = new ProviderHarness({ heuristic });
  harness.perform(['start', 'connect b']);
  feed(harness, {
    kind: 'LimitsRead',
    limits: { processors: 16, requestsMax, widthMax: 16, walltimeMax: hour, walltimeGranularity: 1, nodes, ...limits },
  });
  harness.perform(['listing free=16']);
  return harness;
}

function want(harness: ProviderHarness, demand: Partial<Demand>): void {
  feed(harness, {
    kind: 'DemandChanged',
    brokerId: 'b',
    demand: {
      pendingTasks: 10,
      processors: 1,
      taskTimeMax: undefined,
      taskTimeMean: undefined,
      deadline: undefined,
      userId: 'ana',
      unplacedTasks: demand.pendingTasks ?? 10,
      ...demand,
    },
  });
}

function drafts({ journal }: ProviderHarness): Extract<ProviderChange, { kind: 'RequestDrafted' }>[] {
  return journal.filter((change) => change.kind === 'RequestDrafted');
}

for (const heuristic of ['static', 'initial', 'adaptive', 'finish']) {
  test(`${heuristic} asks for whole slots, as many as the nodes have`, (t) => {
    const harness = open({ heuristic });
    want(harness, { processors: 3, slot: wide });
    const [draft] = drafts(harness);
    t.is(draft?.width, 12, 'two slots of 3 on each node of 8');
    t.deepEqual(draft?.slot, wide);
    t.deepEqual(draft?.reasons.at(-1), {
      code: 'request-in-slots',
      slots: 4,
      processors: 3,
      memoryBytes: gibibyte,
      gpus: 0,
      gpuKind: '',
    });
  });
}

test('tasks that share a GPU are asked for by whole slots of theirs', (t) => {
  const harness = open();
  want(harness, { pendingTasks: 3, slot: { processors: 2, memory: 0, gpus: 1 } });
  t.is(drafts(harness)[0]?.width, 4);
});

test('a request has the slots of as many nodes as it may have', (t) => {
  for (const widthGranularity of [{}, { widthGranularity: 8 }]) {
    const harness = open({ nodesMax: 1, ...widthGranularity });
    want(harness, { slot: { processors: 1, memory: 0, gpus: 1 } });
    t.is(drafts(harness)[0]?.width, 2, 'the GPUs of one node');
  }
});

test('a resource gives the processors of all slots of its nodes, and one request those of the nodes that it may have', (t) => {
  const limits = { processors: 16, requestsMax: 1, widthMax: 16, walltimeMax: hour, walltimeGranularity: 1, nodes };
  t.like(limitsInSlots(limits, wide), { processors: 12, widthMax: 12 });
  t.like(limitsInSlots({ ...limits, nodesMax: 1 }, wide), { processors: 12, widthMax: 6 });
});

test('with whole nodes, a request still has no more slots than its nodes', (t) => {
  const uneven = [
    { count: 1, processors: 8, memory: 0, gpus: { a100: 3 } },
    { count: 2, processors: 8, memory: 0, gpus: { a100: 2 } },
  ];
  const harness = open({ nodes: uneven, nodesMax: 2, widthGranularity: 8 });
  want(harness, { slot: { processors: 1, memory: 0, gpus: 1 } });
  t.is(drafts(harness)[0]?.width, 5);
});

test('brokers put no more tasks together than one request could run', (t) => {
  const harness = open({ widthMax: 8, nodes: [{ count: 1, processors: 16, memory: 0, gpus: { a100: 1 } }] });
  const commands = harness.step([{ kind: 'BrokerConnected', brokerId: 'b', connectionId: 2, takesResource: true }]);
  const [reported] = commands.filter((command) => command.kind === 'ReportResource');
  const packed = packSlot({ processors: 1, memory: 0, gpus: 1 }, 100, reported?.resourceStatus.nodes ?? []);
  t.is(packed.processors, 8);
  want(harness, { slot: packed });
  t.is(drafts(harness)[0]?.width, 8);
});

test('with whole nodes, all slots of the nodes are requested', (t) => {
  const harness = open({ widthGranularity: 8 });
  want(harness, { pendingTasks: 1, processors: 3, slot: wide });
  t.is(drafts(harness)[0]?.width, 6);
});

test('what no node has is not asked for, and the reason says what that is', (t) => {
  const harness = open();
  want(harness, { slot: { processors: 1, memory: 0, gpus: 3, gpuKind: 'a100' } });
  t.deepEqual(drafts(harness), []);
  t.deepEqual(harness.state.resourceStatus, [
    { code: 'no-node-has-slot', processors: 1, memoryBytes: 0, gpus: 3, gpuKind: 'a100' },
  ]);
});

test('requests of another shape take no part in a decision, and what their tasks hold stays wanted', (t) => {
  const harness = open({ heuristic: 'initial', requestsMax: 2 });
  want(harness, { pendingTasks: 4 });
  harness.perform(['accepted q1']);
  want(harness, { pendingTasks: 2, processors: 3, slot: wide, otherProcessors: 4 });
  t.deepEqual(
    drafts(harness).map(({ width, slot }) => [width, slot?.processors]),
    [
      [4, undefined],
      [6, 3],
    ],
  );
  harness.now += 10 * hour;
  harness.step([{ kind: 'TimerFired' }]);
  t.is(harness.state.requests.get('q1')?.releaseReason, undefined);
});

test('tasks that need a slot are asked for while wide allocations of other tasks run', (t) => {
  const harness = open({ heuristic: 'initial', requestsMax: 2 });
  want(harness, { pendingTasks: 8 });
  harness.perform(['accepted q1', 'listing free=8 q1=running']);
  t.is(harness.state.requests.get('q1')?.status, 'running');
  want(harness, {
    pendingTasks: 1,
    processors: 1,
    slot: { processors: 1, memory: 0, gpus: 1 },
    otherProcessors: 3,
    unplacedTasks: 1,
  });
  t.deepEqual(
    drafts(harness).map(({ slot }) => slot?.gpus),
    [undefined, 1],
  );
  harness.perform(['accepted q2', 'listing free=8 q1=running q2=queued']);
  harness.now += 10 * hour;
  harness.step([{ kind: 'TimerFired' }]);
  t.is(harness.state.requests.get('q2')?.releaseReason, undefined, 'it is not withdrawn as covered');
});

test('an allocation that has nothing for the tasks that wait is released when it was idle', (t) => {
  const gpu = { processors: 1, memory: 0, gpus: 1 };
  for (const { slot, otherProcessors, isReleased } of [
    { slot: gpu, otherProcessors: 0, isReleased: true },
    { slot: gpu, otherProcessors: 1, isReleased: false },
    { slot: undefined, otherProcessors: 0, isReleased: false },
  ]) {
    const harness = open({ heuristic: 'finish', requestsMax: 2 });
    want(harness, { pendingTasks: 8 });
    harness.perform(['accepted q1', 'listing free=8 q1=running']);
    want(harness, { pendingTasks: 1, ...(slot === undefined ? {} : { slot }), otherProcessors });
    harness.step([{ kind: 'TimerFired' }]);
    harness.now += harness.state.config.idleRelease;
    harness.step([{ kind: 'TimerFired' }]);
    const reason = harness.state.requests.get('q1')?.releaseReason;
    t.is(JSON.stringify(reason ?? []).includes('released-idle'), isReleased, `${slot?.gpus} ${otherProcessors}`);
  }
});

test('tasks of several processors without a slot are not asked for, as by a broker that knows no nodes yet', (t) => {
  const harness = open();
  want(harness, { processors: 8 });
  t.deepEqual(drafts(harness), []);
});

test('another number of nodes that one request may have is noticed', (t) => {
  const harness = open();
  const limits = { ...harness.state.limits, nodesMax: 1 } as NonNullable<typeof harness.state.limits>;
  feed(harness, { kind: 'LimitsRead', limits });
  t.is(harness.state.limits?.nodesMax, 1);
});

test('a gang does not wait for a wide request of another shape', (t) => {
  const harness = open({ heuristic: 'initial', requestsMax: 2 });
  want(harness, { pendingTasks: 6 });
  harness.perform(['accepted q1']);
  const gpu: Slot = { processors: 1, memory: 0, gpus: 1 };
  want(harness, { pendingTasks: 1, slot: gpu, gangProcessors: 2, otherProcessors: 6 });
  t.deepEqual(
    drafts(harness).map(({ width, slot }) => [width, slot?.gpus]),
    [
      [6, undefined],
      [2, 1],
    ],
  );
});

test('a request stays wanted for what tasks of another shape hold', (t) => {
  const harness = open({ heuristic: 'initial', requestsMax: 3 });
  want(harness, { pendingTasks: 4 });
  harness.perform(['accepted q1', 'listing free=12 q1=running']);
  want(harness, { pendingTasks: 1, processors: 3, slot: wide, otherProcessors: 4 });
  harness.perform(['accepted q2', 'listing free=9 q1=running q2=running']);
  want(harness, { pendingTasks: 8, otherProcessors: 3 });
  harness.perform(['accepted q3', 'listing free=0 q1=running q2=running q3=queued']);
  t.is(harness.state.requests.get('q3')?.status, 'queued');
  // The shapes have taken turns: the tasks of one processor are the others now.
  want(harness, { pendingTasks: 1, processors: 3, slot: wide, otherProcessors: 8, unplacedTasks: 0 });
  harness.now += 10 * hour;
  harness.step([{ kind: 'TimerFired' }]);
  t.is(harness.state.requests.get('q3')?.releaseReason, undefined);
});
