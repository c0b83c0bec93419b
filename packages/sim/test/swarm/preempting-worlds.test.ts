// Managers that take allocations away by SIGKILL and list that late: the truth of the world fails where a task is given
// up for losses that were preemptions.
import test from 'ava';
import type { BrokerChange } from '@mutirao/core/machines/broker';
import { drawScenario, preemptingScenario, readScenario, runWorld, type WorldTurn } from '../../src/index.ts';

class Seen {
  lostCount = 0;
  /** The most that any task lost in silence. */
  lostMax = 0;
  readonly #byTask = new Map<string, number>();

  receive({ process, changes }: WorldTurn): void {
    if (process !== 'broker') return;
    for (const change of changes as readonly BrokerChange[]) {
      if (change.kind !== 'ReplicasEnded') continue;
      for (const { reason, taskIndex } of change.endings)
        if (reason === 'MUT_MACHINE_LOST') this.#count(`${change.jobId}.${taskIndex}`);
    }
  }

  #count(task: string): void {
    const count = (this.#byTask.get(task) ?? 0) + 1;
    this.#byTask.set(task, count);
    this.lostCount += 1;
    this.lostMax = Math.max(this.lostMax, count);
  }
}

test('no task is given up for preemptions, in five worlds whose managers preempt by SIGKILL and list it late', (t) => {
  const seen = new Seen();
  for (let seed = 0; seed < 5; seed += 1) {
    const { failure } = runWorld(preemptingScenario(drawScenario(`preempts ${seed}`)), (turn) => {
      seen.receive(turn);
    });
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
  t.true(
    seen.lostMax > 20 && seen.lostCount > 100,
    `${seen.lostCount} replicas were lost, and ${seen.lostMax} of one task`,
  );
});

test('a world whose managers preempt survives being written down', (t) => {
  const scenario = preemptingScenario(drawScenario('7'));
  t.deepEqual(readScenario(JSON.parse(JSON.stringify(scenario))), scenario);
});
