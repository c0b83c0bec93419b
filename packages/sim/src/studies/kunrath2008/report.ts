import { grouped, section, table } from '../costa2005/markdown.ts';
import type { Estimate } from '../costa2005/statistics.ts';
import { drawRefusals, drawUtilisation, findMeasured } from './figures.ts';
import {
  deadlineShares,
  getDifference,
  laxities,
  getMean,
  requestCounts,
  listRuns,
  steadyCount,
  type Measured,
  type ReservationStudySettings,
} from './measure.ts';
import type { RunResult } from './run-requests.ts';

/** What the parts of the study came to. */
export interface ReservationStudy {
  readonly utilisation: readonly Measured[];
  readonly refusals: readonly Measured[];
  readonly placements: readonly Measured[];
}

/** The study as a page and its pictures. */
export interface ReservationReport {
  readonly page: string;
  readonly utilisationSvg: string;
  readonly refusalsSvg: string;
}

/**
 * Writes up the study. The same measurements, the same text. @param images the folder of the pictures, from the page.
 */
export function reportReservations(
  settings: ReservationStudySettings,
  study: ReservationStudy,
  images: string,
): ReservationReport {
  const page = [
    introduction(settings, study),
    section('Compared with the seed', beside(study)),
    section(
      'Utilisation (Figure 5.1)',
      `![Utilisation and the number of requests](${images}/utilisation.svg)`,
      utilisationTable(study.utilisation),
      utilisationNote,
    ),
    section(
      'Refusals (Figure 5.2)',
      `![Refused requests and laxity](${images}/refusals.svg)`,
      refusalTable(study.refusals),
      refusalNote,
    ),
    section('Placement against placement', placementTable(study.placements), placementNote),
    section('How it was simulated', assumptions),
  ].join('\n');
  return { page, utilisationSvg: drawUtilisation(study.utilisation), refusalsSvg: drawRefusals(study.refusals) };
}

function introduction(settings: ReservationStudySettings, study: ReservationStudy): string {
  const setups = study.utilisation.length + study.refusals.length + study.placements.length;
  return `# kunrath2008: utilisation and refusals of reservations

Written by \`mutirao sim study kunrath2008${settings.isQuick ? ' --quick' : ''} --seed ${settings.seed} --out DIR\`. ${grouped(setups * listRuns(settings))} runs, ${listRuns(settings)} of each of ${setups} setups, each with the same
${listRuns(settings)} draws of requests; every run is a line of \`kunrath2008-runs.csv\`. All figures are means with half of their 95 % interval. The calendar is the live one (\`core/reservations\`).`;
}

const points = (estimate: Estimate): string =>
  `${(100 * estimate.value).toFixed(1)} +- ${(100 * estimate.halfInterval).toFixed(1)}`;

function getCell(all: readonly Measured[], wanted: Parameters<typeof findMeasured>[1], field: keyof RunResult): string {
  const found = findMeasured(all, wanted);
  return found === undefined ? '-' : points(getMean(found, field));
}

function beside({ utilisation, refusals }: ReservationStudy): string {
  const none = findMeasured(refusals, { deadlineShare: 0, laxity: 0 }) as Measured;
  const all = findMeasured(refusals, { deadlineShare: 1, laxity: 0 }) as Measured;
  const gains = [0.2, 0.5].map((deadlineShare) =>
    requestCounts.map((requestCount) => {
      const [suvs, suvsP] = (['suvs', 'suvs-p'] as const).map(
        (algorithm) => findMeasured(utilisation, { algorithm, deadlineShare, requestCount }) as Measured,
      );
      return { requestCount, gain: getDifference(suvs as Measured, suvsP as Measured, 'utilisation') };
    }),
  );
  const where = gains.map((row, index) => {
    const from = row.findIndex((_, at) => row.slice(at).every(({ gain }) => gain.value > gain.halfInterval));
    const lower = row
      .filter(({ gain }) => gain.value < -gain.halfInterval)
      .map(({ requestCount, gain }) => `${requestCount} (${points(gain)})`);
    return (
      `with ${[20, 50][index]} % from ${from < 0 ? 'nowhere' : String(row[from]?.requestCount)} requests ` +
      `on${lower.length === 0 ? '' : `, and **below** it at ${lower.join(', ')}`}`
    );
  });
  const isAlwaysAbove = gains.every((row) => row.every(({ gain }) => gain.value > gain.halfInterval));
  const rows: readonly (readonly [says: string, found: string, isHeld: boolean | 'in part'])[] = [
    [
      'without latest ends nothing is refused',
      `${points(getMean(none, 'refusedShare'))} %`,
      getMean(none, 'refusedShare').value === 0,
    ],
    [
      'with latest ends everywhere and no laxity a third is refused',
      `${points(getMean(all, 'refusedShare'))} %; the number of requests was chosen so`,
      Math.abs(getMean(all, 'refusedShare').value - 1 / 3) < 0.01,
    ],
    [
      'more laxity, fewer refusals; no difference without latest ends',
      isFalling(refusals) ? 'yes, for each share' : '**not** for each share',
      isFalling(refusals),
    ],
    ['more laxity, more utilisation', ...laxityAndUse(refusals)],
    [
      'more requests with a latest end, more refusals',
      isRising(refusals) ? 'yes, at each laxity' : '**not** at each laxity',
      isRising(refusals),
    ],
    [
      'utilisation grows with the number of reservations',
      isGrowing(utilisation) ? 'yes, in all four lines' : '**not** in all four lines',
      isGrowing(utilisation),
    ],
    [
      'SUVS uses more than SUVS-P',
      `${where.join('; ')} (points of utilisation, the same requests)`,
      isAlwaysAbove || 'in part',
    ],
    ['fewer latest ends, more utilisation', ...fewerIsMore(utilisation)],
  ];
  return table(
    ['the seed (5.2)', 'here', 'held'],
    rows.map(([says, found, isHeld]) => [
      says,
      found,
      isHeld === 'in part' ? '**in part**' : isHeld ? 'yes' : '**no**',
    ]),
  );
}

/**
 * What laxity does to utilisation, from step to step and from none to the most, for each share of requests with a
 * latest end that is not 0: of the same requests.
 */
function laxityAndUse(all: readonly Measured[]): [found: string, isHeld: boolean | 'in part'] {
  const shares = deadlineShares.filter((share) => share > 0);
  const of = (deadlineShare: number, laxity: number): Measured =>
    findMeasured(all, { deadlineShare, laxity }) as Measured;
  const [least = 0, most = 0] = [laxities[0], laxities.at(-1)];
  const overall = shares.map((share) => ({
    share,
    gain: getDifference(of(share, most), of(share, least), 'utilisation'),
  }));
  const steps = shares.flatMap((share) =>
    laxities
      .slice(1)
      .map((laxity, index) => getDifference(of(share, laxity), of(share, laxities[index] as number), 'utilisation')),
  );
  const rising = steps.filter(({ value, halfInterval }) => value > halfInterval).length;
  const reported = overall.map(({ share, gain }) => `${100 * share} %: ${points(gain)}`).join(', ');
  const risesOverall = overall.every(({ gain }) => gain.value > gain.halfInterval);
  return [
    `from laxity ${100 * least} to ${100 * most} %, in points, by the share with a latest end: ${reported}; ` +
      `${rising} of ${steps.length} single steps are above their interval`,
    risesOverall && rising === steps.length ? true : risesOverall ? 'in part' : false,
  ];
}

function getValues(
  all: readonly Measured[],
  wanted: readonly Parameters<typeof findMeasured>[1][],
  field: keyof RunResult,
): number[] {
  return wanted.map((each) => getMean(findMeasured(all, each) as Measured, field).value);
}

const isAscending = (values: readonly number[]): boolean =>
  values.every((value, index) => index === 0 || value >= (values[index - 1] as number) - 1e-12);

function isFalling(all: readonly Measured[]): boolean {
  return deadlineShares.every((deadlineShare) =>
    isAscending(
      getValues(
        all,
        laxities.map((laxity) => ({ deadlineShare, laxity })),
        'refusedShare',
      ).reverse(),
    ),
  );
}

function isRising(all: readonly Measured[]): boolean {
  return laxities.every((laxity) =>
    isAscending(
      getValues(
        all,
        deadlineShares.map((deadlineShare) => ({ deadlineShare, laxity })),
        'refusedShare',
      ),
    ),
  );
}

function isGrowing(all: readonly Measured[]): boolean {
  return (['suvs', 'suvs-p'] as const).every((algorithm) =>
    [0.2, 0.5].every((deadlineShare) =>
      isAscending(
        getValues(
          all,
          requestCounts.map((requestCount) => ({ algorithm, deadlineShare, requestCount })),
          'utilisation',
        ),
      ),
    ),
  );
}

function fewerIsMore(all: readonly Measured[]): [found: string, isHeld: boolean | 'in part'] {
  const found = (['suvs', 'suvs-p'] as const).map((algorithm) => ({
    algorithm,
    counts: requestCounts.filter((requestCount) => {
      const [few, many] = [0.2, 0.5].map(
        (deadlineShare) => findMeasured(all, { algorithm, deadlineShare, requestCount }) as Measured,
      );
      const { value, halfInterval } = getDifference(few as Measured, many as Measured, 'utilisation');
      return value > halfInterval;
    }),
  }));
  const isEverywhere = found.every(({ counts }) => counts.length === requestCounts.length);
  const isSomewhere = found.some(({ counts }) => counts.length > 0);
  return [
    found
      .map(
        ({ algorithm, counts }) =>
          `${algorithm.toUpperCase()}: at ${counts.length === 0 ? 'no number of requests' : counts.join(', ')}`,
      )
      .join('; '),
    isEverywhere || (isSomewhere ? 'in part' : false),
  ];
}

function utilisationTable(all: readonly Measured[]): string {
  const columns = (['suvs', 'suvs-p'] as const).flatMap((algorithm) =>
    [0.2, 0.5].map((deadlineShare) => ({ algorithm, deadlineShare })),
  );
  const rows = requestCounts.map((requestCount) => [
    String(requestCount),
    ...columns.map((column) => getCell(all, { ...column, requestCount }, 'utilisation')),
    ...columns.slice(2).map((column) => getCell(all, { ...column, requestCount }, 'movedShare')),
  ]);
  return table(
    [
      'requests',
      ...columns.map(({ algorithm, deadlineShare }) => `${algorithm.toUpperCase()}, ${100 * deadlineShare} %`),
      'moved, 20 %',
      'moved, 50 %',
    ],
    rows,
  );
}

function refusalTable(all: readonly Measured[]): string {
  const rows = deadlineShares.map((deadlineShare) => [
    `${100 * deadlineShare} %`,
    ...laxities.map((laxity) => getCell(all, { deadlineShare, laxity }, 'refusedShare')),
  ]);
  return table(['with a latest end', ...laxities.map((laxity) => `laxity ${100 * laxity} %`)], rows);
}

function placementTable(all: readonly Measured[]): string {
  const rows = (['shared', 'counted'] as const).flatMap((kind) =>
    [1, 2, 5].map((laxity) => {
      const of = (placement: 'first-fit' | 'min-lip' | 'min-tip'): Measured =>
        findMeasured(all, { kind, laxity, placement }) as Measured;
      const first = of('first-fit');
      return [
        kind === 'shared' ? 'shared capacity' : '16 processors',
        `${100 * laxity} %`,
        points(getMean(first, 'refusedShare')),
        ...(['min-lip', 'min-tip'] as const).map((rule) => points(getDifference(of(rule), first, 'refusedShare'))),
        points(getMean(first, 'utilisation')),
        ...(['min-lip', 'min-tip'] as const).map((rule) => points(getDifference(of(rule), first, 'utilisation'))),
      ];
    }),
  );
  return table(
    [
      'resource',
      'laxity',
      'refused, first-fit',
      '... min-LIP more',
      '... min-TIP more',
      'utilisation, first-fit',
      '... min-LIP more',
      '... min-TIP more',
    ],
    rows,
  );
}

const utilisationNote = `Percent of the capacity over ten days; *moved* is reservations that SUVS-P gave another place, once for each time, in percent of the requests (each needs a notice).
SUVS-P is the seed's: all of low priority that the place covers make way, without a bound. What is moved goes behind what was promised meanwhile, much of it behind the ten days, which is
probably why SUVS-P uses less once the resource is wanted more than there is of it, and least where most can be moved. While there is room for all, it uses slightly more: fewer requests
with a latest end are refused. The seed's lines do not cross, nor does it say over which time it measured.`;

const refusalNote =
  'Percent of all requests. A request without a latest end is never refused, so that the share of those with ' +
  'one bounds the refusals; laxity is given to those alone, as in the seed.';

const placementNote = `All requests have a latest end; percent of all requests and of the capacity. *More* is the mean of the paired differences to first-fit in points. Of a shared capacity a rule chooses among the stretches in
which the amount is free; of 16 processors it chooses among processors that are free at the earliest start, so that the start is that of first-fit.`;

const assumptions = `- The seed names its inputs (number and rate of requests, duration, limits, capacity) but no values. Here: a capacity of 100 %, amounts uniform from 1 to 50 %, durations from 1 to 5 h,
  earliest starts over ten days, each asked for up to 24 h before; 16 processors and 1 to 8 of them likewise.
- Figure 5.2 and the placements have ${steadyCount} requests, 95 % of what would fill the resource: chosen so that a third is refused where all have a latest end and no laxity, as in the seed. Nothing else was fitted.
- Figure 5.1 has laxities uniform from 0 to 500 %: the seed does not say which it had. Utilisation is what was used within the ten days; what is placed behind them does not count.
- No cap, no longest duration, no latency, no negotiation. Nobody cancels.`;
