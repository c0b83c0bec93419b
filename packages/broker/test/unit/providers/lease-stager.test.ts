// Leases as they leave for providers: whole, in order, and only the latest.
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';

import { Lease, type LeaseRevocation } from '@mutirao/api/provider';
import { aJob } from '@mutirao/testkit';

import { LeaseStager, type LeasePart } from '../../../src/providers/lease-stager.ts';
import type { StagedBatch, StageOrder } from '../../../src/staging/stager.ts';

const template = {
  jobId: 1,
  userId: 'ana',
  command: '',
  noOp: true,
  environment: {},
  limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
  processors: 1,
};

function aPart(replicaIds: readonly number[]): LeasePart {
  const starts = replicaIds.map((replicaId) => ({ replicaId, taskIndex: replicaId }));
  return {
    order: {
      jobId: 1,
      userId: 'ana',
      spec: aJob(1),
      groupIndex: 0,
      groupFirst: 0,
      machineId: '',
      attributes: {},
      starts,
    },
    requirements: 'os == linux',
    taskTime: 50,
  };
}

function getStaged({ starts }: StageOrder, value = ''): StagedBatch {
  return {
    batch: { template, replicas: starts.map((start) => ({ ...start, value, inputs: [], outputs: [] })) },
    unstartable: [],
    sources: [],
  };
}

function prepare(
  parts: LeasePart[],
  stage: (order: StageOrder) => StagedBatch | Promise<StagedBatch>,
): { stager: LeaseStager; sent: Lease[]; trimmed: number[][]; link: { epoch: number; capabilities: string[] } } {
  const sent: Lease[] = [];
  const trimmed: number[][] = [];
  const link = {
    epoch: 1,
    capabilities: ['lease', 'lease-revocation'],
    can: (capability: string) => link.capabilities.includes(capability),
    send: ({ $case, value }: { $case: string; value: unknown }) => {
      if ($case === 'leaseRevocation') trimmed.push((value as LeaseRevocation).replicaIds);
      else sent.push(value as Lease);
    },
  };
  const stager = new LeaseStager({
    findLink: (providerId) => (providerId === 'alpha' ? link : undefined),
    getParts: () => parts,
    stage,
    onGranted: () => undefined,
    onBug: (error) => {
      throw error;
    },
  });
  return { stager, sent, trimmed, link };
}

const grant = { kind: 'GrantLease', providerId: 'alpha', horizon: 3_600_000, parts: [] } as const;
const listIds = ({ groups }: Lease): (number[] | undefined)[] =>
  groups.map(({ start }) => start?.replicas.map(({ replicaId }) => replicaId));

test('a lease holds what can be staged, in the order of the grant', async (t) => {
  const { stager, sent } = prepare([aPart([9, 7]), aPart([5]), aPart([3])], (order) =>
    order.starts[0]?.replicaId === 5
      ? {
          batch: { template, replicas: [] },
          unstartable: [{ replicaId: 5, reason: 'MUT_INPUT_MISSING', detail: '' }],
          sources: [],
        }
      : getStaged(order),
  );
  stager.grant({ ...grant, sequence: 1 });
  await turn();
  t.deepEqual(sent.map(listIds), [[[9, 7], [3]]]);
  t.like(sent[0], { sequence: 1, horizonMs: 3_600_000 });
  t.like(sent[0]?.groups[0], { requirements: 'os == linux', taskTimeMs: 50 });
});

test('of two leases that are being staged only the later is sent, and none over a later connection', async (t) => {
  const disk = [
    Promise.withResolvers<undefined>(),
    Promise.withResolvers<undefined>(),
    Promise.withResolvers<undefined>(),
  ];
  let count = 0;
  const { stager, sent, link } = prepare([aPart([1])], async (order) => {
    await disk[count++]?.promise;
    return getStaged(order);
  });
  stager.grant({ ...grant, sequence: 1 });
  stager.grant({ ...grant, sequence: 2 });
  disk[1]?.resolve(undefined);
  await turn();
  disk[0]?.resolve(undefined);
  await turn();
  t.deepEqual(
    sent.map(({ sequence }) => sequence),
    [2],
  );
  stager.grant({ ...grant, sequence: 3 });
  link.epoch = 2;
  disk[2]?.resolve(undefined);
  await turn();
  t.is(sent.length, 1);
});

test('a lease that would be too large for a message loses its end', async (t) => {
  const { stager, sent } = prepare([aPart([1, 2, 3, 4]), aPart([5, 6, 7, 8])], (order) =>
    getStaged(order, 'x'.repeat(3 * 1024 * 1024)),
  );
  stager.grant({ ...grant, sequence: 1 });
  await turn();
  t.deepEqual(sent.map(listIds), [[[1, 2]]]);
  t.true(Lease.encode(sent[0] as Lease).finish().length < 8 * 1024 * 1024);
});

test('of two tellings of one lease that are being staged only the later is sent', async (t) => {
  const disk = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  let count = 0;
  const { stager, sent } = prepare([aPart([1])], async (order) => {
    await disk[count++]?.promise;
    return getStaged(order);
  });
  stager.grant({ ...grant, sequence: 1 });
  stager.grant({ ...grant, sequence: 1, quarantined: ['iron'] });
  disk[1]?.resolve(undefined);
  await turn();
  disk[0]?.resolve(undefined);
  await turn();
  t.deepEqual(
    sent.map(({ quarantinedIdentities }) => quarantinedIdentities),
    [['iron']],
  );
});

test('replicas placed while a lease is staged are left out of it, and a provider that supports it is notified of those leased before', async (t) => {
  const disk = Promise.withResolvers<undefined>();
  const { stager, sent, trimmed, link } = prepare([aPart([1, 2, 3]), aPart([4])], async (order) => {
    await disk.promise;
    return getStaged(order);
  });
  stager.grant({ ...grant, sequence: 1 });
  stager.trim({ kind: 'RevokeLease', providerId: 'alpha', replicaIds: [2, 4] });
  disk.resolve(undefined);
  await turn();
  t.deepEqual(sent.map(listIds), [[[1, 3]]]);
  link.capabilities = ['lease'];
  stager.trim({ kind: 'RevokeLease', providerId: 'alpha', replicaIds: [3] });
  t.deepEqual(trimmed, [[2, 4]], 'an older release closes the stream at what it does not know');
});
