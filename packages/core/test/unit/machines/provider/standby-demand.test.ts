// What a provider asks for that goes on alone: slots for leased tasks, those of least first.
import test from 'ava';
import type { Demand, LeaseOutlineGroup } from '@mutirao/core/messages';
import type { ProviderChange } from '@mutirao/core/machines/provider';
import type { NodeShape } from '@mutirao/core/resources';
import { ProviderHarness } from '@mutirao/testkit';

const mebibyte = 2 ** 20;
const nodes: readonly NodeShape[] = [{ count: 4, processors: 8, memory: 16 * 1024 * mebibyte, gpus: {} }];

const limits = { processors: 32, requestsMax: 2, widthMax: 32, walltimeMax: 3_600_000, walltimeGranularity: 1 };

function group(
  first: number,
  count: number,
  needs: Pick<LeaseOutlineGroup, 'processors' | 'resources'>,
): LeaseOutlineGroup {
  return { replicas: [{ first, count }], requirements: '', taskTime: 0, hasInputs: false, ...needs };
}

/** @param before what happens before the broker goes away; answers what is listed afterwards. */
function goAlone(
  groups: readonly LeaseOutlineGroup[],
  known: readonly NodeShape[] | 'unknown' = nodes,
  before: (harness: ProviderHarness) => string = () => 'listing free=32',
): ProviderHarness {
  const harness = new ProviderHarness({ heuristic: 'static' });
  harness.perform(['start', 'connect b']);
  harness.step([
    {
      kind: 'LimitsRead',
      limits: {
        ...limits,
        ...(known === 'unknown' ? {} : { nodes: known }),
      },
    },
  ]);
  harness.perform(['listing free=32']);
  const connectionId = harness.state.brokers.get('b')?.connectionId ?? 0;
  harness.step([{ kind: 'LeaseGranted', brokerId: 'b', connectionId, lease: { sequence: 1, horizon: 9e6, groups } }]);
  const listing = before(harness);
  harness.perform(['at 1000', 'disconnect b']);
  harness.perform(['at 7000', listing]);
  return harness;
}

function drafts({ journal }: ProviderHarness): Extract<ProviderChange, { kind: 'RequestDrafted' }>[] {
  return journal.filter((change) => change.kind === 'RequestDrafted');
}

const memory = { memory: 960 * mebibyte, gpus: 0, named: {} };
const slot = { processors: 3, memory: 960 * mebibyte, gpus: 0 };

test('leased tasks of several processors and memory are asked for in slots', (t) => {
  const [draft, ...others] = drafts(goAlone([group(10, 2, { processors: 3, resources: memory })]));
  t.deepEqual(draft?.slot, slot);
  t.is((draft?.width ?? 0) + (others[0]?.width ?? 0), 6);
});

test('single processors are asked for first, and then the slots of the others', (t) => {
  const harness = goAlone([group(10, 2, { processors: 3, resources: memory }), group(20, 4, { processors: 1 })]);
  const plain = drafts(harness);
  t.deepEqual(
    plain.map((draft) => [draft.slot, draft.width]),
    [
      [undefined, 2],
      [undefined, 2],
    ],
  );
  harness.perform(['accepted q1', 'accepted q2']);
  harness.perform(['at 12000']);
  harness.step([{ kind: 'LimitsRead', limits: { ...limits, requestsMax: 4, nodes } }]);
  t.deepEqual(drafts(harness)[2]?.slot, slot);
});

test('a manager that knows no nodes is asked for nothing that needs several processors', (t) => {
  t.deepEqual(drafts(goAlone([group(10, 2, { processors: 3, resources: memory })], 'unknown')), []);
  const [draft] = drafts(goAlone([group(10, 2, { processors: 1, resources: memory })], 'unknown'));
  t.is(draft?.width, 1);
  t.is(draft?.slot, undefined);
});

test('what the broker wanted last, and no node has, keeps nothing from its leased tasks', (t) => {
  const runPlain = (harness: ProviderHarness): string => {
    const running = 'listing free=24 q1=running@1 q2=running@1';
    harness.perform(['demand b 8']);
    harness.perform(['accepted q1', 'accepted q2', running]);
    const wide = { pendingTasks: 1, processors: 1, slot: { processors: 1, memory: 0, gpus: 4000 } };
    const demand = { ...harness.state.brokers.get('b')?.demand, ...wide } as Demand;
    harness.step([
      { kind: 'DemandChanged', brokerId: 'b', demand },
      { kind: 'LimitsRead', limits: { ...limits, requestsMax: 4, nodes } },
    ]);
    return running;
  };
  const harness = goAlone([group(10, 2, { processors: 3, resources: memory })], nodes, runPlain);
  t.deepEqual(drafts(harness)[2]?.slot, slot);
});
