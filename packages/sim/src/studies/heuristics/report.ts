import { section, table } from '../costa2005/markdown.ts';
import { drawSpeedups, type HeuristicsFigure } from './figures.ts';
import type { HeuristicsPart } from './records.ts';
import { definitions, introduction, leftOut, notes, tracesNotUsed } from './report-text.ts';
import { findCandidate, countRuns, type HeuristicsSettings, type PartName } from './scenarios.ts';
import { groupScenarios, nameWay } from './scenario-times.ts';
import { Resampling } from './statistics.ts';
import {
  localTable,
  lossCountTable,
  lossTable,
  overBetter,
  requestsTable,
  shapeTable,
  showInterval,
  speedupTable,
  traceTable,
  variantTable,
  wasteTable,
  type TableSetup,
} from './tables.ts';

/** A study as a page and its figures. */
export interface HeuristicsReport {
  /** In Markdown; figures are named by the path that was given and their own names. */
  readonly page: string;
  readonly figures: readonly Pick<HeuristicsFigure, 'name' | 'svg'>[];
}

/**
 * Writes up a study: its tables, figures and where it falls short. The same results, the same text.
 *
 * @param parts of all chunks of the settings. @param figuresPath from the page to the figures' folder, with a slash at
 * its end, or empty.
 */
export function reportHeuristics(
  settings: HeuristicsSettings,
  parts: readonly HeuristicsPart[],
  figuresPath = '',
): HeuristicsReport {
  const groups = groupScenarios(parts);
  const resampling = new Resampling(settings.seed);
  const of = (part: PartName): TableSetup => ({
    settings,
    resampling,
    groups: groups.filter((group) => group.part === part),
  });
  const main = of('main');
  const candidate = findCandidate(settings);
  const figures = drawSpeedups(main.groups, settings, resampling);
  const runCount = parts.reduce((sum, { chunk }) => sum + countRuns(chunk), 0);
  const page = [
    introduction(settings, runCount),
    section('What is measured', definitions(settings), tracesSection(parts)),
    ...(main.groups.length === 0
      ? []
      : [
          section(
            'Speedup',
            speedupTable(main),
            notes.speedup,
            aimsTable(main, candidate),
            ...figures.map(({ name, caption }) => `![${caption}](${figuresPath}${name})\n\n*${caption}.*`),
          ),
          ...(candidate === undefined
            ? []
            : [
                section(`\`${candidate}\` by job type`, shapeTable(main, candidate), notes.shapes),
                lossSection(main, candidate),
              ]),
          section('Waste', wasteTable(main), notes.waste),
          section('What the manager is asked', requestsTable(main), notes.requests),
          section('Local users', localTable(main), notes.local),
        ]),
    ...queuesSections(of('queues'), candidate),
    ...(candidate === undefined
      ? []
      : [
          ...variantSection(parts, of('ablations'), candidate, 'ablations'),
          ...variantSection(parts, of('constants'), candidate, 'constants'),
        ]),
    ...largeSection(of('large')),
    section('What was left out, and what this does not show', leftOut(settings, parts), tracesNotUsed),
  ].join('\n');
  return { page, figures };
}

function tracesSection(parts: readonly HeuristicsPart[]): string {
  const first = new Map<string, HeuristicsPart>();
  for (const part of parts) if (!first.has(part.chunk.trace.id)) first.set(part.chunk.trace.id, part);
  return traceTable(
    [...first.values()].map(({ chunk: { trace }, result: { facts } }) => ({
      title: trace.title,
      processors: trace.processors,
      walltime: trace.walltimeMax,
      ...facts,
    })),
  );
}

/** The project's aims for its heuristic, by trace. */
const aims: Readonly<Record<string, number>> = { sp2: 2.7, blue: 3.8, ctc: 1.9 };

function aimsTable({ groups, resampling }: TableSetup, candidate: string | undefined): string {
  if (candidate !== 'finish') return '';
  const rows = groups
    .filter(({ policy, trace }) => policy === 'start-now' && aims[trace.id] !== undefined)
    .map((group) => {
      const found = overBetter(group, candidate, resampling);
      const aim = aims[group.trace.id] ?? NaN;
      return [group.trace.title, aim.toFixed(1), showInterval(found), found.value >= aim ? 'reached' : 'missed'];
    });
  return rows.length === 0
    ? ''
    : `The aims for \`${candidate}\` under \`start-now\`:\n\n${table(['trace', 'aim', 'found', ''], rows)}`;
}

function lossSection(setup: TableSetup, candidate: string): string {
  return section(
    `Where \`${candidate}\` loses`,
    lossCountTable(setup, candidate),
    notes.losses,
    lossTable(setup, candidate) ?? 'There is no such scenario.',
  );
}

function queuesSections(setup: TableSetup, candidate: string | undefined): string[] {
  if (setup.groups.length === 0) return [];
  return [
    section(
      'First come, first served, and EASY',
      speedupTable(setup),
      ...(candidate === undefined ? [] : [lossCountTable(setup, candidate)]),
      wasteTable(setup),
      notes.queues,
    ),
  ];
}

const variantTitles = { ablations: 'Each idea switched off', constants: 'Other constants' } as const;

function variantSection(
  parts: readonly HeuristicsPart[],
  setup: TableSetup,
  candidate: string,
  name: 'ablations' | 'constants',
): string[] {
  const ways = new Map(
    parts.flatMap(({ chunk }) =>
      chunk.part === name && chunk.variant !== undefined ? [[nameWay(chunk), chunk.variant.title] as const] : [],
    ),
  );
  if (ways.size === 0) return [];
  return [
    section(
      `${variantTitles[name]}: \`${candidate}\``,
      variantTable(
        setup,
        [...ways].map(([way, title]) => ({ way, title })),
        candidate,
      ),
      notes[name],
    ),
  ];
}

function largeSection(setup: TableSetup): string[] {
  return setup.groups.length === 0
    ? []
    : [section('Jobs of 100,000 tasks', speedupTable(setup, { isSplit: false }), wasteTable(setup), notes.large)];
}
