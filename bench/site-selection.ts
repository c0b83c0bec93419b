// Site selection: a decision among 100 providers, and one experiment of gonzalez2010 (36,770 tasks, 11 clusters) by each
// strategy. Reads MUTIRAO_DATA; exit 3 without it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  findSiteSelectionStrategy,
  siteSelectionStrategies,
  SiteSelectionTable,
  QueueModel,
  type SiteSelectionStrategy,
} from '@mutirao/core/site-selection';
import { firstComeFirstServed } from '@mutirao/core/queue';
import { Prng } from '@mutirao/core/shared';
import { parseSwf, selectRequests } from '@mutirao/formats';
import { runSiteSelection } from '@mutirao/sim';
import { clusterSizes, mixes, sampleExperiment, scaleToLoad } from '@mutirao/sim/gonzalez2010';
import { below, median, option, plain, report, type Figure } from './harness.ts';

const data = process.env['MUTIRAO_DATA'] ?? '';
const rounds = option('rounds', 3);

/** Milliseconds of this thread's processor time, so that a busy machine does not count. */
function timed(work: () => void): number {
  const { user, system } = process.cpuUsage();
  work();
  const spent = process.cpuUsage({ user, system });
  return (spent.user + spent.system) / 1000;
}

/** 100 providers of 8 to 4,096 processors, each with 50 tasks that run and 150 that wait. */
function fillTable(): SiteSelectionTable {
  const prng = new Prng('providers');
  return new SiteSelectionTable(
    Array.from({ length: 100 }, (_, index) => {
      const processors = 8 * 2 ** prng.below(10);
      const book = new QueueModel(processors);
      for (let id = 0; id < 200; id += 1) {
        book.add(
          id,
          {
            width: 1 + prng.below(id < 50 ? Math.max(1, processors / 64) : processors),
            walltime: 1000 * (1 + prng.below(36_000)),
            submittedAt: 0,
          },
          0,
        );
        if (id < 50) book.start(id, 0);
      }
      return { name: `p${index}`, book, level: 4, receivedAt: Infinity };
    }),
  );
}

/** Time of a decision in ms: the median of many, each after `changed` queues have changed. */
function decisions(strategy: SiteSelectionStrategy, changed: number): number {
  const table = fillTable();
  const prng = new Prng('decisions');
  const rules = { strategy, admissibility: 1, staleAfter: 60_000 };
  const task = { width: 1, walltime: 3_600_000, submittedAt: 0 };
  const times: number[] = [];
  for (let round = 0; round < 200; round += 1) {
    for (let each = 0; each < changed; each += 1) {
      const book = table.resources[changed === 1 ? prng.below(100) : each]?.book;
      book?.add(10_000, task, 0);
      book?.end(10_000, 0);
    }
    const start = performance.now();
    table.decide(rules, task, 0, prng);
    times.push(performance.now() - start);
  }
  return median(times);
}

function decisionFigures(): Figure[] {
  const figures = [
    siteSelectionStrategies.filter(({ level }) => level < 4),
    siteSelectionStrategies.filter(({ level }) => level === 4),
  ].map((strategies, index) =>
    below(
      `decision among 100 providers, slowest strategy of ${index === 0 ? 'levels 0 to 3' : 'level 4'}, one ` +
        'queue changed',
      Math.max(...strategies.map((strategy) => decisions(strategy, 1))),
      'ms',
      1,
    ),
  );
  const minSt = findSiteSelectionStrategy('min-st') as SiteSelectionStrategy;
  return [...figures, plain('the same by min-st, all 100 queues of 200 changed', decisions(minSt, 100), 'ms')];
}

function experimentFigures(): Figure[] {
  const logs = mixes.logs.files.map(
    (file) =>
      selectRequests(
        parseSwf(gunzipSync(readFileSync(join(data, file))), file).records.filter(
          ({ requestedTime }) => requestedTime > 0,
        ),
        { processors: 32 },
      ).requests,
  );
  const tasks = sampleExperiment(logs, 0);
  return [0.85, 1].flatMap((load) => {
    const stream = scaleToLoad(tasks, load);
    const findSeconds = (strategy: SiteSelectionStrategy, admissibility: number): number =>
      median(
        Array.from({ length: rounds }, () =>
          timed(() => {
            runSiteSelection(
              { sizes: clusterSizes, policy: firstComeFirstServed, strategy, admissibility, seed: 'bench' },
              stream,
            );
          }),
        ),
      ) / 1000;
    return [0.5, 1].flatMap((admissibility) => {
      const seconds = siteSelectionStrategies.map((strategy) => ({
        strategy,
        time: findSeconds(strategy, admissibility),
      }));
      const slowest = (isFull: boolean): { readonly strategy: SiteSelectionStrategy; readonly time: number } =>
        seconds
          .filter(({ strategy }) => (strategy.level === 4) === isFull)
          .reduce((one, other) => (other.time > one.time ? other : one));
      const [low, high] = [slowest(false), slowest(true)];
      console.error(`  slowest: ${low.strategy.name} and ${high.strategy.name}`);
      const name = `an experiment at load ${load}, a = ${admissibility}, slowest of`;
      return [below(`${name} levels 0 to 3`, low.time, 's', 1), below(`${name} level 4`, high.time, 's', 4)];
    });
  });
}

const missing = mixes.logs.files.filter((file) => !existsSync(join(data, file)));
if (data === '' || missing.length > 0) {
  console.error(
    `Set MUTIRAO_DATA to a folder that holds logs of the Parallel Workloads Archive: ${mixes.logs.files.join(', ')}`,
  );
  process.exit(3);
}
report('site-selection', [...decisionFigures(), ...experimentFigures()]);
