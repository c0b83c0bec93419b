import test from 'ava';
import {
  listChunks, reportStudy, requestsMaxima, studyHeuristics, type ChunkRun, type StudyChunk, type StudyHeuristic, type StudyPart,
} from '@mutirao/sim/costa2005';

const settings = { isQuick: true, seed: '1' };

/** Results in which each heuristic has the turnaround and waste that the table says. */
function partOf(chunk: StudyChunk, turnarounds: Readonly<Record<StudyHeuristic, number>>, wastes: Readonly<Record<StudyHeuristic, number>>): StudyPart {
  const runs: ChunkRun[] = requestsMaxima.flatMap((requestsMax) => studyHeuristics.flatMap((heuristic) => Array.from({ length: chunk.instantCount }, (_, run) => ({
    requestsMax, heuristic, run, instant: run, turnaround: turnarounds[heuristic], waste: wastes[heuristic], taskTime: 1000, requestCount: 1, endsAfterLog: run === 0,
  }))));
  return { chunk, result: { seed: '1', facts: { requestCount: 7, offeredLoad: 0.5 }, runs } };
}

const parts = listChunks(settings).map((chunk) => partOf(
  chunk, chunk.trace.id === 'sp2' ? { static: 400, adaptive: 200, mixed: 250 } : { static: 100, adaptive: 200, mixed: 300 }, { static: 300, adaptive: 100, mixed: 0 },
));
const { page, figures } = reportStudy(settings, parts, 'figures/');

test('speedups stand beside those of the thesis (Tables 4.3 and 4.6)', (t) => {
  t.true(page.includes('| SDSC SP2 | 2.00 +- 0.00 | 2.05 | 2.00 +- 0.00 | 1.60 +- 0.00 | 1.37 | 1.60 +- 0.00 |'));
  t.true(page.includes('| CTC SP2, submissions x 0.9 | 0.50 +- 0.00 | 1.99 | 0.50 +- 0.00 | 0.33 +- 0.00 | - | 0.33 +- 0.00 |'));
  t.true(page.includes('- SDSC SP2, mixed: 1.60 here, 1.37 there: 17 % more; the number of the thesis is outside our interval.'));
  t.true(page.includes('- CTC SP2, adaptive: 0.50 here, 14.74 there: 97 % less;'));
});

test('it says who wins, whether mixed is between, and what ends after the log (section 4.7)', (t) => {
  t.true(page.includes('| SDSC SP2 | 0 of 54 | 2.0 (100x100s-1x, maxPR 1) | 54 of 54 | 1080 of 1080 | 162 of 3240 |'));
  t.true(page.includes('| CTC SP2 | 54 of 54 | 0.5 (100x100s-1x, maxPR 1) | 0 of 54 | 0 of 1080 | 162 of 3240 |'));
});

test('waste is told over useful time, and as the ratio of static over adaptive (section 4.6)', (t) => {
  t.true(page.includes('| SDSC SP2 | 30.0 % | 10.0 % | 0.0 % | 3.00 +- 0.00 | 3.00 +- 0.00 | 54 of 54 |'));
});

test('each trace has its load, its job types and two figures that the page shows', (t) => {
  t.true(page.includes('| CTC SP2 | 512 | 7 | 50.0 % | 55 % |'));
  t.true(page.includes('| 10000 x 1000 s | 2.00 | 2.00 | 2.00 | 2.00 | 2.00 | 2.00 | 2.00 +- 0.00 | 1.60 +- 0.00 |'));
  t.is(figures.length, 10);
  for (const { name, svg } of figures) {
    t.true(page.includes(`(figures/${name})`), name);
    t.regex(svg, /^<svg /);
  }
});

test('the quick form is marked as such and has no table of heterogeneity; the whole study is not and has', (t) => {
  t.regex(page, /\*\*short form \(`--quick`\)\*\*/);
  t.false(page.includes('## Heterogeneity'));
  const whole = { isQuick: false, seed: '1' };
  const all = listChunks(whole).map((chunk) => partOf(chunk, { static: 2 * chunk.type.heterogeneity, adaptive: 1, mixed: 1 }, { static: 1, adaptive: 1, mixed: 1 }));
  const wholePage = reportStudy(whole, all).page;
  t.true(wholePage.includes('| SDSC SP2 | 2.00 +- 0.00 | 4.00 +- 0.00 | 8.00 +- 0.00 |'));
  t.false(wholePage.includes('short form'));
});

test('the same results are the same page', (t) => {
  t.deepEqual(reportStudy(settings, parts, 'figures/'), { page, figures });
});

test('varied assumptions have rows of their own and stay out of the other tables', (t) => {
  t.true(page.includes('| SDSC SP2 | none | 2.00 +- 0.00 | 1.60 +- 0.00 | 3.00 +- 0.00 |'));
  t.true(page.includes('| CTC SP2 | DEFAULT_TIME 60 s | 0.50 +- 0.00 | 0.33 +- 0.00 | 3.00 +- 0.00 |'));
  const varied = parts.map((part) => (part.chunk.variant?.id === 'reinsert'
    ? partOf(part.chunk, { static: 900, adaptive: 100, mixed: 100 }, { static: 1, adaptive: 1, mixed: 1 }) : part));
  const { page: other } = reportStudy(settings, varied, 'figures/');
  t.true(other.includes('| SDSC SP2 | compression by `reinsert` | 9.00 +- 0.00 |'));
  const rest = (text: string): string[] => text.split('\n').filter((line) => !line.includes('`reinsert` |'));
  t.deepEqual(rest(other), rest(page));
});
