import { pairsOf, relativeWaste, type StudyPart } from './compare.ts';
import { variationRows } from './comparison-tables.ts';
import { percent, show, table } from './markdown.ts';
import { seedNumbers } from './seed-numbers.ts';
import { meanOfRatios, ratioOfSums } from './statistics.ts';
import { usersVariant } from './variants.ts';

/** Tables 4.3 and 4.6 again with static asking for maxP always; undefined where that was not run. */
export function usersTable(parts: readonly StudyPart[]): string | undefined {
  const rows = variationRows(parts.filter(({ chunk }) => chunk.variant === undefined || chunk.variant.id === usersVariant.id), Infinity);
  if (rows.length === 0) return undefined;
  return table(['trace', 'static asks for', 'adaptive: mean of speedups', 'thesis', 'ratio of sums', 'mixed: mean of speedups', 'thesis', 'ratio of sums', 'waste of static'], rows.map(({ traceId, trace, title, parts: group }) => {
    const [adaptive, mixed] = [pairsOf(group, 'adaptive', 'turnaround'), pairsOf(group, 'mixed', 'turnaround')];
    return [
      trace, title === 'none' ? 'its share' : 'maxP', show(meanOfRatios(adaptive)), String(seedNumbers[traceId]?.adaptive ?? '-'), show(ratioOfSums(adaptive)),
      show(meanOfRatios(mixed)), String(seedNumbers[traceId]?.mixed ?? '-'), show(ratioOfSums(mixed)), percent(relativeWaste(group, 'static')),
    ];
  }));
}
