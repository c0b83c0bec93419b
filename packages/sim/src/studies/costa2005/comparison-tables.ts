import {
  countScenarios,
  groupByTrace,
  firstRuns,
  listPairs,
  relativeWaste,
  type StudyPart,
  type TraceResults,
} from './compare.ts';
import { plainLoad } from './loads.ts';
import { grouped, percent, show, table } from './markdown.ts';
import { nameType } from './scenarios.ts';
import { seedDifferences, seedNumbers } from './seed-numbers.ts';
import type { StartsPart } from './starts.ts';
import { geometricMean, meanOfRatios, meanOfRunRatios, ratioOfSums, type PairedValues } from './statistics.ts';
import { variation } from './variants.ts';

/** Tables 4.3 and 4.6: speedups of adaptive and mixed over static. */
export function speedupTable(traces: readonly TraceResults[]): string {
  const rows = traces.map(({ trace, parts }) => {
    const [adaptive, mixed] = [listPairs(parts, 'adaptive', 'turnaround'), listPairs(parts, 'mixed', 'turnaround')];
    const seed = seedNumbers[trace.id];
    return [
      trace.title,
      show(meanOfRatios(adaptive)),
      String(seed?.adaptive ?? '-'),
      show(ratioOfSums(adaptive)),
      show(meanOfRatios(mixed)),
      String(seed?.mixed ?? '-'),
      show(ratioOfSums(mixed)),
    ];
  });
  return table(
    [
      'trace',
      'adaptive: mean of speedups',
      'thesis',
      'ratio of sums',
      'mixed: mean of speedups',
      'thesis',
      'ratio of sums',
    ],
    rows,
  );
}

/** The same results averaged in four ways. */
export function averagingTable(traces: readonly TraceResults[]): string {
  const rows = traces.flatMap(({ trace, parts }) =>
    (['adaptive', 'mixed'] as const).map((heuristic) => {
      const pairs = listPairs(parts, heuristic, 'turnaround');
      const seed = seedNumbers[trace.id]?.[heuristic];
      return [
        `${trace.title}, ${heuristic}`,
        ...[meanOfRatios, geometricMean, ratioOfSums, meanOfRunRatios].map((average) => show(average(pairs))),
        String(seed ?? '-'),
      ];
    }),
  );
  return table(
    [
      'trace, heuristic',
      'mean of speedups',
      'geometric mean of speedups',
      'ratio of sums',
      'mean of the ratios of single runs',
      'thesis',
    ],
    rows,
  );
}

/** Tables 4.4 and 4.5: offered load and speedup. */
export function loadTable(traces: readonly TraceResults[]): string {
  const rows = traces.flatMap((results) => {
    const {
      trace,
      parts: [first],
    } = results;
    if (first === undefined) return [];
    const load = plainLoad(results, traces);
    const seed = seedNumbers[trace.id];
    return [
      [
        trace.title,
        String(trace.processors),
        grouped(first.result.facts.requestCount),
        load === undefined ? '-' : percent(load),
        `${seed?.offeredLoad ?? '-'} %`,
        show(meanOfRatios(listPairs(results.parts, 'adaptive', 'turnaround'))),
        String(seed?.adaptive ?? '-'),
      ],
    ];
  });
  return table(
    ['trace', 'processors', 'requests replayed', 'offered load (Eq. 4.2)', 'thesis', 'speedup of adaptive', 'thesis'],
    rows,
  );
}

/** The loads of the multiplied logs when each request keeps its logged wait; empty where there is none. */
export function keptWaitsNote(traces: readonly TraceResults[]): string {
  const loads = traces.flatMap(({ trace, parts: [first] }) =>
    trace.loadFactor === 1 || first === undefined
      ? []
      : [`${percent(first.result.facts.offeredLoad)} at x ${trace.loadFactor}`],
  );
  if (loads.length === 0) return '';
  return (
    'Where submissions are multiplied, so is the whole time axis of Eq. 4.2. Its last end is that of the log; ' +
    'if only submissions were multiplied there, and each request kept its wait in the log, the load would be ' +
    `${loads.join(' and ')}.`
  );
}

/** Which heuristic wins, and whether mixed lies between (sections 4.4 and 4.7). */
export function outcomeTable(traces: readonly TraceResults[]): string {
  const rows = traces.map(({ trace, parts }) => {
    const counts = countScenarios(parts);
    return [
      trace.title,
      `${counts.staticWins} of ${counts.scenarios}`,
      `${counts.greatest.speedup.toFixed(1)} (${counts.greatest.scenario})`,
      `${counts.mixedBetween} of ${counts.scenarios}`,
      `${counts.triplesBetween} of ${counts.triples}`,
      `${counts.endedAfterLog} of ${counts.runs}`,
    ];
  });
  return table(
    [
      'trace',
      'scenarios where static wins',
      'greatest speedup of adaptive',
      'scenarios with mixed between',
      'jobs with mixed between',
      'runs that end after the log',
    ],
    rows,
  );
}

/** Adaptive over static by heterogeneity; undefined where the study has one only. */
export function heterogeneityTable(traces: readonly TraceResults[]): string | undefined {
  const rows = traces.map(({ trace, parts }) => {
    const [one, two, four] = ([1, 2, 4] as const).map((kind) =>
      meanOfRatios(
        listPairs(
          parts.filter(({ chunk }) => chunk.type.heterogeneity === kind),
          'adaptive',
          'turnaround',
        ),
      ),
    ) as [ReturnType<typeof meanOfRatios>, ReturnType<typeof meanOfRatios>, ReturnType<typeof meanOfRatios>];
    const apart = Math.max(one.value, two.value, four.value) / Math.min(one.value, two.value, four.value) - 1;
    return [trace.title, show(one), show(two), show(four), Number.isFinite(apart) ? percent(apart) : '-'];
  });
  if (rows.every(([, , two]) => two === '-')) return undefined;
  return table(['trace', '1x', '2x', '4x', 'greatest over least'], rows);
}

/** Waste of each heuristic, and the ratios (section 4.6). */
export function wasteTable(traces: readonly TraceResults[]): string {
  const rows = traces.map(({ trace, parts }) => {
    const pairs = listPairs(parts, 'adaptive', 'waste');
    return [
      trace.title,
      ...(['static', 'adaptive', 'mixed'] as const).map((heuristic) => percent(relativeWaste(parts, heuristic))),
      show(meanOfRatios(pairs)),
      show(ratioOfSums(pairs)),
      `${countLess(pairs)} of ${pairs.length}`,
    ];
  });
  return table(
    [
      'trace',
      'static',
      'adaptive',
      'mixed',
      'static / adaptive: mean of ratios',
      'ratio of sums',
      'scenarios where adaptive wastes less',
    ],
    rows,
  );
}

/** In how many of the scenarios the other heuristic comes to less than the reference, nothing at all included. */
export function countLess(scenarios: readonly PairedValues[]): number {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return scenarios.filter(({ reference, other }) => sum(other) < sum(reference)).length;
}

/** Table 4.7: requests that start at another time in a second simulator. */
export function startsTable(comparisons: readonly StartsPart[]): string {
  const rows = comparisons.map(
    ({ chunk: { trace, compression, requestsMax }, result: { requestCount, differing } }) => {
      const share = (count: number): string => `${((100 * count) / requestCount).toFixed(3)} % (${grouped(count)})`;
      return [
        trace.title,
        `\`${compression}\``,
        `${requestsMax === undefined ? 'all ' : 'the first '}${grouped(requestCount)}`,
        share(differing.settled),
        share(differing['ends-first']),
        share(differing['last-submitted-first']),
        `${seedDifferences[trace.id] ?? '-'} %`,
      ];
    },
  );
  return table(
    [
      'log',
      'compression',
      'requests',
      'differing: same order of events',
      'ends before submissions',
      'last submitted first',
      'thesis',
    ],
    rows,
  );
}

/** What changes when one assumption is varied, by trace. */
export function variationTable(parts: readonly StudyPart[]): string {
  const rows = variationRows(parts).map(({ trace, title, parts: group }) => [
    trace,
    title,
    ...(['adaptive', 'mixed'] as const).map((heuristic) =>
      show(meanOfRatios(listPairs(group, heuristic, 'turnaround'))),
    ),
    show(ratioOfSums(listPairs(group, 'adaptive', 'waste'))),
  ]);
  return table(['trace', 'varied', 'adaptive over static', 'mixed over static', 'waste, static / adaptive'], rows);
}

/** The parts of one row of the variations; title `none` for the plain ones that they are compared with. */
export interface VariationRow {
  readonly traceId: string;
  readonly trace: string;
  readonly title: string;
  readonly parts: readonly StudyPart[];
}

/** The rows of the variations: per trace the plain parts first, then each variation. @param parts all of the study. */
export function variationRows(parts: readonly StudyPart[], runCount: number = variation.instantCount): VariationRow[] {
  return groupByTrace(parts.filter(({ chunk }) => chunk.variant !== undefined)).flatMap(({ trace, parts: varied }) => {
    const types = new Set(varied.map(({ chunk }) => nameType(chunk.type)));
    const plain = parts.filter(
      ({ chunk }) => chunk.variant === undefined && chunk.trace.id === trace.id && types.has(nameType(chunk.type)),
    );
    const variants = [...new Set(varied.map(({ chunk }) => chunk.variant))];
    return [
      { title: 'none', group: plain.map((part) => firstRuns(part, runCount)) },
      ...variants.map((variant) => ({
        title: variant?.title ?? '',
        group: varied.filter(({ chunk }) => chunk.variant === variant),
      })),
    ].map(({ title, group }) => ({ traceId: trace.id, trace: trace.title, title, parts: group }));
  });
}
