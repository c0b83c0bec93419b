// Allocations that end by a signal to every process at once: the truth of the world fails where the result of a task
// that had the signal is taken, or counted as its failure.
import test from 'ava';
import type { BrokerChange } from '@mutirao/core/machines/broker';
import { drawScenario, readScenario, runWorld, signallingScenario, type WorldTurn } from '../../src/index.ts';

class Seen {
  givenBack = 0;

  receive({ process, changes }: WorldTurn): void {
    if (process !== 'broker') return;
    for (const change of changes as readonly BrokerChange[]) {
      if (change.kind !== 'ReplicasEnded') continue;
      this.givenBack += change.endings.filter(({ outcome, startedAt }) => outcome === 'broken' && startedAt > 0).length;
    }
  }
}

test('no task that ended with its allocation is taken or counted as failed, in forty worlds whose managers signal tasks before agents', (t) => {
  const seen = new Seen();
  for (let seed = 0; seed < 40; seed += 1) {
    const { failure } = runWorld(signallingScenario(drawScenario(`signals ${seed}`)), (turn) => {
      seen.receive(turn);
    });
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
  t.true(seen.givenBack >= 20, `${seen.givenBack} replicas were given back`);
});

test('a world whose managers signal tasks survives being written down', (t) => {
  const scenario = signallingScenario(drawScenario('7'));
  t.deepEqual(readScenario(JSON.parse(JSON.stringify(scenario))), scenario);
});
