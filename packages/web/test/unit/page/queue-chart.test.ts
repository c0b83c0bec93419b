// The chart of a queue: what is free, ours in it, and what the heuristic compared.
import test from 'ava';
import type { AllocationRequest, QueueProfile } from '@mutirao/web/schema';
import { lightLook } from '../../../client/src/charts/look.ts';
import { buildQueueOption, queueScene, queueTable } from '../../../client/src/charts/queue-chart.ts';
import { sayClock } from '../../../client/src/model/words.ts';
import { drawChartSvg } from '../../../src/server/drawing/chart-svg.ts';

const minute = 60_000;
const now = 1_800_000_000_000;
const clock = (instant: number): string => sayClock(instant, now);
const profile: QueueProfile = {
  at_unix_ms: now,
  processors: 100,
  steps: [
    { from_unix_ms: now - minute, free_processors: 40 },
    { from_unix_ms: now + 10 * minute, free_processors: 100 },
  ],
  requests: [
    {
      request_id: '7',
      is_ours: true,
      status: 'running',
      width_processors: 50,
      start_unix_ms: now - minute,
      end_unix_ms: now + 10 * minute,
    },
    {
      request_id: '8',
      is_ours: false,
      status: 'running',
      width_processors: 10,
      start_unix_ms: now - minute,
      end_unix_ms: now + 10 * minute,
    },
    { request_id: '9', is_ours: false, status: 'queued', width_processors: 3, start_unix_ms: null, end_unix_ms: null },
  ],
  reservations: [
    { reservation_id: 4, processors: 20, start_unix_ms: now + 20 * minute, end_unix_ms: now + 30 * minute },
  ],
};
const request: AllocationRequest = {
  provider_id: 'alpha',
  request_id: 'alpha/q3',
  manager_request_id: '7',
  status: 'running',
  width_processors: 50,
  walltime_ms: 11 * minute,
  submitted_unix_ms: now,
  started_unix_ms: now,
  ended_unix_ms: null,
  seen_unix_ms: now,
  heuristic: 'adaptive',
  reasons: [],
  candidates: [
    {
      width_processors: 50,
      walltime_ms: 11 * minute,
      starts_unix_ms: now - minute,
      throughput_tasks_per_hour: 900,
      chosen: true,
    },
    {
      width_processors: 80,
      walltime_ms: minute,
      starts_unix_ms: now - 5 * minute,
      throughput_tasks_per_hour: 100,
      chosen: false,
    },
  ],
};
const scene = queueScene(profile, [request]);

interface Series {
  readonly id: string;
  readonly data: readonly { readonly value: readonly number[]; readonly name?: string }[];
}
const getSeries = (id: string): Series['data'] =>
  (buildQueueOption(scene, lightLook) as { readonly series: readonly Series[] }).series.find((one) => one.id === id)
    ?.data ?? [];

test('what is taken is a step line to the end of the picture', (t) => {
  t.deepEqual(getSeries('free') as unknown, [
    [now, 60],
    [now + 10 * minute, 0],
    [scene.horizon, 0],
  ]);
});

test('only our own requests can be pressed, and those of others have no name', (t) => {
  t.deepEqual(
    getSeries('boxes').map(({ name }) => name),
    ['7', '', ''],
  );
});

test('candidates whose time is over are left out, and one that would have begun is drawn at the beginning', (t) => {
  t.deepEqual(
    getSeries('candidates').map(({ value }) => value),
    [[now, 50]],
  );
});

test('a tip shows what is free at the instant, the holders of processors, and the candidates that were compared there', (t) => {
  const { tooltip } = buildQueueOption(scene, lightLook) as {
    readonly tooltip: { readonly formatter: (reported: unknown) => string };
  };
  const lines = tooltip.formatter([{ axisValue: now + 1000 }]).split('\n');
  t.deepEqual(lines, [
    `${clock(now + 1000)}, in 1.0 s: 40 of 100 processors free`,
    `alpha/q3: 50 processors, running, until ${clock(now + 10 * minute)}`,
    '1 request of others: 10 processors',
    `◆ chosen for alpha/q3: 50 processors for 11 min from ${clock(now - minute)}, 900 tasks an hour`,
  ]);
  t.is(tooltip.formatter([{ axisValue: now + 15 * minute }]).split('\n').length, 1);
});

test('the table has what is free, all requests, also without a promised start, reservations and candidates', (t) => {
  t.deepEqual(
    queueTable(scene).rows.map(([what, processors]) => [what, processors]),
    [
      ['free', '40'],
      ['free', '100'],
      ['ours: alpha/q3', '50'],
      ['of others: 8', '10'],
      ['9, no start promised', '3'],
      ['reservation 4', '20'],
      ['compared for alpha/q3', '50'],
    ],
  );
});

test('it is drawn, with the names of our requests in their boxes', (t) => {
  const svg = drawChartSvg(buildQueueOption(scene, lightLook), { width: 1000, height: 230, title: 'Queue' });
  t.true(svg.includes('alpha/q3') && svg.includes('reservation 4'));
});
