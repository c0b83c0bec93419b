import { groupByShape, groupByTrace, listPairs, type StudyPart, type TraceResults } from './compare.ts';
import {
  averagingTable,
  heterogeneityTable,
  keptWaitsNote,
  loadTable,
  outcomeTable,
  speedupTable,
  startsTable,
  variationTable,
  wasteTable,
} from './comparison-tables.ts';
import { explainDifferences } from './differences.ts';
import { drawFigures, type StudyFigure } from './figures.ts';
import { section, show, table } from './markdown.ts';
import { assumptions, departures, introduction, notes } from './report-text.ts';
import { countRuns, requestsMaxima, type StudySettings } from './scenarios.ts';
import type { StartsPart } from './starts.ts';
import { meanOfRatios } from './statistics.ts';
import { judgeUsersWay, usersTable } from './users-way.ts';
import { usersExtent, usersVariant } from './variants.ts';

/** Everything that a study found. */
export interface StudyResults {
  readonly settings: StudySettings;
  readonly parts: readonly StudyPart[];
  /** Of the two simulators. */
  readonly comparisons: readonly StartsPart[];
}

/** A study as a page and its figures. */
export interface StudyReport {
  /** In Markdown; figures are named by `figuresPath` and their own names. */
  readonly page: string;
  readonly figures: readonly { readonly name: string; readonly svg: string }[];
}

/**
 * Writes up a study: its tables next to those of the thesis, what differs, and its figures. The same results, the same
 * text.
 *
 * @param figuresPath from the page to the figures' folder, with a slash at its end, or empty.
 */
export function reportStudy({ settings, parts, comparisons }: StudyResults, figuresPath = ''): StudyReport {
  const traces = groupByTrace(parts.filter(({ chunk }) => chunk.variant === undefined));
  const varied = parts.filter(({ chunk }) => chunk.variant?.id !== usersVariant.id);
  const figures = drawFigures(traces);
  const runCount = parts.reduce((total, { chunk }) => total + countRuns(chunk), 0);
  const users = usersTable(parts);
  const page = [
    introduction(settings, runCount),
    section('Speedup (Tables 4.3 and 4.6)', speedupTable(traces), notes.speedup),
    section(
      'What differs from the thesis, and why',
      settings.isQuick ? notes.quickDiffers : notes.differs,
      explainDifferences(traces, parts),
    ),
    ...traces.filter(({ trace }) => trace.loadFactor === 1).map((trace) => traceSection(trace, figures, figuresPath)),
    section(
      'Offered load (Tables 4.4 and 4.5, section 4.5)',
      loadTable(traces),
      keptWaitsNote(traces),
      showFigure(figures, '4.6', figuresPath),
    ),
    ...traces
      .filter(({ trace }) => trace.loadFactor !== 1)
      .map((trace) => section(`${trace.trace.title} (section 4.5)`, typeTable(trace))),
    ...heterogeneitySection(traces),
    section(
      'Waste (section 4.6)',
      wasteTable(traces),
      notes.waste,
      ...['4.7', '4.8', '4.9', '4.10'].map((number) => showFigure(figures, number, figuresPath)),
    ),
    section('Mixed, and who wins (sections 4.4 and 4.7)', outcomeTable(traces), notes.outcome),
    section('Two simulators compared (Table 4.7, section 4.8)', startsTable(comparisons), notes.starts),
    section('Averaging varied (Eq. 4.1)', averagingTable(traces), notes.averaging),
    section('Assumptions', assumptions),
    section('What changes when an assumption is varied', variationTable(varied), notes.variation),
    ...(users === undefined
      ? []
      : [
          section(
            'Static as the users asked (Tables 4.3 and 4.6 again, section 3.3.1)',
            users,
            notes.users(settings.instants ?? usersExtent.instantCount),
            judgeUsersWay(parts),
          ),
        ]),
    section('What is not here', departures(settings)),
  ].join('\n');
  return { page, figures: figures.map(({ name, svg }) => ({ name, svg })) };
}

/** A trace as logged: its figures of speedup, and the numbers behind them. */
function traceSection(results: TraceResults, figures: readonly StudyFigure[], figuresPath: string): string {
  const { numbers, section: source } = places[results.trace.id] ?? { numbers: [], section: '4.4' };
  return section(
    `${results.trace.title}: adaptive over static by job type (section ${source})`,
    ...numbers.map((number) => showFigure(figures, number, figuresPath)),
    typeTable(results),
  );
}

/** Which figures of the thesis are about a trace, and where. */
const places: Readonly<Record<string, { readonly numbers: readonly string[]; readonly section: string }>> = {
  sp2: { numbers: ['4.1', '4.2', '4.3'], section: '4.4.1' },
  bluehorizon: { numbers: ['4.4'], section: '4.4.2' },
  ctc: { numbers: ['4.5'], section: '4.4.2' },
};

function showFigure(figures: readonly StudyFigure[], number: string, figuresPath: string): string {
  const figure = figures.find(({ name }) => name === `figure-${number}.svg`);
  return figure === undefined
    ? ''
    : `![${figure.caption}](${figuresPath}${figure.name})\n\n*${figure.caption}${notes.figures[number] ?? ''}*`;
}

function heterogeneitySection(traces: readonly TraceResults[]): string[] {
  const rows = heterogeneityTable(traces);
  return rows === undefined ? [] : [section('Heterogeneity (sections 4.4.1 and 4.4.2)', rows, notes.heterogeneity)];
}

function typeTable({ parts }: TraceResults): string {
  const rows = groupByShape(parts).map(({ label, parts: group }) => [
    label,
    ...requestsMaxima.map((maximum) =>
      meanOfRatios(listPairs(group, 'adaptive', 'turnaround', [maximum])).value.toFixed(2),
    ),
    show(meanOfRatios(listPairs(group, 'adaptive', 'turnaround'))),
    show(meanOfRatios(listPairs(group, 'mixed', 'turnaround'))),
  ]);
  return table(['job type', ...requestsMaxima.map((maximum) => `maxPR ${maximum}`), 'all', 'mixed, all'], rows);
}
