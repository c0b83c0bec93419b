import test from 'ava';
import { siteSelectionStrategies } from '@mutirao/core/site-selection';
import {
  decodePart,
  encodePart,
  exportSiteSelectionJdf,
  listCases,
  listParts,
  siteSelectionRunsCsv,
  reportPlacement,
  StudyResults,
  type MeasuredPart,
  type PartResult,
  type SiteSelectionPart,
} from '@mutirao/sim/gonzalez2010';

const settings = { isQuick: true, seed: '1', experiments: 10 };
const facts = {
  taskCount: 36_770,
  span: 86_400_000,
  overestimate: 2.5,
  taskShares: [0.5, 0.2, 0.2, 0.1],
  workShares: [0.1, 0.2, 0.2, 0.5],
};

/** Results in which every metric of a run is a number of its a and strategy. */
function makeResult(
  part: SiteSelectionPart,
  value: (admissibility: number, strategy: number, experiment: number) => number,
): PartResult {
  const strategy = siteSelectionStrategies.findIndex(({ name }) => name === part.strategy);
  return {
    seed: '1',
    facts,
    cases: listCases(part).map((each) => {
      const admissibility = each.admissibility === 'adaptive' ? 0.6 : each.admissibility;
      return {
        ...each,
        metrics: new Array<number>(14).fill(value(admissibility, strategy, part.experiment)),
        meanAdmissibility: admissibility,
        theoremRatio: 0.5,
      };
    }),
  };
}

function measureAll(parts: readonly SiteSelectionPart[], value: Parameters<typeof makeResult>[1]): MeasuredPart[] {
  return parts.map((part) => ({ part, result: makeResult(part, value) }));
}

test('a study is its experiments, each at three loads and once with more serial work, for every strategy, and there for two at lighter loads', (t) => {
  t.is(listParts({ ...settings, isQuick: false }).length, 14 * (10 * 3 + 5) + 5 * 2 * 2);
  t.is(listParts({ ...settings, isQuick: false, experiments: 1 }).length, 14 * 4 + 2 * 2);
  t.is(listParts(settings).length, 14);
  t.is(new Set(listParts({ ...settings, isQuick: false }).map(({ id }) => id)).size, 14 * 35 + 20);
  t.deepEqual(
    listParts({ ...settings, isQuick: false, experiments: 1 })
      .filter(({ load }) => load < 0.7)
      .map(({ id }) => id),
    ['serial-0-0_3-random', 'serial-0-0_3-min-lp', 'serial-0-0_5-random', 'serial-0-0_5-min-lp'],
  );
  const [first] = listParts({ ...settings, isQuick: false, experiments: 1 });
  const getWays = (load: number, mix: string): string[] => {
    const part = listParts({ ...settings, isQuick: false, experiments: 1 }).find(
      (each) => each.load === load && each.mix.id === mix,
    );
    return [...new Set(listCases(part!).map(({ local, counted }) => `${local} ${counted}`))];
  };
  t.deepEqual(getWays(0.7, 'logs'), ['fcfs unfinished']);
  t.deepEqual(getWays(0.85, 'logs'), ['fcfs unfinished', 'fcfs all', 'easy unfinished', 'conservative unfinished']);
  t.deepEqual(getWays(0.85, 'serial'), ['fcfs unfinished']);
  const middle = listParts({ ...settings, isQuick: false, experiments: 1 }).find(
    ({ load, mix }) => load === 0.85 && mix.id === 'logs',
  );
  t.is(
    listCases({ ...middle!, experiment: 5 }).filter(({ local }) => local === 'easy').length,
    1,
    'the later experiments have a = 1 alone',
  );
  for (const local of ['easy', 'conservative'])
    t.is(listCases(middle!).filter((each) => each.local === local).length, 13, `every a under ${local}`);
  t.deepEqual(
    listCases(first!)
      .slice(0, 11)
      .map(({ admissibility }) => admissibility),
    [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
  );
});

test('a part is read as it was written, and not where it is cut short or another one', (t) => {
  const [part, other] = listParts(settings) as [SiteSelectionPart, SiteSelectionPart];
  const result = makeResult(part, (a) => 1 + a);
  const text = encodePart(part, result);
  t.deepEqual(decodePart(text, part, '1'), result);
  t.is(decodePart(text, part, '2'), undefined);
  t.is(decodePart(text, other, '1'), undefined);
  t.is(decodePart(text, { ...part, isQuick: false }, '1'), undefined);
  const lines = text.split('\n');
  t.is(decodePart(`${lines.slice(0, -2).join('\n')}\n`, part, '1'), undefined);
  t.is(decodePart(text.slice(0, -5), part, '1'), undefined);
  t.is(decodePart('', part, '1'), undefined);
});

test('improvements are reported experiment by experiment, for the better, and none is none', (t) => {
  const parts = listParts({ ...settings, isQuick: false, experiments: 2 }).filter(({ mix }) => mix.id === 'logs');
  // Half as much at 0.5 in the first experiment, as much in the second.
  const results = new StudyResults(measureAll(parts, (a, _, experiment) => (a === 0.5 && experiment === 0 ? 5 : 10)));
  const selection = { mix: 'logs', load: 0.7, strategy: 3 } as const;
  t.is(results.improvementOf(selection, { admissibility: 0.5 }, { admissibility: 1 }, 0), 25);
  t.is(
    results.improvementOf(selection, { admissibility: 0.5 }, { admissibility: 1 }, 2),
    -25,
    'of utilisation, more is better',
  );
  t.deepEqual(results.bestImprovementOf(selection, 0), { percent: 25, admissibility: 0.5, isSure: false });
  t.is(results.bestImprovementOf(selection, 2), undefined);
  t.is(results.bestAdmissibilityOf(selection, 2), 1);
  t.is(results.countOf('logs'), 2);
});

test('the experiments give the certainty of a gain: strategies are averaged within each first, and what all share widens no interval', (t) => {
  const parts = listParts({ ...settings, isQuick: false, experiments: 3 }).filter(({ mix }) => mix.id === 'logs');
  const selections = [3, 4].map((strategy) => ({ mix: 'logs', load: 0.7, strategy }) as const);
  const getGain = (
    value: Parameters<typeof makeResult>[1],
    chosen: Parameters<StudyResults['getGain']>[0] = selections,
  ): ReturnType<StudyResults['getGain']> =>
    new StudyResults(measureAll(parts, value)).getGain(chosen, { admissibility: 0.5 }, { admissibility: 1 }, 0);
  // 10, 20 and 30 % of the one, 50 % less of the other: what the two have in common is drawn three times, not six.
  const gain = getGain((a, strategy, experiment) =>
    a === 0.5 ? 100 - 10 * (experiment + 1) + (strategy === 4 ? 50 : 0) : 100,
  );
  t.is(gain.count, 3);
  t.true(Math.abs(gain.mean - -5) < 1e-9);
  t.true(Math.abs(gain.halfInterval - (4.3027 * 10) / Math.sqrt(3)) < 1e-9);
  // The experiments differ tenfold, the gain is the same in each.
  const same = getGain((a, _, experiment) => (a === 0.5 ? 9 : 10) * 10 ** experiment);
  t.true(Math.abs(same.mean - 10) < 1e-9 && same.halfInterval < 1e-9);
  t.is(
    new StudyResults(measureAll(parts, (a) => (a === 0.5 ? 9 : 10))).bestImprovementOf(selections[0]!, 0)?.isSure,
    true,
  );
  t.is(getGain(() => 1, [{ mix: 'logs', load: 0.9, strategy: 3 }]).mean, NaN, 'what was not run has no gain');
});

test('the page judges the adaptive a against each fixed one by the intervals', (t) => {
  const all = { ...settings, isQuick: false, experiments: 2 };
  const parts = measureAll(listParts(all), () => 10).map(({ part, result }) => ({
    part,
    result: {
      ...result,
      cases: result.cases.map((each) => ({
        ...each,
        metrics: each.metrics.map(() =>
          each.admissibility === 'adaptive' ? 8 : each.admissibility === 0.6 ? 7 + part.experiment : 10,
        ),
      })),
    },
  }));
  const { page } = reportPlacement(all, parts, 'gonzalez2010');
  for (const runs of [
    'the five logs, FCFS, all loads',
    'EASY',
    'conservative',
    'ended tasks counted',
    'more serial work',
  ]) {
    t.true(
      page.includes(
        `| ${runs} | m1 competitive factor | 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.52, 0.7, 0.8, 0.9, 1 | 0.6 | none |`,
      ),
      runs,
    );
  }
  t.true(
    page.includes(
      '| adaptive | 20.00 +- 0.00 | 20.00 +- 0.00 | 20.00 +- 0.00 | 20.00 +- 0.00 | 20.00 +- 0.00 | 20.00 +- ' +
        '0.00 | 20.00 +- 0.00 |',
    ),
    'at every load, and under every other way',
  );
  t.true(page.includes('| 1 | 20.00 +- 0.00 | 42 / 0 / 0 |'));
});

test('ranks are means over the metrics, equal values sharing the better rank', (t) => {
  const results = new StudyResults(measureAll(listParts(settings), (_, strategy) => Math.max(2, strategy)));
  const ranks = results.meanRanksOf('logs', 0.85, () => 1);
  // Of 12 metrics less is better, of 2 more.
  const expected = (less: number, more: number): number => (12 * less + 2 * more) / 14;
  t.deepEqual(ranks.slice(0, 4), [expected(1, 12), expected(1, 12), expected(1, 12), expected(4, 11)]);
  t.is(ranks[13], expected(14, 1));
});

test('the page says which run it is of, and has every table', (t) => {
  const parts = measureAll(
    listParts({ ...settings, isQuick: false, experiments: 2 }),
    (a, strategy) => 2 + strategy / 10 - a / 10,
  );
  const { page, boundSvg, factorsSvg } = reportPlacement(
    { ...settings, isQuick: false, experiments: 2 },
    parts,
    'gonzalez2010',
  );
  t.true(
    page.includes(
      '`mutirao sim study gonzalez2010 --experiments 2 --seed 1 --out DIR`: 2 of the 10 disjoint experiments of ' +
        'the five logs at loads 0.7, 0.85, 1, and 2 of a mix',
    ),
  );
  for (const title of [
    'Compared with the seed',
    'Table III',
    'Ranking with and without the scheme',
    'Every a',
    'Theorem 1',
    'An a that follows the load',
    'Settled otherwise',
    'Run by Mutirao itself',
    'The experiments',
  ])
    t.true(page.includes(`## ${title}\n`), title);
  t.false(page.includes('NaN') || page.includes('undefined'));
  t.regex(
    page,
    /with more serial work, also at lighter loads \| 0\.3: random [+-][\d.]+ % [^|]*; 0\.5: [^|]*; 0\.85: [^|]* \| no \|/u,
  );
  t.true(page.includes('(1.57@.6)') && !page.includes('(1.57@.5)'), 'Min_ST gains 1.57 % in m5 at a = 0.6 in the seed');
  t.true(boundSvg.includes('1 + 4/a^2') && factorsSvg.includes('offered load 0.85'));
  t.is(
    siteSelectionRunsCsv(parts).split('\n').length,
    2 + parts.reduce((sum, { part }) => sum + listCases(part).length, 0),
  );
  t.true(
    reportPlacement(
      settings,
      measureAll(listParts(settings), () => 1),
      'x',
    ).page.includes('--quick --seed 1'),
  );
});

test('an exported study has a task for each part, which brings its results where the study looks for them', (t) => {
  const text = exportSiteSelectionJdf(
    { ...settings, isQuick: false, experiments: 2 },
    { command: 'mutirao', data: '/logs' },
  );
  t.is(text.split('\ntask:').length - 1, listParts({ ...settings, isQuick: false, experiments: 2 }).length);
  t.true(
    text.includes(
      'remote: mutirao sim study-chunk gonzalez2010 logs-1-0_85-min-st --experiments 2 --seed 1 --data ' +
        '"$STORAGE" --out result.jsonl\nfinal:\n  get result.jsonl parts/logs-1-0_85-min-st.jsonl',
    ),
  );
  t.true(text.includes('  store /logs/swf/SDSC-SP2-1998-4.2-cln.swf.gz swf/SDSC-SP2-1998-4.2-cln.swf.gz'));
});
