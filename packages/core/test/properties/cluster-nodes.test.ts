// A cluster whose nodes have processors, memory and GPUs, against a world that records by itself which request has which resources.
import test from 'ava';
import fc from 'fast-check';
import {
  clusterMachine,
  createClusterState,
  listQueue,
  restoreSnapshot,
  takeSnapshot,
  type ClusterChange,
  type ClusterCommand,
  type ClusterInput,
  type ClusterSnapshot,
  type ClusterState,
} from '@mutirao/core/machines/cluster';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  NodePlan,
  shapeNodes,
  type BucOrder,
  type ClusterNode,
  type NodeGrant,
  type PlannedRequest,
  type QueuePolicy,
} from '@mutirao/core/queue';
import { countSlots, type Slot } from '@mutirao/core/resources';
import { runs } from '@mutirao/testkit';

const gib = 2 ** 30;
const plain: Slot = { processors: 1, memory: 0, gpus: 0 };

/** Few actions make no queue. */
const longRuns = { minLength: 20, size: 'max' } as const;

const anyNodes = fc
  .array(
    fc.record({
      processors: fc.integer({ min: 2, max: 5 }),
      memory: fc.constantFrom(0, 4 * gib, 9 * gib),
      gpus: fc.constantFrom([], ['a100'], ['a100', 'a100', 't4']),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((nodes) =>
    nodes.map(
      ({ processors, memory, gpus }, index): ClusterNode => ({
        name: `n${index}`,
        processors,
        memory,
        gpus: gpus.map((kind, position) => ({ id: String(position), kind })),
      }),
    ),
  );
const anySlot = fc
  .record({
    processors: fc.constantFrom(1, 1, 2, 3),
    memory: fc.constantFrom(0, gib, 3 * gib),
    gpus: fc.constantFrom(0, 0, 0, 1, 2),
    kind: fc.constantFrom('', 'a100', 't4'),
  })
  .map(({ kind, ...slot }): Slot => (kind === '' || slot.gpus === 0 ? slot : { ...slot, gpuKind: kind }));
const anyAction = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('allocate' as const),
      slots: fc.constantFrom(1, 1, 1, 2, 3),
      slot: fc.option(anySlot, { nil: undefined }),
      walltime: fc.integer({ min: 1, max: 40 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('exit' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), pick: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), time: fc.integer({ min: 1, max: 25 }) }) },
);
const anyTrouble = fc.oneof(
  fc.record({ kind: fc.constant('away' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('back' as const) }),
  fc.record({ kind: fc.constant('crash' as const), time: fc.integer({ min: 0, max: 60 }) }),
);
type Action =
  | (typeof anyAction extends fc.Arbitrary<infer T> ? T : never)
  | (typeof anyTrouble extends fc.Arbitrary<infer T> ? T : never);

interface Service {
  readonly policy: QueuePolicy;
  readonly order?: BucOrder;
}

class World {
  readonly service: Service;
  readonly nodes: readonly ClusterNode[];
  state: ClusterState;
  now = 1;
  readonly journal: ClusterChange[] = [];
  /** By request, what its processes have that have not ended. */
  readonly living = new Map<number, readonly NodeGrant[]>();
  readonly doomed = new Set<number>();
  readonly promises = new Map<number, number>();
  /** When the head of the queue could start at the latest, as long as it is the head. */
  head = { id: 0, latest: Infinity };
  readonly started: number[] = [];
  away = new Set<number>();
  broken = '';

  constructor(service: Service, nodes: readonly ClusterNode[]) {
    this.service = service;
    this.nodes = nodes;
    this.state = this.newState();
    this.receive([{ kind: 'ClusterStarted', nodesAway: [] }]);
  }

  newState(): ClusterState {
    const processors = this.nodes.reduce((sum, node) => sum + node.processors, 0);
    return createClusterState({
      processors,
      requestsMax: 12,
      walltimeMax: 60,
      widthMax: processors,
      walltimeGranularity: 5,
      endedMax: 8,
      clusterNodes: this.nodes,
      nodes: shapeNodes(this.nodes),
      ...this.service,
    });
  }

  act(action: Action): void {
    switch (action.kind) {
      case 'allocate':
        return this.allocate(action);
      case 'exit':
        return this.exit([...this.living.keys()][action.pick % Math.max(1, this.living.size)]);
      case 'release':
        return this.receive([{ kind: 'ReleaseRequested', replyTo: 1, requestId: action.pick }]);
      case 'pass':
        return this.pass(this.now + action.time);
      case 'away':
        return this.lose(action.pick % this.nodes.length);
      case 'back':
        return this.bringBack();
      case 'crash':
        return this.crash(action.time);
    }
  }

  allocate({ slots, slot, walltime }: Action & { kind: 'allocate' }): void {
    const width = slots * (slot?.processors ?? 1);
    const before = this.state.nextRequestId;
    const order = {
      userId: 'ana',
      clientRequestId: '',
      width,
      walltime,
      command: ['work'],
      environment: {},
      workingDirectory: '',
      ...(slot === undefined ? {} : { slot }),
    };
    const mayWait = (this.state.livingCounts.get('ana') ?? 0) < 12;
    this.receive([{ kind: 'AllocationRequested', replyTo: 1, order }]);
    const isHeld = countSlots(shapeNodes(this.nodes), slot ?? plain) >= slots;
    if (mayWait && this.state.nextRequestId > before !== isHeld)
      this.broken = `request of ${JSON.stringify(order)}: expected ${isHeld}`;
  }

  receive(inputs: ClusterInput[]): void {
    const { changes, commands } = clusterMachine.step(this.state, inputs, this.now);
    clusterMachine.checkInvariants(this.state);
    this.journal.push(...(JSON.parse(JSON.stringify(changes)) as ClusterChange[]));
    for (const command of commands) this.perform(command);
    this.note();
  }

  perform(command: ClusterCommand): void {
    if (command.kind === 'KillProcesses') this.doomed.add(command.requestId);
    if (command.kind !== 'StartProcesses') return;
    const { requestId, grants = [], width } = command;
    const order = this.state.requests.get(requestId)?.order;
    this.started.push(requestId);
    this.living.set(requestId, grants);
    this.checkGrants(requestId, grants, width, order?.slot);
    this.checkNodes();
    if (this.now > (this.promises.get(requestId) ?? Infinity)) this.broken = `request ${requestId} started late`;
    if (requestId === this.head.id && this.now > this.head.latest)
      this.broken = `request ${requestId} was delayed from ${this.head.latest} to ${this.now} by those behind it`;
  }

  /** Each process has what the request asked for, in whole slots, or one processor. */
  checkGrants(requestId: number, grants: readonly NodeGrant[], width: number, slot: Slot | undefined): void {
    const processors = grants.reduce((sum, { processorIds }) => sum + processorIds.length, 0);
    if (processors !== width) this.broken = `request ${requestId} of ${width} processors has ${processors}`;
    for (const grant of grants) this.checkGrant(requestId, grant, slot);
  }

  checkGrant(
    requestId: number,
    { node, processorIds, memory, gpus }: NodeGrant,
    { processors, memory: memoryOfSlot, gpus: gpusOfSlot, gpuKind }: Slot = plain,
  ): void {
    const slots = processorIds.length / processors;
    const isAsAsked =
      Number.isInteger(slots) &&
      gpus.length === slots * gpusOfSlot &&
      memory >= slots * memoryOfSlot &&
      gpus.every(({ kind }) => kind === (gpuKind ?? kind));
    if (!isAsAsked) this.broken = `request ${requestId} has something else of node ${node} than it asked for`;
    if (this.away.has(node)) this.broken = `request ${requestId} was started on a node that is away`;
  }

  /** No processor and no device is given twice, and no more memory than there is. */
  checkNodes(): void {
    const seen = new Set<string>();
    const memory = this.nodes.map(() => 0);
    for (const grants of this.living.values())
      for (const grant of grants) {
        memory[grant.node] = (memory[grant.node] ?? 0) + grant.memory;
        for (const id of [...grant.processorIds, ...grant.gpus.map((gpu) => `gpu ${gpu.id}`)]) {
          const name = `${id} of node ${grant.node}`;
          if (seen.has(name)) this.broken = `${name} is given twice`;
          seen.add(name);
        }
      }
    for (const [index, node] of this.nodes.entries())
      if (node.memory > 0 && (memory[index] ?? 0) > node.memory) this.broken = `memory of ${node.name} is given twice`;
  }

  /** What is promised from now on: a place, or, under EASY, that those behind the head do not delay it. */
  note(): void {
    const { policy, order } = this.service;
    const { plan } = this.state;
    if (order !== undefined) return;
    if (policy.promises) this.notePromises();
    const head = plan.waiting.first;
    if (policy.name === 'easy' && head !== undefined && head.startsAt === undefined) this.noteHead(head);
  }

  notePromises(): void {
    for (const { managerRequestId, status, startsAt } of listQueue(this.state, this.now, 0).requests)
      if (status === 'queued' && startsAt > 0 && !this.promises.has(Number(managerRequestId)))
        this.promises.set(Number(managerRequestId), startsAt);
  }

  noteHead(head: PlannedRequest): void {
    const latest = this.state.plan.findEarliestPlace(head, this.now);
    this.head = { id: head.id, latest: head.id === this.head.id ? Math.min(latest, this.head.latest) : latest };
  }

  exit(requestId: number | undefined): void {
    if (requestId === undefined) return;
    const count = this.living.get(requestId)?.length ?? 0;
    this.living.delete(requestId);
    this.doomed.delete(requestId);
    this.receive(
      Array.from({ length: count }, (_, processIndex) => ({
        kind: 'ProcessExited',
        requestId,
        processIndex,
        exitStatus: 0,
      })),
    );
  }

  pass(until: number): void {
    while (this.state.wakeAt !== undefined && this.state.wakeAt <= until && this.state.wakeAt > this.now) {
      this.now = this.state.wakeAt;
      this.receive([{ kind: 'TimerFired' }]);
      for (const id of [...this.doomed]) this.exit(id);
    }
    this.now = until;
  }

  forgetPromises(): void {
    this.promises.clear();
    this.head = { id: 0, latest: Infinity };
  }

  lose(node: number): void {
    this.away.add(node);
    this.forgetPromises();
    this.reportAway();
    for (const [requestId, grants] of [...this.living])
      this.receive(
        grants.flatMap((grant, processIndex): ClusterInput[] =>
          grant.node === node
            ? [{ kind: 'ProcessExited', requestId, processIndex, exitStatus: 255, reason: 'MUT_NODE_LOST' }]
            : [],
        ),
      );
    for (const id of [...this.doomed]) this.exit(id);
    for (const id of [...this.living.keys()])
      if (this.state.requests.get(id)?.status !== 'running') this.living.delete(id);
    this.forgetPromises();
  }

  bringBack(): void {
    this.away = new Set();
    this.forgetPromises();
    this.reportAway();
    this.forgetPromises();
  }

  reportAway(): void {
    const nodes = [...this.away].sort((one, other) => one - other);
    const count = nodes.reduce((sum, node) => sum + (this.nodes[node]?.processors ?? 0), 0);
    this.receive([{ kind: 'ProcessorsAway', count, nodes }]);
  }

  crash(time: number): void {
    this.now += time;
    this.living.clear();
    this.doomed.clear();
    this.away = new Set();
    this.state = this.replayed();
    this.forgetPromises();
    this.receive([{ kind: 'ClusterStarted', nodesAway: [] }]);
    this.forgetPromises();
  }

  replayed(): ClusterState {
    const state = this.newState();
    for (const change of this.journal) clusterMachine.apply(state, structuredClone(change));
    return state;
  }
}

/** All that a state promises, as plain values. */
function getPromised(state: ClusterState): unknown {
  const { plan } = state;
  if (plan.kind !== 'nodes') return undefined;
  plan.check();
  return JSON.parse(
    JSON.stringify({
      ...takeSnapshot(state),
      waiting: [...plan.waiting.values()].map(({ id, startsAt }) => [id, startsAt ?? null, plan.getParts(id)]),
    }),
  );
}

const byScores: BucOrder = { weight: 1.5e-8, leadMax: 40 };
const policies = [
  conservativeBackfilling('start-now'),
  conservativeBackfilling('reinsert'),
  easyBackfilling,
  firstComeFirstServed,
];
const services: Service[] = [
  ...policies.map((policy) => ({ policy })),
  ...policies.map((policy) => ({ policy, order: byScores })),
];
const nameOf = ({ policy, order }: Service): string => (order === undefined ? policy.name : `${policy.name} by scores`);

for (const service of services)
  test(`under ${nameOf(service)} nothing of a node is given twice, promises hold, all starts in the end, and the journal says so`, (t) => {
    fc.assert(
      fc.property(
        anyNodes,
        fc.array(fc.oneof({ weight: 14, arbitrary: anyAction }, { weight: 1, arbitrary: anyTrouble }), {
          maxLength: 60,
        }),
        (nodes, actions) => {
          const world = new World(service, nodes);
          for (const action of actions) world.act(action);
          t.deepEqual(getPromised(world.replayed()), getPromised(world.state));
          const restored = restoreSnapshot(
            world.state.options,
            JSON.parse(JSON.stringify(takeSnapshot(world.state))) as ClusterSnapshot,
          );
          t.deepEqual(getPromised(restored), getPromised(world.state));
          t.is(world.broken, '');
          world.bringBack();
          world.pass(world.now + 3000);
          t.is(world.broken, '');
          return world.state.plan.waiting.size + world.state.plan.running.size === 0;
        },
      ),
      runs(20_261_129, 150),
    );
  });

test('first come, first served starts requests of any shape in the order of arrival', (t) => {
  fc.assert(
    fc.property(anyNodes, fc.array(anyAction, { ...longRuns, maxLength: 50 }), (nodes, actions) => {
      const world = new World({ policy: firstComeFirstServed }, nodes);
      for (const action of actions) world.act(action);
      return world.started.every((id, index) => index === 0 || id > (world.started[index - 1] ?? 0));
    }),
    runs(20_261_130, 100),
  );
  t.pass();
});

test('the earliest place of a request is the first instant at which it fits, tried instant by instant', (t) => {
  const anyRequest = fc.record({
    slots: fc.integer({ min: 1, max: 3 }),
    slot: fc.option(anySlot, { nil: undefined }),
    walltime: fc.integer({ min: 1, max: 12 }),
  });
  fc.assert(
    fc.property(anyNodes, fc.array(anyRequest, { minLength: 1, maxLength: 8 }), (nodes, requests) => {
      const plan = new NodePlan(nodes, [], 0);
      for (const [id, { slots, slot, walltime }] of requests.entries()) {
        plan.add(id, { width: slots * (slot?.processors ?? 1), walltime, shape: slot });
        const request = plan.getWaiting(id);
        const slow = Array.from({ length: 120 }, (_, at) => at).find((at) => plan.fits(request, at)) ?? Infinity;
        if (plan.findEarliestPlace(request, 0) !== slow) return false;
        if (slow < Infinity) plan.place(id, slow, plan.findParts(id, slow, -1));
        plan.check();
      }
      return true;
    }),
    runs(20_261_131, 300),
  );
  t.pass();
});
