import { countScenarios, listPairs, type StudyPart, type TraceResults } from './compare.ts';
import { countLess, variationRows } from './comparison-tables.ts';
import { plainLoad } from './loads.ts';
import { grouped, percent, show } from './markdown.ts';
import type { JobType } from './scenarios.ts';
import { seedNumbers, type SeedNumbers } from './seed-numbers.ts';
import { meanOfRatios, type Estimate } from './statistics.ts';
import { usersVariant } from './variants.ts';

/** Loads that are nearer than this are reported as equal; in percent. */
const sameLoad = 1.5;

/**
 * For each trace: by how much its speedups differ from those of the thesis, and what of the difference the study itself
 * shows.
 */
export function explainDifferences(traces: readonly TraceResults[], parts: readonly StudyPart[]): string {
  return traces
    .flatMap((results) => {
      const seed = seedNumbers[results.trace.id];
      return seed === undefined
        ? []
        : [
            `### ${results.trace.title}\n\n${explainTrace(results, seed, { traces, parts })
              .map((line) => `- ${line}`)
              .join('\n')}`,
          ];
    })
    .join('\n\n');
}

interface Study {
  readonly traces: readonly TraceResults[];
  readonly parts: readonly StudyPart[];
}

function explainTrace(results: TraceResults, seed: SeedNumbers, study: Study): string[] {
  const own = (heuristic: 'adaptive' | 'mixed'): Estimate =>
    meanOfRatios(listPairs(results.parts, heuristic, 'turnaround'));
  const numbers = (['adaptive', 'mixed'] as const).flatMap((heuristic) => {
    const wanted = seed[heuristic];
    return wanted === undefined ? [] : [reportNumber(heuristic, own(heuristic), wanted)];
  });
  return [
    ...numbers,
    reportLog(results, seed, study.traces),
    ...reportMoreLoad(results, study.traces),
    reportSpread(results),
    ...reportShapes(results),
    ...reportWaste(results),
    ...reportVariations(results, seed.adaptive, study.parts),
    ...reportUsersWay(results, seed.adaptive, study.parts),
  ];
}

function reportNumber(heuristic: string, own: Estimate, wanted: number): string {
  const apart = `${Math.abs(100 * (own.value / wanted - 1)).toFixed(0)} % ${own.value < wanted ? 'less' : 'more'}`;
  const isInside = Math.abs(own.value - wanted) <= own.halfInterval;
  return (
    `${heuristic} over static is ${show(own)} here and ${wanted} in the thesis, ${apart}; ` +
    (isInside
      ? 'its number lies inside our interval, so that the draw of instants alone may explain it.'
      : 'its number lies outside our interval, so that the draw of instants does not explain it.')
  );
}

function reportLog(results: TraceResults, seed: SeedNumbers, traces: readonly TraceResults[]): string {
  const load = plainLoad(results, traces);
  const count = results.parts[0]?.result.facts.requestCount ?? 0;
  const logs = `Our log has ${grouped(count)} usable requests, the one of the thesis ${grouped(seed.requestCount)} in all`;
  if (load === undefined) return `${logs}.`;
  const apart = 100 * load - seed.offeredLoad;
  if (Math.abs(apart) <= sameLoad)
    return `${logs}. The offered load is the same, ${percent(load)} against ${seed.offeredLoad} %: it explains nothing.`;
  return (
    `${logs}. Ours offers ${percent(load)} of load against ${seed.offeredLoad} %, ` +
    `${apart > 0 ? 'more' : 'less'} by ${Math.abs(apart).toFixed(1)} points. ` +
    'Without the log of the thesis, nobody can say how much of the difference that explains.'
  );
}

/** Of a log that is replayed with more load too: how its speedup goes with the load. */
function reportMoreLoad({ trace }: TraceResults, traces: readonly TraceResults[]): string[] {
  const family = traces.filter((other) => other.trace.file === trace.file);
  if (trace.loadFactor !== 1 || family.length === 1) return [];
  const ours = family.map(({ parts }) => meanOfRatios(listPairs(parts, 'adaptive', 'turnaround')).value);
  const theirs = family.map((other) => seedNumbers[other.trace.id]?.adaptive ?? NaN);
  const falls = (values: readonly number[]): boolean =>
    values.every((value, index) => index === 0 || value < (values[index - 1] ?? 0));
  const drop = ([first = NaN, second = NaN]: readonly number[]): number => first / second;
  const hasDrop = drop(ours) > drop(theirs) / 2;
  return [
    `With submissions x ${family.map((other) => other.trace.loadFactor).join(', ')} our speedup goes ` +
      `${ours.map((value) => value.toFixed(2)).join(', ')}; ` +
      (`in the thesis it goes ${theirs.join(', ')}. ` +
        `${falls(ours) ? 'It falls as the load grows here too' : 'It does not fall steadily here'}; `) +
      (`the drop there by a factor of ${drop(theirs).toFixed(1)} where the load grows by a tenth is ` +
        `${hasDrop ? 'found here too' : `not found here (${drop(ours).toFixed(2)})`}.`),
  ];
}

/** How far a mean over scenarios hangs on a few of them. */
function reportSpread({ parts }: TraceResults): string {
  const values = listPairs(parts, 'adaptive', 'turnaround')
    .map((pair) => meanOfRatios([pair]).value)
    .sort((one, other) => one - other);
  const { greatest, staticWins, scenarios } = countScenarios(parts);
  const median = values[Math.floor(values.length / 2)] ?? NaN;
  return (
    `Half of our ${scenarios} scenarios have a speedup of ${median.toFixed(2)} or more; the greatest is ` +
    `${greatest.speedup.toFixed(1)} (${greatest.scenario}), ` +
    (`${greatest.speedup > 3 * median ? 'and a few such scenarios lift the mean' : 'and no few scenarios make the mean'}. ` +
      `Static is ahead in ${staticWins} of them.`)
  );
}

/** The job types of Figures 4.2 and 4.3, whose winners are named in section 4.4.1. */
function reportShapes({ trace, parts }: TraceResults): string[] {
  if (trace.id !== 'sp2') return [];
  const report = (isWanted: (type: JobType) => boolean): string =>
    show(
      meanOfRatios(
        listPairs(
          parts.filter(({ chunk }) => isWanted(chunk.type)),
          'adaptive',
          'turnaround',
        ),
      ),
    );
  const [few, large] = [
    report(({ taskCount, meanTaskTime }) => taskCount <= 1000 && meanTaskTime === 10_000_000),
    report(({ taskCount, meanTaskTime }) => taskCount >= 10_000 && meanTaskTime >= 1_000_000),
  ];
  return [
    `Few long tasks (Figure 4.2) have a mean speedup of ${few} here, where the thesis finds static better; ` +
      `large jobs (Figure 4.3) have ${large}, where the thesis finds about 1.`,
  ];
}

/** Which heuristic wastes less, and with which tasks. */
function reportWaste({ trace, parts }: TraceResults): string[] {
  if (trace.loadFactor !== 1) return [];
  const ratioFor = (isWanted: (type: JobType) => boolean): Estimate =>
    meanOfRatios(
      listPairs(
        parts.filter(({ chunk }) => isWanted(chunk.type)),
        'adaptive',
        'waste',
      ),
    );
  const scenarios = listPairs(parts, 'adaptive', 'waste');
  const [equal, other] = [
    ratioFor(({ heterogeneity }) => heterogeneity === 1),
    ratioFor(({ heterogeneity }) => heterogeneity !== 1),
  ];
  const byKind = Number.isFinite(other.value)
    ? ` The mean ratio of waste, static over adaptive, is ${show(equal)} for homogeneous jobs and ${show(other)} ` +
      'for the others.'
    : '';
  return [
    `Adaptive wastes less than static in ${countLess(scenarios)} of ${scenarios.length} scenarios; in the ` +
      `thesis ${trace.id === 'ctc' ? 'static does in most' : 'adaptive does in most'}.${byKind}`,
  ];
}

function reportVariations({ trace }: TraceResults, wanted: number, parts: readonly StudyPart[]): string[] {
  const rows = variationRows(parts.filter(({ chunk }) => chunk.variant?.id !== usersVariant.id))
    .filter(({ traceId }) => traceId === trace.id)
    .map(({ title, parts: group }) => ({ title, estimate: meanOfRatios(listPairs(group, 'adaptive', 'turnaround')) }));
  const [plain, ...varied] = rows;
  if (plain === undefined || varied.length === 0) return [];
  const distance = ({ estimate }: { readonly estimate: Estimate }): number =>
    Math.abs(Math.log(estimate.value / plain.estimate.value));
  const sorted = [...varied].sort((one, other) => distance(other) - distance(one));
  const named = sorted.slice(0, 2).map(({ title, estimate }) => `"${title}" (${show(estimate)})`);
  const nearest = [plain, ...varied].reduce((best, row) =>
    Math.abs(row.estimate.value - wanted) < Math.abs(best.estimate.value - wanted) ? row : best,
  );
  return [
    `Of the assumptions that were varied, on three job types whose mean is ${show(plain.estimate)} as settled, ` +
      `${named.join(' and ')} move it most; ` +
      ('nearest to the number of the thesis, which is about all its types, is ' +
        `${nearest === plain ? 'what was settled' : `"${nearest.title}" with ${nearest.estimate.value.toFixed(2)}`}.`),
  ];
}

function reportUsersWay({ trace }: TraceResults, wanted: number, parts: readonly StudyPart[]): string[] {
  const [plain, users] = variationRows(
    parts.filter(({ chunk }) => chunk.variant === undefined || chunk.variant.id === usersVariant.id),
    Infinity,
  )
    .filter(({ traceId }) => traceId === trace.id)
    .map(({ parts: group }) => meanOfRatios(listPairs(group, 'adaptive', 'turnaround')));
  if (plain === undefined || users === undefined) return [];
  const isInside = Math.abs(users.value - wanted) <= users.halfInterval;
  return [
    'If static asks for maxP always, as the users of OurGrid did, the mean over the nine smaller types goes ' +
      `from ${show(plain)} to ${show(users)}, and the ${wanted} of the thesis is ` +
      `${isInside ? 'inside' : 'outside'} that interval.`,
  ];
}
