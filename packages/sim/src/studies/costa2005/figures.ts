import { drawPanels, type Panel, type PanelLine } from '../../svg/draw-panels.ts';
import { groupByShape, getLabel, listPairs, type Measure, type StudyPart, type TraceResults } from './compare.ts';
import { requestsMaxima, type JobType } from './scenarios.ts';
import { meanOfRatios } from './statistics.ts';

/** A figure of the study, numbered as the thesis numbers its own. */
export interface StudyFigure {
  /** Of its file. */
  readonly name: string;
  /** In Markdown, below the figure. */
  readonly caption: string;
  readonly svg: string;
}

const axes = { turnaround: 'speedup: static / adaptive', waste: 'waste: static / adaptive' } as const;
const measureTitles = {
  turnaround: 'speedup of adaptive over static',
  waste: 'waste of static over waste of adaptive',
} as const;

/** The figures for which there are results, in the order of their numbers. @source costa2005, Figures 4.1 to 4.10. */
export function drawFigures(traces: readonly TraceResults[]): StudyFigure[] {
  const drawers: ((traces: readonly TraceResults[]) => StudyFigure | undefined)[] = [
    byHeterogeneity('4.1', 'sp2', 'turnaround'),
    fewLongTasks,
    largeJobs,
    byHeterogeneity('4.4', 'bluehorizon', 'turnaround'),
    byHeterogeneity('4.5', 'ctc', 'turnaround'),
    byFactor('4.6', 'turnaround'),
    byHeterogeneity('4.7', 'sp2', 'waste'),
    byHeterogeneity('4.8', 'bluehorizon', 'waste'),
    byHeterogeneity('4.9', 'ctc', 'waste'),
    byFactor('4.10', 'waste'),
  ];
  return drawers.flatMap((draw) => draw(traces) ?? []);
}

/** A panel for each heterogeneity, a line for each job type. */
function byHeterogeneity(number: string, id: string, measure: Measure) {
  return (traces: readonly TraceResults[]): StudyFigure | undefined => {
    const found = traces.find(({ trace }) => trace.id === id);
    if (found === undefined) return undefined;
    const panels = ([1, 2, 4] as const).map((heterogeneity) => ({
      title: `heterogeneity ${heterogeneity}x`,
      lines: found.parts
        .filter(({ chunk }) => chunk.type.heterogeneity === heterogeneity)
        .map((part) => getLine([part], measure)),
    }));
    return getFigure(number, `${found.trace.title}: ${measureTitles[measure]}`, measure, panels);
  };
}

/** A panel for each factor of the submissions, a line for job types that differ in heterogeneity alone. */
function byFactor(number: string, measure: Measure) {
  return (traces: readonly TraceResults[]): StudyFigure | undefined => {
    const scaled = traces.filter(({ trace }) => trace.loadFactor !== 1);
    const panels = scaled.map(({ trace, parts }, index) => ({
      title: `(${'abcdef'[index] ?? ''}) submissions x ${trace.loadFactor}`,
      lines: groupByShape(parts).map((group) => getLine(group.parts, measure)),
    }));
    return getFigure(number, `CTC SP2 with more load: ${measureTitles[measure]}`, measure, panels);
  };
}

function fewLongTasks(traces: readonly TraceResults[]): StudyFigure | undefined {
  const types: readonly Shape[] = [
    [100, 10_000],
    [1000, 10_000],
  ];
  return byShape('4.2', 'SDSC SP2, few long tasks', types, traces);
}

function largeJobs(traces: readonly TraceResults[]): StudyFigure | undefined {
  const types: readonly Shape[] = [
    [10_000, 1000],
    [10_000, 10_000],
    [100_000, 1000],
    [100_000, 10_000],
  ];
  return byShape('4.3', 'SDSC SP2, large jobs', types, traces);
}

type Shape = readonly [taskCount: number, seconds: number];

/**
 * A panel for each of the shapes on SP2, a line for each heterogeneity, with intervals: three lines leave room for
 * them.
 */
function byShape(
  number: string,
  title: string,
  shapes: readonly Shape[],
  traces: readonly TraceResults[],
): StudyFigure | undefined {
  const parts = traces.find(({ trace }) => trace.id === 'sp2')?.parts ?? [];
  const panels = shapes.map(([taskCount, seconds]) => ({
    title: `${taskCount} x ${seconds} s`,
    lines: parts
      .filter(({ chunk: { type } }) => type.taskCount === taskCount && type.meanTaskTime === 1000 * seconds)
      .map((part) => ({
        ...getLine([part], 'turnaround', true),
        label: `heterogeneity ${part.chunk.type.heterogeneity}x`,
        look: lookOfHeterogeneity(part.chunk.type),
      })),
  }));
  return getFigure(number, `${title}: ${measureTitles.turnaround}`, 'turnaround', panels);
}

function getFigure(number: string, title: string, measure: Measure, panels: readonly Panel[]): StudyFigure | undefined {
  const drawn = panels.filter(({ lines }) => lines.length > 0);
  if (drawn.length === 0) return undefined;
  const labels = new Set(drawn.flatMap(({ lines }) => lines.map(({ label }) => label)));
  const legendColumns = labels.size > 3 ? Math.ceil(labels.size / 3) : Math.max(1, labels.size);
  const ticks = requestsMaxima.map(String);
  return {
    name: `figure-${number}.svg`,
    caption: `Figure ${number}. ${title}`,
    svg: drawPanels({
      title,
      across: 'maxPR (requests of the job at once)',
      up: axes[measure],
      ticks,
      panels: drawn,
      panelsAcross: drawn.length === 4 ? 2 : drawn.length,
      legendColumns,
      hasOwnAxes: measure === 'waste',
    }),
  };
}

/** One line of several parts: the mean of their ratios at each maxPR. */
function getLine(parts: readonly StudyPart[], measure: Measure, hasIntervals = false): PanelLine {
  const estimates = requestsMaxima.map((maximum) => meanOfRatios(listPairs(parts, 'adaptive', measure, [maximum])));
  const [first] = parts;
  return {
    label: first === undefined ? '' : getLabel(first.chunk.type),
    look: first === undefined ? { colour: 0, mark: 0 } : lookOf(first.chunk.type),
    values: estimates.map(({ value }) => value),
    ...(hasIntervals ? { halfIntervals: estimates.map(({ halfInterval }) => halfInterval) } : {}),
  };
}

/** The colour stands for the number of tasks, the mark for their length. */
function lookOf({ taskCount, meanTaskTime }: JobType): PanelLine['look'] {
  return { colour: Math.round(Math.log10(taskCount)) - 2, mark: Math.round(Math.log10(meanTaskTime / 1000)) - 2 };
}

function lookOfHeterogeneity({ heterogeneity }: JobType): PanelLine['look'] {
  const place = [1, 2, 4].indexOf(heterogeneity);
  return { colour: place, mark: place };
}
