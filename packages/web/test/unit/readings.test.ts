// How often the broker is asked for what pages show.
import test from 'ava';
import type { GatewayParts } from '../../src/server/grid-calls.ts';
import { Readings } from '../../src/server/readings.ts';

/** A broker that takes `answerMs` for each answer, by a clock that stands still otherwise. */
class SlowBroker {
  now = 0;
  answerMs: number;
  calls = 0;
  readonly clock = { now: (): number => this.now };
  readonly readings: Readings;

  constructor(answerMs: number) {
    this.answerMs = answerMs;
    const getOverview = async (): Promise<Record<string, never>> => {
      this.calls += 1;
      this.now += this.answerMs;
      return {};
    };
    this.readings = new Readings({ clock: this.clock, grid: { broker: () => ({ getOverview }) } } as unknown as Pick<
      GatewayParts,
      'grid' | 'clock'
    >);
  }

  /** Asks each 100 ms for a while; answers how often the broker was asked. */
  async askFor(ms: number): Promise<number> {
    const from = this.calls;
    for (const until = this.now + ms; this.now < until; this.now += 100) await this.readings.overview();
    return this.calls - from;
  }
}

test('an answer is kept for half a second, so that many pages ask the broker as often as one', async (t) => {
  t.is(await new SlowBroker(0).askFor(10_000), 20);
});

test('the longer an answer takes, the longer it is kept', async (t) => {
  t.is(await new SlowBroker(100).askFor(10_500), 5);
});

test('however slow answers are, none is kept for more than four seconds, and the page does not stand still', async (t) => {
  t.is(await new SlowBroker(1000).askFor(50_000), 10);
});
