import test from 'ava';
import {
  RequestStatus,
  type GetScoresResponse,
  type QueuedRequest,
  type QueueRanking,
  type WalltimeGain,
} from '@mutirao/api/cluster';
import { runCommandLine } from '@mutirao/testkit';

const scores: GetScoresResponse = {
  ordersQueue: true,
  weight: 1440,
  leadMsMax: 144_000_000,
  scores: [
    { userId: 'bia', score: 96.14, countedCount: 12, precisionMean: 0.914 },
    { userId: 'ana', score: 60, countedCount: 0, precisionMean: 0 },
  ],
};

async function show(answer: GetScoresResponse, ...words: string[]) {
  const asked: string[] = [];
  const cluster = {
    getScores: ({ userId }: { userId: string }) => {
      asked.push(userId);
      return Promise.resolve(answer);
    },
  };
  return { ...(await runCommandLine(['cluster', 'score', '--cluster', 'h:1', ...words], { cluster })), asked };
}

async function submit(walltimeGain: WalltimeGain | undefined, ...words: string[]): Promise<string> {
  const cluster = { allocate: () => Promise.resolve({ requestId: '7', walltimeGain }) };
  return (await runCommandLine(['cluster', 'submit', '--cluster', 'h:1', ...words, '--', 'true'], { cluster })).out;
}

test('scores are shown with what they are worth', async (t) => {
  const { out, asked } = await show(scores);
  t.deepEqual(asked, ['']);
  t.deepEqual(
    out
      .trimEnd()
      .split('\n')
      .map((line) => line.trimEnd()),
    [
      'h:1 orders its queue by scores: a point is worth 19m12s of waiting, and nobody goes before who came ' +
        '1d16h earlier.',
      'USER  SCORE  REQUESTS  WALLTIME USED',
      'bia    96.1        12           91 %',
      'ana    60.0         0              -',
    ],
  );
});

test('one user is asked for by name; without any there is a sentence, and an order of arrival is said', async (t) => {
  t.deepEqual((await show(scores, 'ana', '-q')).asked, ['ana']);
  t.is((await show(scores, '-q')).out, 'bia\nana\n');
  const none = await show({ ordersQueue: false, weight: 0, leadMsMax: 0, scores: [] });
  t.regex(none.out, /in the order of arrival[\s\S]*No request has counted/);
  t.like(JSON.parse((await show({ ordersQueue: false, weight: 0, leadMsMax: 0, scores: [] }, '--json')).out), {
    orders_queue: false,
    weight_s: null,
    lead_ms_max: null,
  });
});

test('a submission prints what a tighter walltime would have gained, if it would', async (t) => {
  const gain = {
    walltimeMs: 1_800_000,
    aheadCount: 5,
    tighterAheadCount: 2,
    expectedWaitMs: 7_200_000,
    tighterExpectedWaitMs: 3_600_000,
  };
  t.regex(
    await submit(gain),
    /With a walltime of 30m00s it would be 3 places further ahead \(behind 2 and not 5\) and wait about 1h00m and not 2h00m\./,
  );
  t.regex(await submit({ ...gain, tighterAheadCount: 4 }), /1 place further ahead/);
  t.regex(
    await submit({ ...gain, tighterAheadCount: 5, tighterExpectedWaitMs: 0 }),
    /With a walltime of 30m00s it would wait about 0\.0s and not 2h00m\./,
  );
  t.notRegex(await submit(undefined), /With a walltime/);
  t.like(JSON.parse(await submit(gain, '--json')), {
    request_id: '7',
    walltime_gain: { walltime_ms: 1_800_000, ahead_count: 5, tighter_ahead_count: 2 },
  });
  t.is((JSON.parse(await submit(undefined, '--json')) as { walltime_gain: unknown }).walltime_gain, null);
});

test('a queue by scores is shown with whose turn is when, and starts that are planned as such', async (t) => {
  const request: QueuedRequest = {
    requestId: '1',
    userId: 'ana',
    widthProcessors: 2,
    walltimeMs: 3_600_000,
    status: RequestStatus.RUNNING,
    submittedUnixMs: 1000,
    startsUnixMs: 1000,
    endedUnixMs: 0,
    endReason: '',
    clientRequestId: '',
    reservationId: 0,
    rankedUnixMs: 0,
  };
  const waits = (requestId: string, rankedUnixMs: number, startsUnixMs: number): QueuedRequest => ({
    ...request,
    requestId,
    status: RequestStatus.QUEUED,
    rankedUnixMs,
    startsUnixMs,
  });
  const all = [request, waits('2', 900, 0), waits('3', 500, 61_000), waits('4', 900, 0)];
  const show = async (ranking: QueueRanking | undefined, requests = all): Promise<string[]> => {
    const cluster = {
      getLimits: () =>
        Promise.resolve({
          processors: 2,
          requestsMax: 9,
          walltimeMsMax: 9,
          widthProcessorsMax: 2,
          walltimeGranularityMs: 1,
          nodes: [],
        }),
      getQueue: () =>
        Promise.resolve({ atUnixMs: 1000, processorsFree: 0, requests, reservations: [], ranking, nodes: [] }),
    };
    const { out } = await runCommandLine(['cluster', 'queue', '--cluster', 'h:1'], { cluster });
    return out.trimEnd().split('\n');
  };
  const ranked = await show({ weight: 1440, leadMsMax: 9, score: 60 });
  t.deepEqual(
    ranked.slice(1).map((line) => line.split(/ +/).slice(0, 4)),
    [
      ['REQUEST', 'RANK', 'USER', 'STATUS'],
      ['1', '-', 'ana', 'running'],
      ['2', '2', 'ana', 'queued'],
      ['3', '1', 'ana', 'queued'],
      ['4', '3', 'ana', 'queued'],
    ],
  );
  t.regex(ranked[4] ?? '', / about \d\d:\d\d:\d\d/);
  const arrived = await show(undefined);
  t.notRegex(arrived[1] ?? '', /RANK/);
  t.regex(arrived[4] ?? '', / by \d\d:\d\d:\d\d/);
  t.notRegex(arrived[1] ?? '', /SLOTS/);
  const slot = { processors: 4, memoryBytes: 8 * 2 ** 30, gpus: 1, gpuKind: 'a100' };
  const slotted = await show(undefined, [request, { ...waits('2', 900, 0), slot }]);
  t.regex(slotted[1] ?? '', / WIDTH +IN SLOTS OF +WALLTIME/);
  t.regex(slotted[3] ?? '', / 4 processors, 8 GiB of memory and 1 a100 GPU /);
});
