import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { QueueListing } from '@mutirao/core/messages';
import type { ResourceManager } from '@mutirao/managers';
import { quietLogger } from '@mutirao/runtime/log';
import { QueueWatcher } from '../../../src/resource/queue-watcher.ts';

const limits = { processors: 4, requestsMax: 1, widthMax: 4, walltimeMax: 60_000, walltimeGranularity: 1 };
const listing: QueueListing = { at: 1, processorsFree: 4, requests: [] };

/** A watcher over a queue that fails while `isBroken`, with a timer that fires when the test says so. */
class Bench {
  isBroken = false;
  readings = 0;
  now = 100;
  readonly inputs: ProviderInput[] = [];
  onHint: () => void = () => undefined;
  timer: (() => void) | undefined;
  readonly manager: ResourceManager = {
    allocate: () => Promise.reject(new Error('not asked')),
    release: () => Promise.resolve(),
    limits: () => Promise.resolve(limits),
    queue: () => {
      this.readings += 1;
      this.now += 5;
      return this.isBroken
        ? Promise.reject(new MutiraoError('MUT_DEADLINE_EXCEEDED', 'squeue hung'))
        : Promise.resolve(listing);
    },
    watch: (onHint) => {
      this.onHint = onHint;
    },
    close: () => undefined,
  };
  readonly watcher = new QueueWatcher({
    manager: this.manager,
    userId: 'ana',
    log: quietLogger,
    interval: 1000,
    endedMax: 5,
    random: () => 0.5,
    clock: { now: () => this.now },
    timers: {
      start: (_delay, run) => {
        this.timer = run;
        return run;
      },
      cancel: () => {
        this.timer = undefined;
      },
    },
    deliver: (input) => {
      this.inputs.push(input);
    },
  });

  kinds(): string[] {
    return this.inputs.map((input) => input.kind);
  }
}

test('limits come first, then the listing with the instant at which its reading began', async (t) => {
  const bench = new Bench();
  bench.watcher.start();
  await turn();
  t.deepEqual(bench.inputs, [
    { kind: 'LimitsRead', limits },
    { kind: 'QueueListed', listing, readAt: 100 },
  ]);
});

test("the queue is read on the watcher's own clock, and after hints, one reading at a time", async (t) => {
  const bench = new Bench();
  bench.watcher.start();
  bench.onHint();
  bench.onHint();
  await turn();
  t.is(bench.readings, 2);
  bench.timer?.();
  await turn();
  t.is(bench.readings, 3);
});

test('a reading that failed is reported with its reason, and the next one is tried all the same', async (t) => {
  const bench = new Bench();
  bench.isBroken = true;
  bench.watcher.start();
  await turn();
  t.deepEqual(bench.inputs.at(-1), { kind: 'QueueReadFailed', reason: 'MUT_DEADLINE_EXCEEDED, squeue hung' });
  t.is(bench.watcher.trouble, 'MUT_DEADLINE_EXCEEDED, squeue hung');
  bench.isBroken = false;
  bench.timer?.();
  await turn();
  t.is(bench.inputs.at(-1)?.kind, 'QueueListed');
  t.is(bench.watcher.trouble, '');
});

test('after its end it reports nothing and reads nothing', async (t) => {
  const bench = new Bench();
  bench.watcher.start();
  bench.watcher.stop();
  await turn();
  bench.watcher.hint();
  await turn();
  t.deepEqual(bench.kinds(), []);
  t.is(bench.readings, 1); // The one that was under way.
});
