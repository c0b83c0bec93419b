import { parseObject } from '@mutirao/core/shared';
import type { CaseResult, PartResult, WorkloadFacts } from './measure-part.ts';
import { listCases, type SiteSelectionPart } from './parts.ts';

/** Writes a part's results as JSON lines: what it is, then a line for each run. */
export function encodePart(part: SiteSelectionPart, { seed, facts, cases }: PartResult): string {
  const head = {
    study: 'gonzalez2010',
    version: 1,
    part: part.id,
    quick: part.isQuick,
    seed,
    task_count: facts.taskCount,
    span_ms: facts.span,
    overestimate: facts.overestimate,
    task_shares: facts.taskShares,
    work_shares: facts.workShares,
  };
  const lines = cases.map(({ admissibility, local, counted, meanAdmissibility, theoremRatio, metrics }) => ({
    a: admissibility,
    local,
    counted,
    mean_a: meanAdmissibility,
    theorem_ratio: theoremRatio,
    metrics,
  }));
  return [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Reads a part's results; undefined where they are not all there, or are those of another part, size or seed. */
export function decodePart(text: string, part: SiteSelectionPart, seed: string): PartResult | undefined {
  const lines = text.split('\n');
  const [head, ...rest] = lines.slice(0, -1).map(parseObject);
  if (lines.at(-1) !== '' || head === undefined) return undefined;
  const wanted = { study: 'gonzalez2010', version: 1, part: part.id, quick: part.isQuick, seed };
  if (Object.entries(wanted).some(([name, value]) => head[name] !== value)) return undefined;
  const facts: WorkloadFacts = {
    taskCount: Number(head['task_count']),
    span: Number(head['span_ms']),
    overestimate: Number(head['overestimate']),
    taskShares: head['task_shares'] as number[],
    workShares: head['work_shares'] as number[],
  };
  const cases = listCases(part).map((each, index): CaseResult | undefined => {
    const line = rest[index];
    const metrics = line?.['metrics'];
    if (line?.['a'] !== each.admissibility || line['local'] !== each.local || line['counted'] !== each.counted)
      return undefined;
    if (!Array.isArray(metrics) || metrics.length !== 14 || metrics.some((value) => typeof value !== 'number'))
      return undefined;
    return {
      ...each,
      metrics: metrics as number[],
      meanAdmissibility: Number(line['mean_a']),
      theoremRatio: Number(line['theorem_ratio']),
    };
  });
  if (rest.length !== cases.length || cases.includes(undefined)) return undefined;
  return { seed, facts, cases: cases as CaseResult[] };
}
