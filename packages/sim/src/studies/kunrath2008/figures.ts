import { drawPanels, type PanelLine } from '../../svg/draw-panels.ts';
import { deadlineShares, laxities, getMean, requestCounts, type Measured } from './measure.ts';
import type { RunResult, Setup } from './run-requests.ts';

function getLine(
  label: string,
  place: number,
  found: readonly (Measured | undefined)[],
  field: keyof RunResult,
): PanelLine {
  const means = found.map((one) => (one === undefined ? { value: NaN, halfInterval: 0 } : getMean(one, field)));
  return {
    label,
    look: { colour: place, mark: place },
    values: means.map(({ value }) => 100 * value),
    halfIntervals: means.map(({ halfInterval }) => 100 * halfInterval),
  };
}

/** Finds what was measured of a setup by some of its facts. */
export function findMeasured(all: readonly Measured[], wanted: Partial<Setup>): Measured | undefined {
  const keys = Object.keys(wanted) as (keyof Setup)[];
  return all.find(({ setup }) => keys.every((key) => setup[key] === wanted[key]));
}

/** Figure 5.1: utilisation over the number of requests. */
export function drawUtilisation(all: readonly Measured[]): string {
  const lines = (['suvs', 'suvs-p'] as const).flatMap((algorithm, one) =>
    [0.2, 0.5].map((deadlineShare, other) =>
      getLine(
        `${algorithm.toUpperCase()}, ${100 * deadlineShare} % with a latest end`,
        2 * one + other,
        requestCounts.map((requestCount) => findMeasured(all, { algorithm, deadlineShare, requestCount })),
        'utilisation',
      ),
    ),
  );
  return drawPanels({
    title: 'Utilisation and the number of requests (Figure 5.1)',
    across: 'requests in ten days',
    up: 'utilisation, %',
    ticks: requestCounts.map(String),
    positions: requestCounts,
    panels: [{ title: 'shared capacity, laxity 0 to 500 %', lines }],
    panelsAcross: 1,
    legendColumns: 2,
    linearUpTo: 100,
  });
}

/** Figure 5.2: refusals over laxity. */
export function drawRefusals(all: readonly Measured[]): string {
  const lines = deadlineShares.map((deadlineShare, place) =>
    getLine(
      `${100 * deadlineShare} % with a latest end`,
      place,
      laxities.map((laxity) => findMeasured(all, { deadlineShare, laxity })),
      'refusedShare',
    ),
  );
  return drawPanels({
    title: 'Refused requests and laxity (Figure 5.2)',
    across: 'laxity of requests with a latest end, %',
    up: 'refused, % of all requests',
    ticks: laxities.map((laxity) => String(100 * laxity)),
    positions: laxities,
    panels: [{ title: 'shared capacity, SUVS', lines }],
    panelsAcross: 1,
    legendColumns: 3,
    linearUpTo: 40,
  });
}
