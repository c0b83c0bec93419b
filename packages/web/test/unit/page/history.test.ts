// How the grid was over the last minutes: bounded, and honest about what nobody saw.
import test from 'ava';
import {
  addSample,
  busyBySite,
  joinHistory,
  sampleMs,
  samplesKept,
  type GridSample,
} from '../../../client/src/model/history.ts';
import { emptyLiveState, reduceLive, type LiveState } from '../../../client/src/model/live-state.ts';

const sample = (at: number): GridSample => ({ at, finishedPerSecond: 1, processors: 4, busy: new Map() });

test('only the newest samples are kept', (t) => {
  let samples: readonly GridSample[] = [];
  for (let at = 1; at <= samplesKept + 20; at += 1) samples = addSample(samples, sample(at));
  t.deepEqual([samples.length, samples[0]?.at, samples.at(-1)?.at], [samplesKept, 21, samplesKept + 20]);
});

test('after a long time without a sample there is a gap, and what a clock that was set back leaves ahead is dropped', (t) => {
  const samples = addSample(addSample([], sample(1000)), sample(500_000));
  t.deepEqual(
    samples.map(({ at, finishedPerSecond }) => [at, finishedPerSecond]),
    [
      [1000, 1],
      [1001, undefined],
      [500_000, 1],
    ],
  );
  t.deepEqual(
    addSample(samples, sample(2000)).map(({ at }) => at),
    [1000, 1001, 2000],
  );
});

test('a tab that was hidden for a moment has a gap there, and a sample that is late none', (t) => {
  const countAfter = (passed: number): number => addSample([sample(1000)], sample(1000 + passed)).length;
  t.deepEqual([sampleMs, 3 * sampleMs, 3 * sampleMs + 1, 60_000].map(countAfter), [2, 2, 3, 3]);
});

test('processors are busy as far as replicas run on them, and machines that are not listed one by one count too', (t) => {
  const busy = busyBySite([
    { provider_id: 'alpha', running_count: 6, machines: { processors: [1, 4], running: [2, 3] } },
    { provider_id: 'lab', running_count: 0, machines: { processors: [8], running: [0] } },
  ]);
  t.deepEqual(
    [...busy],
    [
      ['alpha', 5],
      ['lab', 0],
    ],
  );
});

const reported = [
  { kind: 'StreamOpened' },
  { kind: 'MessageArrived', topic: 'link', value: { connected: true } },
  { kind: 'MessageArrived', topic: 'summary', value: { finished_per_s: 3, processors: 8 } },
  {
    kind: 'MessageArrived',
    topic: 'machines',
    value: {
      statuses: [],
      sites: [{ provider_id: 'alpha', running_count: 2, machines: { processors: [4], running: [2] } }],
    },
  },
] as const;
const tick = (
  state: LiveState,
  at: number,
  topics: readonly ('summary' | 'machines')[] = ['summary', 'machines'],
): LiveState => reduceLive(state, { kind: 'ClockTicked', at, topics });

test('the clock takes a sample of received levels, and none of levels that are not watched', (t) => {
  const state = reported.reduce<LiveState>(reduceLive, emptyLiveState);
  t.deepEqual(tick(state, 1000).samples as unknown, [
    { at: 1000, finishedPerSecond: 3, processors: 8, busy: new Map([['alpha', 2]]) },
  ]);
  t.is(tick(state, 1000, ['summary']), state);
  t.is(tick(emptyLiveState, 1000), emptyLiveState);
});

test('while the stream is broken or the broker is away nothing is made up', (t) => {
  const state = reported.reduce<LiveState>(reduceLive, emptyLiveState);
  for (const trouble of [
    { kind: 'StreamBroken', reason: 'gone' },
    { kind: 'MessageArrived', topic: 'link', value: { connected: false } },
  ] as const) {
    const [taken] = tick(reduceLive(state, trouble), 1000).samples;
    t.deepEqual([taken?.finishedPerSecond, taken?.busy], [undefined, undefined]);
  }
});

test('samples of the gateway come before those of the page, with gaps where nobody looked', (t) => {
  const history = {
    every_ms: 10_000,
    at_unix_ms: [10_000, 20_000, 90_000],
    finished_per_s: [1, null, 3],
    processors: [4, 4, 8],
    sites: [
      { provider_id: 'alpha', busy: [2, null, 3] },
      { provider_id: '', busy: [0, null, 1] },
    ],
  };
  const joined = joinHistory(history, [sample(89_000), sample(91_000), sample(93_000)]);
  t.deepEqual(
    joined.map(({ at, finishedPerSecond, busy }) => [at, finishedPerSecond, busy?.get('alpha')]),
    [
      [10_000, 1, 2],
      [20_000, undefined, undefined],
      [20_001, undefined, undefined],
      [90_000, 3, 3],
      [91_000, 1, undefined],
      [93_000, 1, undefined],
    ],
  );
  t.is(joined[3]?.busy?.get('others'), 1);
});
