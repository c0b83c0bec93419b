import test from 'ava';

import { decodeLease, encodeLease } from '@mutirao/api/codecs';
import { outlineLease } from '@mutirao/core/bag';
import type { Lease, ReplicaStart } from '@mutirao/core/messages';

import { Lease as LeaseWire } from '../../../src/generated/mutirao/provider/v1/provider.ts';

const template = {
  jobId: 7,
  userId: 'ana',
  command: 'run {}',
  noOp: false,
  environment: {},
  limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
  processors: 2,
};
const start = (replicaId: number): ReplicaStart => ({
  replicaId,
  taskIndex: 100 - replicaId,
  value: String(replicaId),
  inputs: [],
  outputs: [],
});
const lease: Lease = {
  sequence: 3,
  horizon: 3_600_000,
  groups: [
    { start: { template, replicas: [start(5), start(6), start(9)] }, requirements: 'os = linux', taskTime: 1000 },
  ],
};

test('a lease comes out as it went in, also an empty one', (t) => {
  for (const one of [lease, { ...lease, groups: [] }, { ...lease, quarantined: ['iron', 'p/m'] }])
    t.deepEqual(decodeLease(LeaseWire.decode(LeaseWire.encode(encodeLease(one)).finish())), one);
  t.throws(() => decodeLease({ ...encodeLease(lease), sequence: 0 }), {
    code: 'MUT_BAD_REQUEST',
    message: /sequence is 0/,
  });
  t.throws(
    () => decodeLease({ ...encodeLease(lease), groups: [{ start: undefined, requirements: '', taskTimeMs: 0 }] }),
    { code: 'MUT_BAD_REQUEST', message: /start is absent/ },
  );
});

test('the outline of a lease has its ids in their order, and no group that nothing could be staged of', (t) => {
  const input = { root: 'playpen' as const, path: 'data', content: { sha256: '0'.repeat(64), size: 1 }, mode: 0o644 };
  const staged = {
    start: { template, replicas: [{ ...start(2), inputs: [input] }, start(1)] },
    requirements: '',
    taskTime: 0,
  };
  t.deepEqual(
    outlineLease({ ...lease, groups: [...lease.groups, { ...staged, start: { template, replicas: [] } }, staged] }),
    {
      sequence: 3,
      horizon: 3_600_000,
      groups: [
        {
          replicas: [
            { first: 5, count: 2 },
            { first: 9, count: 1 },
          ],
          processors: 2,
          requirements: 'os = linux',
          taskTime: 1000,
          hasInputs: false,
        },
        {
          replicas: [
            { first: 2, count: 1 },
            { first: 1, count: 1 },
          ],
          processors: 2,
          requirements: '',
          taskTime: 0,
          hasInputs: true,
        },
      ],
    },
  );
});
