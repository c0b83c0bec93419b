import { drawLines } from '../../svg/draw-lines.ts';
import { countScenarios, firstRuns, groupByShape, groupByTrace, pairsOf, relativeWaste, type Measure, type StudyPart, type TraceResults } from './compare.ts';
import { assumptions, departures, introduction } from './report-text.ts';
import { countRuns, nameType, requestsMaxima, type StudySettings } from './scenarios.ts';
import { seedNumbers } from './seed-numbers.ts';
import { meanOfRatios, ratioOfSums, type Estimate, type PairedValues } from './statistics.ts';
import { variation } from './variants.ts';

/** A study as a page and its figures. */
export interface StudyReport {
  /** In Markdown; figures are named by `figuresPath` and their own names. */
  readonly page: string;
  readonly figures: readonly { readonly name: string; readonly svg: string }[];
}

/**
 * Writes up a study: its tables beside those of the thesis, what differs, and its figures. The same results, the same text.
 *
 * @param figuresPath from the page to the figures' folder, with a slash at its end, or empty.
 */
export function reportStudy(settings: StudySettings, parts: readonly StudyPart[], figuresPath = ''): StudyReport {
  const traces = groupByTrace(parts.filter(({ chunk }) => chunk.variant === undefined));
  const runCount = parts.reduce((total, { chunk }) => total + countRuns(chunk), 0);
  const figures = traces.flatMap((trace) => [figureOf(trace, 'turnaround'), figureOf(trace, 'waste')]);
  const page = [
    introduction(settings, runCount), section('Speedup (Tables 4.3 and 4.6)', speedupTable(traces)), section('What differs from the thesis', differences(settings, traces)),
    section('Offered load (Tables 4.4 and 4.5)', loadTable(traces)), section('Mixed, and who wins (sections 4.4, 4.7)', outcomeTable(traces)),
    ...heterogeneitySection(traces), section('Waste (section 4.6)', wasteTable(traces)),
    ...traces.map((trace) => section(`${trace.trace.title}: adaptive over static by job type`, typeTable(trace, figuresPath))),
    section('Assumptions', assumptions), section('What changes when an assumption is varied', variationTable(parts)), section('What is not here', departures(settings)),
  ].join('\n');
  return { page, figures };
}

function section(title: string, body: string): string {
  return `\n## ${title}\n\n${body}\n`;
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)].join('\n');
}

function show({ value, halfInterval }: Estimate): string {
  if (!Number.isFinite(value)) return '-';
  return Number.isFinite(halfInterval) ? `${value.toFixed(2)} +- ${halfInterval.toFixed(2)}` : value.toFixed(2);
}

function speedupTable(traces: readonly TraceResults[]): string {
  const rows = traces.map(({ trace, parts }) => {
    const [adaptive, mixed] = [pairsOf(parts, 'adaptive', 'turnaround'), pairsOf(parts, 'mixed', 'turnaround')];
    const seed = seedNumbers[trace.id];
    return [
      trace.title, show(meanOfRatios(adaptive)), String(seed?.adaptive ?? '-'), show(ratioOfSums(adaptive)),
      show(meanOfRatios(mixed)), String(seed?.mixed ?? '-'), show(ratioOfSums(mixed)),
    ];
  });
  const titles = ['trace', 'adaptive: mean of speedups', 'thesis', 'ratio of sums', 'mixed: mean of speedups', 'thesis', 'ratio of sums'];
  return `${table(titles, rows)}\n\nA speedup is the static turnarounds of a scenario over those of the other heuristic (Eq. 4.1), a scenario being a job type with a maxPR. `
    + 'The mean is over scenarios; the ratio of sums adds up the mean turnarounds of all scenarios first, so that long jobs are nearly all of it. '
    + '+- is half of the 95 % confidence interval, the instants being what was drawn.';
}

function differences({ isQuick }: StudySettings, traces: readonly TraceResults[]): string {
  const lines = traces.flatMap(({ trace, parts }) => {
    const seed = seedNumbers[trace.id];
    return (['adaptive', 'mixed'] as const).flatMap((heuristic) => {
      const wanted = seed?.[heuristic];
      if (wanted === undefined) return [];
      const { value, halfInterval } = meanOfRatios(pairsOf(parts, heuristic, 'turnaround'));
      const isInside = Math.abs(value - wanted) <= halfInterval;
      const percent = Math.abs(100 * (value / wanted - 1)).toFixed(0);
      return [`- ${trace.title}, ${heuristic}: ${value.toFixed(2)} here, ${wanted} there: ${percent} % ${value < wanted ? 'less' : 'more'}; `
        + `the number of the thesis is ${isInside ? 'inside' : 'outside'} our interval.`];
    });
  });
  const caution = isQuick ? ['The thesis averages over all 36 job types and the short form over nine, so that this is a first look only.', ''] : [];
  return [...caution, ...lines].join('\n');
}

function loadTable(traces: readonly TraceResults[]): string {
  const rows = traces.flatMap(({ trace, parts: [first] }) => (first === undefined ? [] : [[
    trace.title, String(trace.processors), String(first.result.facts.requestCount),
    `${(100 * first.result.facts.offeredLoad).toFixed(1)} %`, `${seedNumbers[trace.id]?.offeredLoad ?? '-'} %`,
  ]]));
  return `${table(['trace', 'processors', 'requests replayed', 'offered load (Eq. 4.2)', 'thesis'], rows)}\n\nThe last end is that of the log; `
    + 'where submissions are multiplied, each request keeps its logged wait. (With the factor alone, CTC SP2 would be at 61.7 % and 79.3 %.)';
}

function outcomeTable(traces: readonly TraceResults[]): string {
  const rows = traces.map(({ trace, parts }) => {
    const counts = countScenarios(parts);
    return [
      trace.title, `${counts.staticWins} of ${counts.scenarios}`, `${counts.greatest.speedup.toFixed(1)} (${counts.greatest.scenario})`,
      `${counts.mixedBetween} of ${counts.scenarios}`, `${counts.triplesBetween} of ${counts.triples}`, `${counts.endedAfterLog} of ${counts.runs}`,
    ];
  });
  const titles = ['trace', 'scenarios where static wins', 'greatest speedup of adaptive', 'scenarios with mixed between', 'jobs with mixed between', 'runs that end after the log'];
  return `${table(titles, rows)}\n\nThe thesis: static never wins on CTC SP2 as logged, where speedups reach 200; mixed lies between the others for every single job.`;
}

function heterogeneitySection(traces: readonly TraceResults[]): string[] {
  const kinds = [1, 2, 4] as const;
  const rows = traces.map(({ trace, parts }) => [trace.title, ...kinds.map((kind) => (
    show(meanOfRatios(pairsOf(parts.filter(({ chunk }) => chunk.type.heterogeneity === kind), 'adaptive', 'turnaround')))
  ))]);
  if (rows.every(([, , two]) => two === '-')) return [];
  return [section('Heterogeneity (section 4.4)', `${table(['trace', '1x', '2x', '4x'], rows)}\n\nAdaptive over static, mean of speedups. The thesis: the difference is below 2 %.`)];
}

function wasteTable(traces: readonly TraceResults[]): string {
  const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)} %`;
  const rows = traces.map(({ trace, parts }) => {
    const pairs = pairsOf(parts, 'adaptive', 'waste');
    return [
      trace.title, ...(['static', 'adaptive', 'mixed'] as const).map((heuristic) => percent(relativeWaste(parts, heuristic))),
      show(meanOfRatios(pairs)), show(ratioOfSums(pairs)), `${pairs.filter((pair) => ratioOf(pair) > 1).length} of ${pairs.length}`,
    ];
  });
  const titles = ['trace', 'static', 'adaptive', 'mixed', 'static / adaptive: mean of ratios', 'ratio of sums', 'scenarios where adaptive wastes less'];
  return `${table(titles, rows)}\n\nThe first three columns are waste (Eq. 3.4) over the useful time of the tasks, all runs together. Scenarios in which adaptive wastes `
    + 'nothing at all are left out of the mean of ratios. The thesis: adaptive wastes less on SP2 and BlueHorizon in most cases, static on CTC SP2.';
}

function variationTable(parts: readonly StudyPart[]): string {
  const row = (trace: string, title: string, group: readonly StudyPart[]): string[] => [trace, title, ...(['adaptive', 'mixed'] as const).map(
    (heuristic) => show(meanOfRatios(pairsOf(group, heuristic, 'turnaround'))),
  ), show(ratioOfSums(pairsOf(group, 'adaptive', 'waste')))];
  const rows = groupByTrace(parts.filter(({ chunk }) => chunk.variant !== undefined)).flatMap(({ trace, parts: varied }) => {
    const types = new Set(varied.map(({ chunk }) => nameType(chunk.type)));
    const plain = parts.filter(({ chunk }) => chunk.variant === undefined && chunk.trace.id === trace.id && types.has(nameType(chunk.type)));
    const variants = [...new Set(varied.map(({ chunk }) => chunk.variant))];
    return [
      row(trace.title, 'none', plain.map((part) => firstRuns(part, variation.instantCount))),
      ...variants.map((variant) => row(trace.title, variant?.title ?? '', varied.filter(({ chunk }) => chunk.variant === variant))),
    ];
  });
  return `${table(['trace', 'varied', 'adaptive over static', 'mixed over static', 'waste, static / adaptive'], rows)}\n\nThree job types only (100 x 100 s, 1000 x 1000 s, `
    + `100 x 10000 s; homogeneous), at the same ${variation.instantCount} instants in every row of a trace; speedups are means over scenarios, waste is the ratio of sums.`;
}

function ratioOf({ reference, other }: PairedValues): number {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return sum(reference) / sum(other);
}

function typeTable({ trace, parts }: TraceResults, figuresPath: string): string {
  const rows = groupByShape(parts).map(({ label, parts: group }) => [
    label, ...requestsMaxima.map((maximum) => meanOfRatios(pairsOf(group, 'adaptive', 'turnaround', [maximum])).value.toFixed(2)),
    show(meanOfRatios(pairsOf(group, 'adaptive', 'turnaround'))), show(meanOfRatios(pairsOf(group, 'mixed', 'turnaround'))),
  ]);
  const titles = ['job type', ...requestsMaxima.map((maximum) => `maxPR ${maximum}`), 'all', 'mixed, all'];
  const image = (name: string, measure: Measure): string => `![${measure === 'waste' ? 'Waste' : 'Speedup'} on ${trace.title}](${figuresPath}${name})`;
  return `${table(titles, rows)}\n\n${image(`speedup-${trace.id}.svg`, 'turnaround')}\n\n${image(`waste-${trace.id}.svg`, 'waste')}`;
}

function figureOf({ trace, parts }: TraceResults, measure: Measure): StudyReport['figures'][number] {
  const lines = groupByShape(parts).map(({ label, parts: group }) => ({
    label, values: requestsMaxima.map((maximum) => meanOfRatios(pairsOf(group, 'adaptive', measure, [maximum])).value),
  }));
  const [what, name] = measure === 'waste' ? ['waste', 'waste'] : ['turnaround', 'speedup'];
  return {
    name: `${name}-${trace.id}.svg`,
    svg: drawLines({ title: `${trace.title}: static ${what} over adaptive ${what}`, across: 'maxPR', up: measure === 'waste' ? 'ratio of waste' : 'speedup', ticks: requestsMaxima.map(String), lines }),
  };
}
