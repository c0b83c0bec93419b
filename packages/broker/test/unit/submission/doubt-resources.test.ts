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
  t.deepEqual(said(asking({ gpus: 4000 }), state), [
    'a task needs 4 GPUs; the most that a known machine has is 2 GPUs',
  ]);
  t.deepEqual(said(asking({ memory: 100 * gibibyte }), state), [
    'a task needs 100 GiB of memory; the most that a known machine has is 64 GiB of memory',
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
