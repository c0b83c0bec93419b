import test from 'ava';

import {
  decodeAllocationRequest,
  decodeDemand,
  decodeResourceStatus,
  encodeAllocationRequest,
  encodeDemand,
  encodeResourceStatus,
  readClaim,
} from '@mutirao/api/codecs';
import { nameReservation, type AllocationRequest, type Demand, type ResourceStatus } from '@mutirao/core/messages';
import { aClaim } from '@mutirao/testkit';

import {
  AllocationRequest as AllocationRequestWire,
  Demand as DemandWire,
  ResourceStatus as ResourceStatusWire,
  type RequestStatus,
} from '../../../src/generated/mutirao/provider/v1/provider.ts';

test('a demand comes out as it went in, with what it does not say left unsaid', (t) => {
  const demand: Demand = {
    pendingTasks: 5,
    processors: 2,
    taskTimeMax: undefined,
    taskTimeMean: undefined,
    deadline: undefined,
    userId: 'ana',
  };
  const seen: Demand = { ...demand, taskTimeMax: 10, taskTimeMean: 0, deadline: 99 };
  const placed: Demand = {
    ...seen,
    unplacedTasks: 0,
    statedTime: 5000,
    taskTimes: { count: 7, censoredCount: 3, median: 5, ninetieth: 9, ninetyNinth: undefined },
  };
  const reserved: Demand = { ...placed, reserved: [{ ...readClaim(aClaim()), processors: 2 }] };
  const moved: Demand = {
    ...placed,
    reserved: [{ ...readClaim(aClaim()), startsAt: 7000, endsAt: 11_000, amount: 9, hasMoved: true, processors: 2 }],
  };
  for (const one of [demand, seen, placed, reserved, moved])
    t.deepEqual(decodeDemand(DemandWire.decode(DemandWire.encode(encodeDemand(one)).finish())), one);
  t.throws(
    () =>
      decodeDemand({
        ...encodeDemand(demand),
        reserved: [{ claim: aClaim(), processors: 0, startUnixMs: undefined, endUnixMs: undefined }],
      }),
    { code: 'MUT_BAD_REQUEST', message: /reserved\[0\]/ },
  );
  t.throws(
    () =>
      decodeDemand({
        ...encodeDemand(demand),
        reserved: [{ claim: 'x.y.z', processors: 1, startUnixMs: undefined, endUnixMs: undefined }],
      }),
    { code: 'MUT_CLAIM_FORGED' },
  );
  t.throws(
    () =>
      decodeDemand({
        ...encodeDemand(demand),
        reserved: [{ claim: aClaim(), processors: 1, startUnixMs: 2, endUnixMs: 2 }],
      }),
    { code: 'MUT_BAD_REQUEST', message: /from 2 to 2/ },
  );
  t.throws(() => decodeDemand({ ...encodeDemand(demand), processors: 0 }), {
    code: 'MUT_BAD_REQUEST',
    message: /processors is 0/,
  });
});

test('how a resource stands comes out as it went in, and nonsense of its queue is refused', (t) => {
  const idle: ResourceStatus = { processors: 0, widthMax: 0, isTimeShared: true, isDraining: false };
  const known = {
    count: 3,
    widthSum: 9,
    workSum: 9.5e15,
    lastEnd: 70,
    weightedEnds: 400,
    turnarounds: 90,
    weightedTurnarounds: 800,
    workedTurnarounds: 1e17,
    walltimes: 75,
    free: [
      { at: 0, processors: 3 },
      { at: 70, processors: 5 },
    ],
  };
  const busy: ResourceStatus = {
    processors: 8,
    widthMax: 6,
    isTimeShared: false,
    isDraining: true,
    queue: { age: 7, trouble: 'squeue hung', ownWork: 12, known },
  };
  for (const one of [idle, busy])
    t.deepEqual(
      decodeResourceStatus(ResourceStatusWire.decode(ResourceStatusWire.encode(encodeResourceStatus(one)).finish())),
      one,
    );
  const wire = encodeResourceStatus(busy);
  t.throws(() => decodeResourceStatus({ ...wire, widthProcessorsMax: 9 }), {
    code: 'MUT_BAD_REQUEST',
    message: /is 9; expected at most its 8/,
  });
  t.throws(() => decodeResourceStatus({ ...wire, processors: 9 }), {
    code: 'MUT_BAD_REQUEST',
    message: /has 8 processors; expected the 9/,
  });
  t.throws(() => decodeResourceStatus({ ...wire, queue: { ...wire.queue!, free: [...wire.queue!.free].reverse() } }), {
    code: 'MUT_BAD_REQUEST',
    message: /has 0 behind 70/,
  });
  for (const bad of [-1, NaN, Infinity])
    t.throws(() => decodeResourceStatus({ ...wire, queue: { ...wire.queue!, ownWorkProcessorMs: bad } }), {
      code: 'MUT_BAD_REQUEST',
      message: /ownWorkProcessorMs/,
    });
});

test('an allocation request comes out as it went in, whatever its status', (t) => {
  const request: AllocationRequest = {
    providerId: 'alpha',
    requestId: '1',
    managerRequestId: '17',
    width: 4,
    walltime: 1000,
    status: 'queued',
    seenAt: 1,
    submittedAt: 2,
    startedAt: 3,
    endedAt: 4,
    reasons: [
      { code: 'released-idle', idleMs: 10_000 },
      { code: 'request-machines', machineIds: ['a', 'b'] },
    ],
    heuristic: 'static',
    candidates: [
      { width: 4, walltime: 30_000, startsAt: 12, throughput: 0.5, chosen: true },
      { width: 8, walltime: 1, startsAt: 0, throughput: 64, chosen: false },
    ],
  };
  for (const status of ['drafted', 'submitting', 'queued', 'running', 'ended', 'rejected', 'vanished'] as const) {
    const wire = encodeAllocationRequest({ ...request, status });
    t.deepEqual(decodeAllocationRequest(AllocationRequestWire.decode(AllocationRequestWire.encode(wire).finish())), {
      ...request,
      status,
    });
  }
  const inside: AllocationRequest = {
    ...request,
    reservation: { ...nameReservation(readClaim(aClaim())), overCode: 'MUT_RESERVATION_OVER' },
  };
  const moved: AllocationRequest = {
    ...inside,
    reservation: { ...nameReservation(readClaim(aClaim())), overCode: '', movedTo: { startsAt: 7000, endsAt: 11_000 } },
  };
  const resized: AllocationRequest = {
    ...inside,
    reservation: {
      ...nameReservation(readClaim(aClaim())),
      overCode: '',
      movedTo: { startsAt: 7000, endsAt: 11_000, amount: 3 },
    },
  };
  for (const one of [inside, moved, resized])
    t.deepEqual(
      decodeAllocationRequest(
        AllocationRequestWire.decode(AllocationRequestWire.encode(encodeAllocationRequest(one)).finish()),
      ),
      one,
    );
  t.throws(() => decodeAllocationRequest({ ...encodeAllocationRequest(request), status: 12 as RequestStatus }), {
    code: 'MUT_BAD_REQUEST',
  });
});
