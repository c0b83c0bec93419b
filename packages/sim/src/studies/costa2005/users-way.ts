import { listPairs, relativeWaste, type StudyPart } from './compare.ts';
import { variationRows, type VariationRow } from './comparison-tables.ts';
import { percent, show, table } from './markdown.ts';
import { seedNumbers } from './seed-numbers.ts';
import { meanOfRatios, ratioOfSums } from './statistics.ts';
import { usersVariant } from './variants.ts';

function usersRows(parts: readonly StudyPart[]): VariationRow[] {
  return variationRows(
    parts.filter(({ chunk }) => chunk.variant === undefined || chunk.variant.id === usersVariant.id),
    Infinity,
  );
}

/** How far this way of asking brings each trace towards the thesis. */
export function judgeUsersWay(parts: readonly StudyPart[]): string {
  const reported = usersRows(parts)
    .filter(({ title }) => title !== 'none')
    .map(({ traceId, trace, parts: group }) => {
      const { value, halfInterval } = meanOfRatios(listPairs(group, 'adaptive', 'turnaround'));
      const wanted = seedNumbers[traceId]?.adaptive ?? NaN;
      const verdict = value > wanted ? 'beyond it' : 'short of it';
      return (
        `${trace} comes to ${value.toFixed(2)}, ` +
        `${Math.abs(value - wanted) <= halfInterval ? 'with the number of the thesis inside the interval' : verdict} ` +
        `(${wanted})`
      );
    });
  return (
    `With it, ${reported.join('; ')}. It moves every one of them, ` +
    `${reported.every((line) => line.includes('inside')) ? 'and would explain' : 'and yet it does not explain'} the ` +
    'three numbers together.'
  );
}

/** Tables 4.3 and 4.6 again with static asking for maxP always; undefined where that was not run. */
export function usersTable(parts: readonly StudyPart[]): string | undefined {
  const rows = usersRows(parts);
  if (rows.length === 0) return undefined;
  return table(
    [
      'trace',
      'static asks for',
      'adaptive: mean of speedups',
      'thesis',
      'ratio of sums',
      'mixed: mean of speedups',
      'thesis',
      'ratio of sums',
      'waste of static',
    ],
    rows.map(({ traceId, trace, title, parts: group }) => {
      const [adaptive, mixed] = [listPairs(group, 'adaptive', 'turnaround'), listPairs(group, 'mixed', 'turnaround')];
      return [
        trace,
        title === 'none' ? 'its share' : 'maxP',
        show(meanOfRatios(adaptive)),
        String(seedNumbers[traceId]?.adaptive ?? '-'),
        show(ratioOfSums(adaptive)),
        show(meanOfRatios(mixed)),
        String(seedNumbers[traceId]?.mixed ?? '-'),
        show(ratioOfSums(mixed)),
        percent(relativeWaste(group, 'static')),
      ];
    }),
  );
}
