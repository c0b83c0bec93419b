// The picture of a queue: what lies on what.
import test from 'ava';
import type { QueueProfile } from '@mutirao/web/schema';
import { getHorizon, stackQueue } from '../../../client/src/model/queue-picture.ts';

const request = (
  id: string,
  ours: boolean,
  [width, start, end]: readonly [number, number, number],
): QueueProfile['requests'][number] => ({
  request_id: id,
  is_ours: ours,
  status: 'running',
  width_processors: width,
  start_unix_ms: start,
  end_unix_ms: end,
});
const profile: QueueProfile = {
  at_unix_ms: 100,
  processors: 10,
  steps: [{ from_unix_ms: 100, free_processors: 1 }],
  requests: [
    request('other', false, [4, 50, 300]),
    request('mine', true, [5, 90, 200]),
    request('later', true, [6, 200, 400]),
    { ...request('unknown', false, [3, 0, 0]), start_unix_ms: null, end_unix_ms: null },
  ],
  reservations: [{ reservation_id: 7, processors: 2, start_unix_ms: 300, end_unix_ms: 350 }],
};

test('at each instant the pile is as high as what is taken, ours lowest, and nothing overlaps', (t) => {
  const boxes = stackQueue(profile);
  const pile = (instant: number): readonly [string, number, number][] =>
    boxes
      .filter(({ start, end }) => start <= instant && instant < end)
      .map(({ name, bottom, top }) => [name, bottom, top] as const)
      .sort((one, other) => one[1] - other[1]) as [string, number, number][];
  t.deepEqual(pile(100), [
    ['mine', 0, 5],
    ['other', 5, 9],
  ]);
  t.deepEqual(pile(250), [
    ['later', 0, 6],
    ['other', 6, 10],
  ]);
  t.deepEqual(pile(320), [
    ['later', 0, 6],
    ['reservation 7', 6, 8],
  ]);
});

test('what goes on at its place is one piece', (t) =>
  t.is(stackQueue(profile).filter(({ name }) => name === 'later').length, 1));

test('the picture goes on a little beyond the last that is known, and a minute at least', (t) => {
  t.is(getHorizon(profile, []), 60_100);
  t.true(getHorizon(profile, [10_000_000]) > 10_000_000);
});

test('a reservation of months does not make the requests too small to be seen', (t) => {
  const day = 86_400_000;
  const hours = {
    ...profile,
    requests: [request('mine', true, [5, 90, 100 + 2 * 3_600_000])],
    steps: [{ from_unix_ms: 400 * day, free_processors: 10 }],
    reservations: [{ reservation_id: 7, processors: 2, start_unix_ms: 300, end_unix_ms: 400 * day }],
  };
  t.is(getHorizon(hours, []), 100 + 8 * 3_600_000 * 1.06);
  t.is(getHorizon({ ...hours, requests: [] }, []), 100 + 3_600_000 * 1.06);
});
