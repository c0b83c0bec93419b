import type { Verification } from '@mutirao/core/messages';
import { drawPanels } from '../../svg/draw-panels.ts';
import { runTrustBag, type TrustCase } from './run-bag.ts';

/** Bags of one kind, together. */
export interface TrustRow {
  readonly name: string;
  readonly saboteurs: string;
  readonly wrongShare: number;
  /** Half of the 95 % confidence interval of the mean over bags. */
  readonly halfInterval: number;
  readonly runsPerTask: number;
  readonly hungShare: number;
  readonly quarantinedSaboteurs: number;
  readonly quarantinedHonest: number;
}

/** A report, and its picture. */
export interface TrustReport {
  readonly markdown: string;
  readonly svg: string;
  readonly runCount: number;
  /** Kinds of bags. */
  readonly partCount: number;
}

interface Saboteurs extends Pick<TrustCase, 'saboteurShare' | 'errorRate' | 'colludes' | 'honestUntil'> {
  readonly name: string;
}

const alone = { colludes: false, honestUntil: 0 };
const kinds: readonly Saboteurs[] = [
  { name: '10 %, half of their results wrong', saboteurShare: 0.1, errorRate: 0.5, ...alone },
  { name: '10 %, a tenth wrong', saboteurShare: 0.1, errorRate: 0.1, ...alone },
  { name: '20 %, half wrong', saboteurShare: 0.2, errorRate: 0.5, ...alone },
  { name: '10 %, half wrong, colluding', saboteurShare: 0.1, errorRate: 0.5, colludes: true, honestUntil: 0 },
  { name: '30 %, all wrong, colluding', saboteurShare: 0.3, errorRate: 1, colludes: true, honestUntil: 0 },
  {
    name: '10 %, honest for half of the bag, then all wrong',
    saboteurShare: 0.1,
    errorRate: 1,
    colludes: false,
    honestUntil: 0.5,
  },
];
const ways: readonly { readonly name: string; readonly verification: Verification }[] = [
  { name: 'none', verification: { kind: 'none' } },
  ...[2, 3, 5].map((count) => ({ name: `vote:${count}`, verification: { kind: 'vote' as const, count } })),
  ...[0.9, 0.99, 0.999].map((threshold) => ({
    name: `credibility:${threshold}`,
    verification: { kind: 'credibility' as const, threshold },
  })),
];

/** Runs all bags of the study and writes what came of them; the same seed, the same report. */
export function studyTrust({
  bagCount,
  taskCount,
  seed,
}: {
  readonly bagCount: number;
  readonly taskCount: number;
  readonly seed: string;
}): TrustReport {
  const rows = kinds.flatMap((kind) => ways.map((way) => summarise(kind, way, { bagCount, taskCount, seed })));
  return {
    markdown: write(rows, { bagCount, taskCount, seed }),
    svg: draw(rows),
    runCount: rows.length * bagCount,
    partCount: rows.length,
  };
}

function summarise(
  kind: Saboteurs,
  way: (typeof ways)[number],
  { bagCount, taskCount, seed }: { readonly bagCount: number; readonly taskCount: number; readonly seed: string },
): TrustRow {
  const { name: saboteurs, ...setup } = kind;
  const outcomes = Array.from({ length: bagCount }, (_, index) =>
    runTrustBag(
      { ...setup, verification: way.verification, machineCount: 100, taskCount },
      `${seed} ${saboteurs} ${index}`,
    ),
  );
  const shares = outcomes.map(({ wrongCount, takenCount }) => wrongCount / Math.max(1, takenCount));
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const wrongShare = mean(shares);
  const variance = shares.reduce((sum, share) => sum + (share - wrongShare) ** 2, 0) / Math.max(1, bagCount - 1);
  return {
    name: way.name,
    saboteurs,
    wrongShare,
    halfInterval: 1.96 * Math.sqrt(variance / bagCount),
    runsPerTask: mean(outcomes.map(({ runCount }) => runCount / taskCount)),
    hungShare: mean(outcomes.map(({ hungCount }) => hungCount / taskCount)),
    quarantinedSaboteurs: mean(outcomes.map((outcome) => outcome.quarantinedSaboteurs)),
    quarantinedHonest: mean(outcomes.map((outcome) => outcome.quarantinedHonest)),
  };
}

function write(
  rows: readonly TrustRow[],
  { bagCount, taskCount, seed }: { readonly bagCount: number; readonly taskCount: number; readonly seed: string },
): string {
  const percent = (share: number): string => `${(100 * share).toFixed(3)} %`;
  const sections = kinds.flatMap(({ name }) => [
    `## Saboteurs: ${name}`,
    '',
    '| verification | wrong results taken | runs per task | caught, of saboteurs | caught, honest | given up |',
    '|---|---|---|---|---|---|',
    ...rows
      .filter(({ saboteurs }) => saboteurs === name)
      .map(
        (row) =>
          `| ${row.name} | ${percent(row.wrongShare)} ± ${percent(row.halfInterval)} | ` +
          `${row.runsPerTask.toFixed(3)} | ${row.quarantinedSaboteurs.toFixed(1)} | ${row.quarantinedHonest.toFixed(1)} | ` +
          `${percent(row.hungShare)} |`,
      ),
    '',
  ]);
  return [
    '# What trust costs',
    '',
    `Bags of ${taskCount} tasks on 100 machines, ${bagCount} of each kind; seed ${seed}. Intervals are of 95 % ` +
      'confidence over bags.',
    '',
    '![Runs per task against wrong results](trust.svg)',
    '',
    ...sections,
  ].join('\n');
}

function draw(rows: readonly TrustRow[]): string {
  const line = (label: string, colour: number, values: (row: TrustRow) => number, saboteurs: string) => ({
    label,
    look: { colour, mark: colour },
    values: rows.filter((row) => row.saboteurs === saboteurs).map(values),
  });
  return drawPanels({
    title: 'What trust costs: runs per task, and wrong results taken',
    across: 'verification',
    up: 'runs per task; wrong results in %',
    ticks: ways.map(({ name }) => name.replace('credibility:', 'Q ').replace('vote:', 'vote ')),
    panels: kinds.map(({ name }) => ({
      title: name,
      lines: [
        { ...line('runs per task', 0, (row) => row.runsPerTask, name), isUnjoined: true },
        { ...line('wrong results, %', 1, (row) => 100 * row.wrongShare, name), isUnjoined: true },
      ],
    })),
    panelsAcross: 2,
    legendColumns: 2,
    hasZeroRow: true,
  });
}
