// Live site selection: the time of a broker's step that assigns gangs to one of 100 providers, which report their
// queues as sums. --gangs N more gangs are open.
import {
  brokerMachine,
  type BrokerInput,
  createBrokerState,
  defaultBrokerOptions,
} from '@mutirao/core/machines/broker';
import { type SiteSelectionStrategy, siteSelectionStrategies, QueueModel } from '@mutirao/core/site-selection';
import { Prng } from '@mutirao/core/shared';
import { aJob } from '@mutirao/testkit';
import { below, option, plain, report } from './harness.ts';

const { decisionsMax } = defaultBrokerOptions.siteSelection;
const providerCount = 100;
const openCount = option('gangs', 500);
const rounds = option('rounds', 50);

/** Clusters of 8 to 4,096 processors, each with 50 requests that run and 150 that wait. */
function reports(): BrokerInput[] {
  const prng = new Prng('providers');
  return Array.from({ length: providerCount }, (_, index): BrokerInput => {
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
    const resourceStatus = {
      processors,
      widthMax: processors,
      isTimeShared: false,
      isDraining: false,
      queue: { age: 0, trouble: '', ownWork: 0, known: book.summarize(0) },
    };
    return { kind: 'ResourceReported', providerId: `p${index}`, resourceStatus };
  });
}

/**
 * Milliseconds of processor time of a step that assigns `count` waiting gangs and takes no input: the mean of many
 * steps, after as many to warm up. The step does not compute the demand.
 */
function findTime(siteSelection: string, count: number): number {
  const state = createBrokerState();
  let now = 10_000_000;
  const step = (...inputs: BrokerInput[]): void => {
    brokerMachine.step(state, inputs, now);
  };
  for (let index = 0; index < providerCount; index += 1) {
    const providerId = `p${index}`;
    step(
      { kind: 'ProviderAdded', replyTo: 0, providerId, address: 'h:1' },
      { kind: 'ProviderConnected', providerId, reportsResource: true },
      { kind: 'ProviderSynced', providerId },
    );
  }
  step(...reports());
  const submit = (width: number, tasks: number): BrokerInput => ({
    kind: 'JobSubmitted',
    replyTo: 0,
    userId: 'ann',
    clientJobId: '',
    spec: {
      ...aJob(tasks, {
        processors: width,
        gang: true,
        replicasMax: 1,
        limits: { runTimeMax: 3_600_000, memoryMax: 0, outputMax: 0 },
      }),
      siteSelection,
    },
  });
  step(submit(4, openCount));
  for (let round = 0; round < Math.ceil(openCount / 250); round += 1) {
    now += 10;
    step({ kind: 'TimerFired' });
  }
  let spent = 0;
  for (let round = -rounds; round < rounds; round += 1) {
    now += 10;
    step(submit(2, decisionsMax + count));
    now += 1;
    const began = process.cpuUsage();
    step({ kind: 'TimerFired' });
    const { user, system } = process.cpuUsage(began);
    if (round >= 0) spent += (user + system) / 1000;
    step({ kind: 'JobCancelled', replyTo: 0, userId: 'ann', jobId: state.nextJobId - 1, reason: '' });
  }
  return spent / rounds;
}

/** The time of a step with one decision, less that of a step with none. */
function first({ name }: SiteSelectionStrategy): number {
  return findTime(name, 1) - findTime('none', 1);
}

/** What each further decision of a step takes. */
function further({ name }: SiteSelectionStrategy): number {
  return (findTime(name, 201) - findTime(name, 1)) / 200;
}

// What is compiled on the way counts in none of the figures.
findTime('min-wwota', 201);
const [low, high] = [
  siteSelectionStrategies.filter(({ level }) => level < 4),
  siteSelectionStrategies.filter(({ level }) => level === 4),
];
const worst = (
  strategies: readonly SiteSelectionStrategy[],
  measure: (strategy: SiteSelectionStrategy) => number,
): number => Math.max(...strategies.map(measure));
report('live-site-selection', [
  plain('a step in which nothing is placed', findTime('none', 1), 'ms'),
  below(
    `a decision alone in its step, with ${openCount} assigned gangs: slowest of levels 0 to 3`,
    worst(low, first),
    'ms',
    1,
  ),
  below('the same of level 4', worst(high, first), 'ms', 1),
  below('each further one of a step, slowest of levels 0 to 3', worst(low, further), 'ms', 1),
  below('each further one of a step, slowest of level 4', worst(high, further), 'ms', 1),
]);
