// Findings that were there before their rule: counted by file and rule, and only ever fewer.
import type { Finding } from './rules.ts';

/** The number of known findings, by file and rule. */
export type KnownFindings = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Counts findings, with files and rules in the order of the alphabet. Dead links are never known: they must be mended. */
export function countFindings(findings: readonly Finding[]): KnownFindings {
  const counts: Record<string, Record<string, number>> = {};
  for (const { file, rule } of findings) {
    if (rule === 'dead link') continue;
    const ofFile = (counts[file] ??= {});
    ofFile[rule] = (ofFile[rule] ?? 0) + 1;
  }
  const sorted = <Value>(record: Record<string, Value>): [string, Value][] =>
    Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted(counts).map(([file, ofFile]) => [file, Object.fromEntries(sorted(ofFile))]));
}

/** What a reader is shown: findings above the known number of their file and rule, and known ones that are gone. */
export function compareFindings(findings: readonly Finding[], known: KnownFindings): string[] {
  const counts = countFindings(findings);
  const added = findings.filter(({ file, rule }) => (counts[file]?.[rule] ?? 1) > (known[file]?.[rule] ?? 0));
  const gone = Object.entries(known).flatMap(([file, ofFile]) =>
    Object.entries(ofFile)
      .filter(([rule, count]) => (counts[file]?.[rule] ?? 0) < count)
      .map(([rule, count]) => `${file}: ${counts[file]?.[rule] ?? 0} of ${count} known "${rule}" are left`),
  );
  return [
    ...added.map(({ file, line, rule, message }) => {
      const before = known[file]?.[rule] ?? 0;
      return `${file}:${line}: [${rule}] ${message}${before > 0 ? ` (this file may have ${before})` : ''}`;
    }),
    ...(gone.length === 0
      ? []
      : [...gone, 'Fewer findings than known: run "scripts/prose --shrink" and commit the list.']),
  ];
}

/** The total of each rule that is above what is known: files may move, findings may not be added. */
export function findGrowth(counts: KnownFindings, known: KnownFindings): string[] {
  const [now, before] = [totals(counts), totals(known)];
  return [...now]
    .filter(([rule, count]) => count > (before.get(rule) ?? 0))
    .map(([rule, count]) => `"${rule}": ${count} findings, ${before.get(rule) ?? 0} known`);
}

function totals(counts: KnownFindings): Map<string, number> {
  const sums = new Map<string, number>();
  for (const ofFile of Object.values(counts))
    for (const [rule, count] of Object.entries(ofFile)) sums.set(rule, (sums.get(rule) ?? 0) + count);
  return sums;
}
