import { readFileSync } from 'node:fs';
import test from 'ava';
import { conservativeBackfilling, replayRequests, type TracedRequest } from '@mutirao/core/queue';
import { Prng } from '@mutirao/core/shared';
import { parseSwf, selectRequests } from '@mutirao/formats';
import { eventOrders, simulateAgain } from '@mutirao/sim/costa2005';

const fixtures = new URL('../../../../../core/test/fixtures/', import.meta.url);
const { records } = parseSwf(readFileSync(new URL('backfilling-40.swf', fixtures)), 'backfilling-40.swf');
const { requests } = selectRequests(records, { processors: 10, killsAtRequestedTime: false });
const compressions = ['start-now', 'reinsert'] as const;

/** A log with many events of one instant. */
function aTrace(seed: string): TracedRequest[] {
  const prng = new Prng(seed);
  let at = 0;
  return Array.from({ length: 120 }, () => {
    at += prng.below(3);
    const walltime = 1 + prng.below(12);
    return { submittedAt: at, width: 1 + prng.below(8), walltime, runTime: 1 + prng.below(walltime) };
  });
}

function getStarts(
  trace: readonly TracedRequest[],
  compression: 'start-now' | 'reinsert',
  processors: number,
): number[] {
  return replayRequests(conservativeBackfilling(compression), processors, trace).map(({ startedAt }) => startedAt);
}

test('the second simulator has the very starts of the first, under both compressions (costa2005, sections 2.2.1 and 4.8)', (t) => {
  for (const compression of compressions) {
    t.deepEqual(
      simulateAgain(requests, { processors: 10, compression, order: 'settled' }),
      getStarts(requests, compression, 10),
    );
    for (let seed = 0; seed < 40; seed++) {
      const trace = aTrace(`log ${seed}`);
      t.deepEqual(
        simulateAgain(trace, { processors: 8, compression, order: 'settled' }),
        getStarts(trace, compression, 8),
        `${compression} ${seed}`,
      );
    }
  }
});

test('the worked example has the starts that were published with it', (t) => {
  const [titles, ...rows] = readFileSync(new URL('backfilling-40.starts.csv', fixtures), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  for (const compression of compressions) {
    const column = titles!.findIndex((title) => title.replaceAll('_', '-').includes(compression));
    t.true(column > 0, titles!.join());
    t.deepEqual(
      simulateAgain(requests, { processors: 10, compression, order: 'settled' }).map((at) => at / 1000),
      rows.map((row) => Number(row[column])),
    );
  }
});

test('another order of the events of one instant changes starts, if there are such events', (t) => {
  for (const order of eventOrders.slice(1)) {
    const isChanged = Array.from({ length: 40 }, (_, seed) => aTrace(`log ${seed}`)).some((trace) => {
      const setup = { processors: 8, compression: 'start-now' } as const;
      return (
        simulateAgain(trace, { ...setup, order }).join() !== simulateAgain(trace, { ...setup, order: 'settled' }).join()
      );
    });
    t.true(isChanged, order);
    const apart = aTrace('log').map((request, index) => ({ ...request, submittedAt: 1000 * index }));
    t.deepEqual(
      simulateAgain(apart, { processors: 8, compression: 'start-now', order }),
      getStarts(apart, 'start-now', 8),
    );
  }
});
