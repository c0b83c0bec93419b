import test from 'ava';
import type { BrokerChange } from '@mutirao/core/machines/broker';
import type { ProviderChange } from '@mutirao/core/machines/provider';
import type { Duration, Instant, ProcessorCount } from '@mutirao/core/shared';
import {
  calmFaults,
  honestManager,
  runWorld,
  type ClusterPlan,
  type Scenario,
  type WorldTurn,
} from '../../src/index.ts';

const minute = 60_000;
/** A demand is sent up to four times a second, and needs time to arrive. */
const stale: Duration = 1_000;

function cluster(changes: Partial<ClusterPlan>): ClusterPlan {
  return {
    processors: 64,
    requestsMax: 1,
    widthMax: 64,
    walltimeMax: 60 * minute,
    compression: 'start-now',
    heuristic: 'static',
    localPerHour: 0,
    speedSpread: 0,
    faults: honestManager,
    isWatched: true,
    ...changes,
  };
}

function getScenario(seed: string, taskCount: number, clusters: readonly ClusterPlan[]): Scenario {
  return {
    version: 1,
    seed,
    clusters,
    labs: [],
    faults: calmFaults,
    turnDelayMax: 1,
    stormDuration: 10 * minute,
    network: { delayMax: 5, lossProbability: 0, duplicateProbability: 0 },
    jobs: [
      {
        submittedAfter: 20_000,
        taskCount,
        meanTaskTime: minute,
        spread: 0.5,
        replicasMax: 1,
        failuresMax: 1,
        brokenTaskCount: 0,
        failureProbability: 0,
        inputCount: 0,
        hasOutput: false,
        isChecked: false,
      },
    ],
  };
}

/**
 * What all providers together ask for whenever one of them asks for something, beside the tasks that were pending when
 * it heard of them.
 */
class Askings {
  readonly all: { readonly at: Instant; readonly asked: ProcessorCount; readonly pending: number }[] = [];
  readonly providers = new Set<string>();
  readonly #widths = new Map<string, ProcessorCount>();
  readonly #pending: { readonly at: Instant; readonly count: number }[] = [{ at: 0, count: 0 }];

  receive({ at, process, changes }: WorldTurn): void {
    if (process === 'broker') for (const change of changes as readonly BrokerChange[]) this.#onBroker(change, at);
    if (!process.startsWith('provider')) return;
    for (const change of changes as readonly ProviderChange[]) {
      if (change.kind === 'RequestDrafted') this.#draft(process, change, at);
      else if (change.kind === 'RequestEnded') this.#widths.delete(`${process} ${change.requestId}`);
    }
  }

  #onBroker(change: BrokerChange, at: Instant): void {
    const count = this.#pending.at(-1)?.count ?? 0;
    if (change.kind === 'JobAccepted')
      this.#pending.push({
        at,
        count:
          count + change.spec.groups.reduce((sum, { values }) => sum + (values.kind === 'range' ? values.count : 0), 0),
      });
    if (change.kind === 'ReplicasEnded')
      this.#pending.push({
        at,
        count: count - change.endings.filter(({ disposition }) => disposition === 'accepted').length,
      });
  }

  #draft(process: string, { requestId, width }: ProviderChange & { kind: 'RequestDrafted' }, at: Instant): void {
    this.#widths.set(`${process} ${requestId}`, width);
    this.providers.add(process);
    const known = this.#pending.filter((_level, index) => (this.#pending[index + 1]?.at ?? Infinity) >= at - stale);
    const asked = [...this.#widths.values()].reduce((sum, one) => sum + one, 0);
    this.all.push({ at, asked, pending: Math.max(...known.map(({ count }) => count)) });
  }
}

const pairs: Readonly<Record<string, readonly ClusterPlan[]>> = {
  'two alike': [cluster({}), cluster({})],
  'a small one and a large one': [cluster({ processors: 4, widthMax: 4 }), cluster({})],
  'two heuristics': [cluster({ heuristic: 'adaptive' }), cluster({ heuristic: 'initial' })],
  'one whose queue is long': [
    cluster({ local: [{ after: 0, width: 64, walltime: 5 * minute, runTime: 5 * minute }] }),
    cluster({}),
  ],
};

for (const [name, clusters] of Object.entries(pairs)) {
  test(`clusters share a job and never ask together for more processors than there are pending tasks: ${name}`, (t) => {
    for (const taskCount of [1, 2, 7, 60]) {
      const askings = new Askings();
      const { failure } = runWorld(getScenario(`${name} ${taskCount}`, taskCount, clusters), (turn) => {
        askings.receive(turn);
      });
      t.is(failure, undefined);
      t.true(askings.all.length > 0);
      for (const { at, asked, pending } of askings.all)
        t.true(
          asked <= pending,
          `${taskCount} tasks, at ${at}: ${asked} processors are asked for, ${pending} tasks are pending`,
        );
      if (taskCount > 1) t.is(askings.providers.size, 2, `${taskCount} tasks: both are asked`);
    }
  });
}
