import type { AllocationRequest, ProviderDetail, QueueProfile } from '../../../src/schema/index.ts';
import { okabeIto, type Ink } from '../model/palette.ts';
import { getHorizon, stackQueue, type QueueBox } from '../model/queue-picture.ts';
import { sayClock, sayDuration, sayMany } from '../model/words.ts';
import { countAxis, timeAxis } from './axes.ts';
import { boxSeries } from './boxes.ts';
import { baseOption, fillOfInk, gridWithin, type ChartLook, type ChartOption } from './look.ts';
import type { ChartTable } from './table.ts';

export const queueInks = {
  free: { colour: okabeIto.green, pattern: 'hollow', mark: '', title: 'free' },
  ours: { colour: okabeIto.blue, pattern: 'plain', mark: '', title: 'our requests' },
  others: { colour: okabeIto.grey, pattern: 'hollow', mark: '', title: 'others' },
  reserved: { colour: okabeIto.purple, pattern: 'stripes', mark: '', title: 'reserved' },
  candidate: { colour: okabeIto.orange, pattern: 'plain', mark: '', title: 'what the heuristic compared (◆ chosen)' },
} as const satisfies Record<string, Ink>;

type Candidate = AllocationRequest['candidates'][number] & { readonly request: string };

/** What the chart of a queue is made of. */
export interface QueueScene {
  readonly profile: QueueProfile;
  readonly boxes: readonly QueueBox[];
  readonly candidates: readonly Candidate[];
  /** Our requests by the names that the resource manager has for them. */
  readonly ours: ReadonlyMap<string, AllocationRequest>;
  /** Until when it is shown. */
  readonly horizon: number;
}

const candidatesMax = 200;

/**
 * A queue and our requests in it, with what their heuristic compared at its last decision (or, where that is not known,
 * for the requests that are open), as far as that is still to come.
 */
export function queueScene(
  profile: QueueProfile,
  requests: readonly AllocationRequest[],
  decision: NonNullable<ProviderDetail['queue']>['decision'] = null,
): QueueScene {
  const isOpen = ({ status }: AllocationRequest): boolean =>
    status === 'queued' || status === 'running' || status === 'submitting';
  const compared =
    decision !== null
      ? decision.candidates.map((candidate) => ({ ...candidate, request: 'the last decision' }))
      : requests
          .filter(isOpen)
          .flatMap((one) => one.candidates.map((candidate) => ({ ...candidate, request: one.request_id })));
  const candidates = compared
    .filter((one) => one.starts_unix_ms + one.walltime_ms > profile.at_unix_ms)
    .slice(0, candidatesMax);
  const ours = new Map(
    requests
      .flatMap(
        (one) =>
          [
            [one.manager_request_id, one],
            [one.request_id, one],
          ] as const,
      )
      .filter(([name]) => name !== ''),
  );
  return {
    profile,
    boxes: stackQueue(profile),
    candidates,
    ours,
    horizon: getHorizon(
      profile,
      candidates.map((one) => one.starts_unix_ms + one.walltime_ms),
    ),
  };
}

/** Processors over time: their owners in the queue, free ones above, and where candidates for our requests were. */
export function buildQueueOption(scene: QueueScene, look: ChartLook): ChartOption {
  const { profile, boxes, candidates, ours, horizon } = scene;
  const total = Math.max(1, profile.processors);
  const taken = {
    type: 'line' as const,
    step: 'end' as const,
    symbol: 'none',
    silent: true,
    data: takenSteps(scene).map(([instant, count]) => [instant, count]),
  };
  return {
    ...baseOption(look),
    grid: gridWithin({ top: 26 }),
    xAxis: timeAxis(look, { from: profile.at_unix_ms, until: horizon }),
    yAxis: countAxis(look, { name: 'processors', most: total }),
    tooltip: {
      ...baseOption(look).tooltip,
      trigger: 'axis',
      axisPointer: { type: 'line', lineStyle: { color: look.faint } },
      formatter: (reported: unknown) => reportInstant(scene, getInstant(reported)),
    },
    series: [
      boxSeries(
        boxes.map((box) => ({
          ...box,
          ink: queueInks[box.owner],
          label: getLabel(box, ours),
          name: box.owner === 'ours' && ours.has(box.name) ? box.name : undefined,
        })),
        { id: 'boxes', look },
      ),
      // Above what is taken, and below the boxes.
      {
        ...taken,
        id: 'free',
        z: 1,
        lineStyle: { width: 0 },
        areaStyle: { origin: 'end', color: fillOfInk(queueInks.free, look).color, opacity: 0.45 },
      },
      { ...taken, id: 'taken', z: 3, lineStyle: { color: look.text, width: 1.5 } },
      {
        type: 'scatter',
        id: 'candidates',
        z: 4,
        silent: true,
        itemStyle: { color: okabeIto.orange, borderColor: look.ground, borderWidth: 1 },
        data: candidates.map(({ starts_unix_ms: starts, width_processors: width, chosen }) => ({
          value: [Math.max(profile.at_unix_ms, starts), width],
          symbol: chosen ? 'diamond' : 'circle',
          symbolSize: chosen ? 14 : 8,
        })),
      },
    ],
  };
}

/** How many are taken from which instant on, to the end of the picture. */
function takenSteps({ profile: { steps, processors, at_unix_ms: now }, horizon }: QueueScene): [number, number][] {
  const last = steps.at(-1);
  const points = steps.map(({ from_unix_ms: from, free_processors: free }): [number, number] => [
    Math.max(now, from),
    processors - free,
  ]);
  return last === undefined ? [] : [...points, [horizon, processors - last.free_processors]];
}

function getLabel(box: QueueBox, ours: QueueScene['ours']): string {
  if (box.owner === 'reserved') return box.name;
  return box.owner === 'ours' ? (ours.get(box.name)?.request_id ?? box.name) : '';
}

function getInstant(reported: unknown): number {
  return (reported as readonly { readonly axisValue: number }[])[0]?.axisValue ?? 0;
}

function freeAt({ steps }: QueueProfile, instant: number): number {
  return steps.findLast((step) => step.from_unix_ms <= instant)?.free_processors ?? steps[0]?.free_processors ?? 0;
}

const reportedMax = 6;

function reportInstant({ profile, boxes, candidates, ours, horizon }: QueueScene, instant: number): string {
  const clock = (at: number): string => sayClock(at, profile.at_unix_ms);
  const there = boxes.filter(({ start, end }) => start <= instant && instant < end);
  const own = there
    .filter(({ owner }) => owner !== 'others')
    .map(
      (box) =>
        `${getLabel(box, ours)}: ${sayMany(box.top - box.bottom, 'processor')}, ${box.status}, until ${clock(box.end)}`,
    );
  const others = there.filter(({ owner }) => owner === 'others');
  const near = candidates
    .filter(
      ({ starts_unix_ms: starts }) =>
        Math.abs(Math.max(profile.at_unix_ms, starts) - instant) < (horizon - profile.at_unix_ms) * 0.012,
    )
    .map((one) => reportCandidate(one, clock));
  return [
    `${clock(instant)}, in ${sayDuration(Math.max(0, instant - profile.at_unix_ms))}: ` +
      `${freeAt(profile, instant)} of ${sayMany(profile.processors, 'processor')} free`,
    ...own.slice(0, reportedMax),
    ...(own.length > reportedMax ? [`and ${own.length - reportedMax} more`] : []),
    ...(others.length === 0
      ? []
      : [
          `${sayMany(others.length, 'request')} of others: ${sayMany(
            others.reduce((sum, box) => sum + box.top - box.bottom, 0),
            'processor',
          )}`,
        ]),
    ...near.slice(0, reportedMax),
  ].join('\n');
}

function reportCandidate(
  {
    request,
    width_processors: width,
    walltime_ms: walltime,
    starts_unix_ms: starts,
    throughput_tasks_per_hour: throughput,
    chosen,
  }: Candidate,
  clock: (at: number) => string,
): string {
  return (
    `${chosen ? '◆ chosen' : '● compared'} for ${request}: ${sayMany(width, 'processor')} for ` +
    `${sayDuration(walltime)} from ${clock(starts)}, ${sayMany(throughput, 'task')} an hour`
  );
}

/** The same as a table: free processors over time, their owners, and the candidates that were compared. */
export function queueTable({ profile, candidates, ours, horizon }: QueueScene): ChartTable {
  const line = (
    what: string,
    processors: number,
    { from, until, status }: { readonly from: number; readonly until: number; readonly status: string },
  ): string[] => [
    what,
    String(processors),
    sayClock(from, profile.at_unix_ms),
    sayClock(until, profile.at_unix_ms),
    status,
  ];
  return {
    heads: ['What', 'Processors', 'From', 'Until', 'Status'],
    rows: [
      ...profile.steps.map(({ from_unix_ms: from, free_processors: free }, index) =>
        line('free', free, { from, until: profile.steps[index + 1]?.from_unix_ms ?? horizon, status: '' }),
      ),
      ...profile.requests.flatMap(
        ({
          request_id: name,
          is_ours: isOurs,
          status,
          width_processors: width,
          start_unix_ms: from,
          end_unix_ms: until,
        }) =>
          from === null || until === null
            ? [[`${name}, no start promised`, String(width), '', '', status]]
            : [
                line(isOurs ? `ours: ${ours.get(name)?.request_id ?? name}` : `of others: ${name}`, width, {
                  from,
                  until,
                  status,
                }),
              ],
      ),
      ...profile.reservations.map(({ reservation_id: id, processors, start_unix_ms: from, end_unix_ms: until }) =>
        line(`reservation ${id}`, processors, { from, until, status: 'set aside' }),
      ),
      ...candidates.map(({ request, width_processors: width, walltime_ms: walltime, starts_unix_ms: from, chosen }) =>
        line(`compared for ${request}`, width, { from, until: from + walltime, status: chosen ? 'chosen' : '' }),
      ),
    ],
  };
}
