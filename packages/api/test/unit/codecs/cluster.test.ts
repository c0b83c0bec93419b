import test from 'ava';
import { AllocateRequest, GetQueueResponse, RequestStatus } from '@mutirao/api/cluster';
import {
  decodeAllocateRequest,
  decodeGetQueueRequest,
  decodeLimitsOf,
  decodeQueueListing,
  decodeReleaseRequest,
  encodeAllocateRequest,
  encodeLimitsOf,
  encodeQueueListing,
} from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { QueueListing, RequestOrder } from '@mutirao/core/messages';

const order: RequestOrder = {
  userId: 'ana',
  width: 4,
  walltime: 60_000,
  command: ['/bin/echo', ''],
  environment: { A_1: 'b=c' },
  workingDirectory: '/srv',
  clientRequestId: 'k1',
};
const wire = encodeAllocateRequest(order);

/** The same listing where the queue is by scores. */
function byScores(): QueueListing {
  return {
    ...listing,
    ranking: { weight: 1440, leadMax: 144_000_000, score: 96.14 },
    requests: listing.requests.map((request, index) =>
      index === 0 ? { ...request, rankedAt: 1_699_999_000_000 } : request,
    ),
  };
}

const listing: QueueListing = {
  at: 1_700_000_000_000,
  processorsFree: 3,
  requests: (['queued', 'running', 'ended'] as const).map((status, i) => ({
    managerRequestId: String(i + 1),
    userId: 'ana',
    width: 2,
    walltime: 10_000,
    status,
    submittedAt: 1_700_000_000_000 + i,
    startsAt: 5,
    endedAt: 0,
    endReason: 'MUT_RELEASED',
    clientRequestId: 'k',
  })),
};

test('an order goes over the wire and comes back the same', (t) => {
  t.deepEqual(decodeAllocateRequest(AllocateRequest.decode(AllocateRequest.encode(wire).finish())), order);
});

test('a listing and limits go over the wire and come back the same', (t) => {
  t.deepEqual(
    decodeQueueListing(GetQueueResponse.decode(GetQueueResponse.encode(encodeQueueListing(listing)).finish())),
    listing,
  );
  t.deepEqual(
    decodeQueueListing(GetQueueResponse.decode(GetQueueResponse.encode(encodeQueueListing(byScores())).finish())),
    byScores(),
  );
  t.throws(
    () =>
      decodeQueueListing({ ...encodeQueueListing(byScores()), ranking: { weight: 1440, leadMsMax: 1, score: 101 } }),
    { message: /a score of 101; expected a weight above 0 and a score from 0 to 100/ },
  );
  const limits = { processors: 8, requestsMax: 2, walltimeMax: 3_600_000, widthMax: 4, walltimeGranularity: 1000 };
  t.deepEqual(decodeLimitsOf(encodeLimitsOf(limits)), limits);
  t.throws(() => decodeLimitsOf({ ...encodeLimitsOf(limits), walltimeGranularityMs: 0 }), { instanceOf: MutiraoError });
});

for (const [wrong, message] of [
  [{ widthProcessors: 0 }, /width_processors is 0/],
  [{ walltimeMs: 0 }, /walltime_ms is 0/],
  [{ command: [] }, /command is empty/],
  [{ command: [''] }, /command is empty/],
  [{ command: ['a', 'b\0'] }, /command\[1\] holds a NUL/],
  [{ environment: { 'A=B': '' } }, /environment has the name "A=B"/],
  [{ workingDirectory: 'srv' }, /expected an absolute path/],
  [{ clientRequestId: 'k'.repeat(257) }, /client_request_id has 257/],
  [{ command: new Array<string>(4097).fill('x') }, /command has 4097 words/],
] as const) {
  test(`an order is refused with what is wrong: ${JSON.stringify(wrong).slice(0, 40)}, ${String(message)}`, (t) => {
    t.like(
      t.throws(() => decodeAllocateRequest({ ...wire, ...wrong } as AllocateRequest), {
        instanceOf: MutiraoError,
        message,
      }),
      { code: 'MUT_BAD_REQUEST' },
    );
  });
}

test('a request is released by a number counted from 1', (t) => {
  t.is(decodeReleaseRequest({ requestId: '17' }), 17);
  for (const requestId of ['', '0', '-1', '1.5', 'x', '1'.repeat(16)])
    t.throws(() => decodeReleaseRequest({ requestId }), { instanceOf: MutiraoError });
});

test('a listing is bounded and unknown statuses are refused', (t) => {
  t.deepEqual(decodeGetQueueRequest({ endedMax: 10, userId: 'ana' }), { endedMax: 10, userId: 'ana' });
  t.throws(() => decodeGetQueueRequest({ endedMax: 10_001, userId: '' }), { message: /ended_max is 10001/ });
  t.throws(() => decodeGetQueueRequest({ endedMax: 1, userId: 'x'.repeat(257) }), { message: /user_id has 257/ });
  const strange = encodeQueueListing(listing).requests.map((request) => ({
    ...request,
    status: RequestStatus.UNSPECIFIED,
  }));
  t.throws(
    () =>
      decodeQueueListing({
        atUnixMs: 0,
        processorsFree: 0,
        requests: strange,
        reservations: [],
        ranking: undefined,
        nodes: [],
      }),
    { instanceOf: MutiraoError, message: /status of request 1/ },
  );
});
