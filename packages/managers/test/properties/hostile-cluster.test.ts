// Whatever a cluster says in any field of an answer, the provider that uses it refuses it or takes it, and stays whole.
import test from 'ava';
import { decodeAllocateResponse, decodeLimitsOf, decodeMessage, decodeQueueListing } from '@mutirao/api/codecs';
import { ClusterServiceService, RequestStatus } from '@mutirao/api/cluster';
import { MutiraoError } from '@mutirao/api/errors';
import type { ProviderInput } from '@mutirao/core/machines/provider';
import { hostileMessages, messagesOfMethod, ProviderHarness } from '@mutirao/testkit';

type Answer = 'getQueue' | 'getLimits' | 'allocate';

const entry = {
  requestId: '1',
  userId: 'ana',
  widthProcessors: 3,
  walltimeMs: 30_000,
  status: RequestStatus.QUEUED,
  submittedUnixMs: 10,
  startsUnixMs: 5000,
  endedUnixMs: 0,
  endReason: '',
  clientRequestId: 'i.q1',
  reservationId: 0,
  rankedUnixMs: 0,
};
const answers = {
  getQueue: {
    atUnixMs: 100,
    processorsFree: 1,
    requests: [
      { ...entry },
      { ...entry, requestId: '7', userId: 'bob', status: RequestStatus.RUNNING, clientRequestId: 'x', rankedUnixMs: 9 },
      {
        ...entry,
        slot: { processors: 2, memoryBytes: 2 ** 30, gpus: 1, gpuKind: 'a100' },
        requestId: '8',
        status: RequestStatus.ENDED,
        endedUnixMs: 90,
        endReason: 'done',
        clientRequestId: 'i.q2',
      },
    ],
    reservations: [
      {
        reservationId: 7,
        userId: 'ana',
        processors: 2,
        processorsUsed: 1,
        startUnixMs: 6000,
        endUnixMs: 9000,
        lateMs: 5,
      },
    ],
    ranking: { weight: 0.5, leadMsMax: 1000, score: 40 },
    nodes: [],
  },
  getLimits: {
    processors: 4,
    requestsMax: 2,
    walltimeMsMax: 60_000,
    widthProcessorsMax: 4,
    walltimeGranularityMs: 1000,
    nodes: [{ nodes: 2, processors: 4, memoryBytes: 2 ** 33, gpus: { a100: 2 } }],
  },
  allocate: {
    requestId: '1',
    walltimeGain: {
      walltimeMs: 1000,
      aheadCount: 3,
      tighterAheadCount: 1,
      expectedWaitMs: 500,
      tighterExpectedWaitMs: 100,
    },
  },
} as const;

/** The input that a provider receives for an answer. */
function getInput(name: Answer, wire: never): ProviderInput {
  switch (name) {
    case 'getQueue':
      return { kind: 'QueueListed', listing: decodeQueueListing(wire), readAt: 100 };
    case 'getLimits':
      return { kind: 'LimitsRead', limits: decodeLimitsOf(wire) };
    case 'allocate':
      return { kind: 'SubmitAccepted', requestId: 'q1', managerRequestId: decodeAllocateResponse(wire).requestId };
  }
}

/** Undefined for what is refused. @throws anything but a refusal. */
function read(decode: () => ProviderInput): ProviderInput | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof MutiraoError && error.code !== 'MUT_INTERNAL') return undefined;
    throw error;
  }
}

/** Delivers the input to a provider with a broker again and again, and restarts the provider from its journal. */
function use(heuristic: string, input: ProviderInput): void {
  const harness = new ProviderHarness({ heuristic });
  harness.perform(['start', 'connect b1', 'limits requests=2 width=4 walltime=60000', 'demand b1 6', 'listing']);
  for (const at of [100, 5000, 70_000]) {
    harness.now = at;
    harness.step([input]);
    harness.step([{ kind: 'TimerFired' }]);
  }
  harness.step([harness.restart()]);
}

for (const heuristic of ['static', 'adaptive', 'finish']) {
  test(`no field of any answer of a cluster breaks a provider that decides by ${heuristic}`, (t) => {
    const counts = { taken: 0, refused: 0 };
    for (const name of Object.keys(answers) as Answer[]) {
      const { path, responseSerialize, responseDeserialize } = ClusterServiceService[name];
      for (const { what, bytes } of hostileMessages(
        messagesOfMethod(path).response,
        responseSerialize(answers[name] as never),
      )) {
        const input = read(() =>
          getInput(name, decodeMessage({ decode: responseDeserialize as (bytes: Uint8Array) => never }, bytes)),
        );
        counts[input === undefined ? 'refused' : 'taken'] += 1;
        if (input !== undefined)
          t.notThrows(() => {
            use(heuristic, input);
          }, what);
      }
    }
    t.log(counts);
    t.true(counts.taken > 100 && counts.refused > 100, JSON.stringify(counts));
  });
}
