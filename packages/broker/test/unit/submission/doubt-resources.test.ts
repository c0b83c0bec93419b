// What tasks ask for that no known machine has is said at submission, and nothing is refused for it.
import test from 'ava';

import { sayReason } from '@mutirao/api/reasons';
import { brokerMachine, createBrokerState, type BrokerState } from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import { emptyRequest, type ResourceCapacity, type ResourceRequest } from '@mutirao/core/resources';
import { aGroup, aJob, aMachine } from '@mutirao/testkit';

import { doubtResources } from '../../../src/submission/doubt-resources.ts';

const gibibyte = 2 ** 30;
const node: ResourceCapacity = {
  memory: 64 * gibibyte,
  gpus: [
    { id: '0', kind: 'a100' },
    { id: '1', kind: 'a100' },
  ],
  named: { licence: 2 },
};

function stateWith(...capacities: readonly ResourceCapacity[]): BrokerState {
  const state = createBrokerState();
  brokerMachine.step(
    state,
    [
      { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
      { kind: 'ProviderConnected', providerId: 'p' },
      ...capacities.map((capacity, index) => ({
        kind: 'MachineJoined' as const,
        providerId: 'p',
        facts: aMachine(`p/${index}`, { capacity }),
        heldReplicaIds: [],
      })),
    ],
    1,
  );
  return state;
}

function asking(changes: Partial<ResourceRequest>): JobSpec {
  return aJob(1, { resources: { ...emptyRequest, ...changes } });
}

function said(spec: JobSpec, state: BrokerState): string[] {
  return doubtResources(spec, state).map((doubt) => sayReason(doubt));
}

test('a request for too much, for an unknown kind or for an unknown name is answered with what machines have', (t) => {
  const state = stateWith(node);
  t.deepEqual(said(asking({ gpus: 4000 }), state), ['a task needs 4 GPUs; the largest known machine has 2 GPUs']);
  t.deepEqual(said(asking({ memory: 100 * gibibyte }), state), [
    'a task needs 100 GiB of memory; the largest known machine has 64 GiB of memory',
  ]);
  t.deepEqual(said(asking({ gpus: 1000, gpuKind: 'h100' }), state), [
    'a task needs 1 h100 GPU; no known machine has any; did you mean "a100"?',
  ]);
  t.deepEqual(said(asking({ named: { license: 1 } }), state), [
    'a task needs 1 license; no known machine has any; did you mean "licence"?',
  ]);
});

test('nothing is said where a machine has it, where nobody asks, and where no machine is known', (t) => {
  t.deepEqual(said(asking({ gpus: 2000, memory: gibibyte }), stateWith(node)), []);
  t.deepEqual(said(aJob(1), stateWith(node)), []);
  t.deepEqual(said(asking({ gpus: 2000 }), stateWith()), []);
});

test('what no single machine has at once is said, and a group speaks for itself', (t) => {
  const state = stateWith({ ...node, gpus: [] }, { ...node, memory: gibibyte });
  t.deepEqual(said(asking({ gpus: 1000, memory: 8 * gibibyte }), state), [
    'no known machine has everything that a task needs at once',
  ]);
  const own = { ...asking({ gpus: 9000 }), groups: [aGroup(1, { resources: { ...emptyRequest, gpus: 1000 } })] };
  t.deepEqual(said(own, state), []);
});

/** A grid of a machine of a lab, and a cluster of which nodes are known and no machine has joined. */
function clusterAndLab(): BrokerState {
  const state = stateWith({ ...node, gpus: [], named: {} });
  const nodes = [{ count: 2, processors: 16, memory: 128 * gibibyte, gpus: { h100: 4 } }];
  const resourceStatus = { processors: 32, widthMax: 32, isTimeShared: false, isDraining: false, nodes };
  brokerMachine.step(
    state,
    [
      { kind: 'ProviderAdded', replyTo: 0, providerId: 'c', address: 'h:2' },
      { kind: 'ProviderConnected', providerId: 'c' },
      { kind: 'ResourceReported', providerId: 'c', resourceStatus },
    ],
    2,
  );
  return state;
}

test('nodes of a cluster count before a machine of it has joined', (t) => {
  const state = clusterAndLab();
  t.deepEqual(said(asking({ gpus: 4000, memory: 100 * gibibyte }), state), []);
  t.deepEqual(said(asking({ gpus: 1000, gpuKind: 'a100' }), state), [
    'a task needs 1 a100 GPU; no known machine has any; did you mean "h100"?',
  ]);
  t.deepEqual(said(asking({ memory: 256 * gibibyte }), state), [
    'a task needs 256 GiB of memory; the largest known machine has 128 GiB of memory',
  ]);
  // What is counted on its nodes nobody knows before one was seen.
  t.deepEqual(said(asking({ named: { licence: 1 } }), state), []);
});

test('a task that is wider than any machine or node is doubted, also if a lab may bring any', (t) => {
  const state = clusterAndLab();
  t.deepEqual(said({ ...aJob(1), processors: 17 }, state), [
    'a task needs 17 processors of one machine; the largest known machine has 16. --gang combines processors of several machines; "mutirao up --cluster-nodes" and "mutirao machine add" add larger machines',
  ]);
  t.deepEqual(said({ ...aJob(1), processors: 16 }, state), []);
  t.deepEqual(said({ ...aJob(1), processors: 17, gang: true, replicasMax: 1 }, state), []);
});

test('a task with an alternative that a machine has is not doubted', (t) => {
  const { groups, ...spec } = asking({ gpus: 9000 });
  const withAlternative = { ...spec, groups: groups.map((group) => ({ ...group, alternatives: [{ processors: 1 }] })) };
  t.deepEqual(said(withAlternative, clusterAndLab()), []);
});

test('a gang that is wider than any provider is doubted, unless the size of a provider is unknown', (t) => {
  const state = clusterAndLab();
  const ofWidth = (processors: number): JobSpec => ({ ...aJob(1), processors, gang: true, replicasMax: 1 });
  brokerMachine.step(
    state,
    [
      {
        kind: 'ResourceReported',
        providerId: 'p',
        resourceStatus: { processors: 0, widthMax: 0, isTimeShared: true, isDraining: false },
      },
    ],
    3,
  );
  t.deepEqual(said(ofWidth(33), state), ['a task needs 33 processors of one provider; the largest, c, has 32']);
  t.deepEqual(said(ofWidth(32), state), []);
  brokerMachine.step(state, [{ kind: 'ProviderAdded', replyTo: 0, providerId: 'new', address: 'h:3' }], 4);
  t.deepEqual(said(ofWidth(33), state), []);
});
