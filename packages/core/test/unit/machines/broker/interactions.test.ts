import test from 'ava';
import { BrokerHarness, checkInteractions } from '@mutirao/testkit';

const subjects = [
  'scheduling',
  'schedulers',
  'replication-caps',
  'prefetch',
  'failures',
  'recovery',
  'demand',
  'matching',
  'results',
  'walltimes',
  'walltime-max',
  'votes',
  'vote-caps',
  'quarantined-later',
  'convictions',
  'credibility',
  'cancelled',
  'open-jobs',
  'cancelled-tasks',
  'cancelled-workflow-tasks',
  'running-max',
  'running-max-gangs',
  'held-votes',
  'held-replicas',
  'avoided-replicas',
  'held-tasks',
  'forgotten',
  'dependencies',
  'dependencies-each',
  'dependencies-retried',
  'times',
  'priorities',
  'unconfirmed',
  'unconfirmed-gangs',
  'reservations',
  'own-reservations',
  'workflows',
  'workflow-failures',
  'workflow-data',
  'workflow-resumed',
  'workflow-demand',
  'widths',
  'plan',
  'plan-unplaced',
  'plan-waits',
  'shutdown',
  'gangs',
  'gang-turns',
  'gang-losses',
  'gang-demand',
  'site-selection',
  'site-selection-moves',
  'site-selection-unknown',
  'site-selection-hopeless',
  'site-selection-instant',
  'clock',
  'draining',
  'draining-now',
  'draining-gangs',
  'explain-machine',
  'resources',
  'resource-gangs',
  'alternatives',
  'memory-auto',
  'bad-nodes',
  'packing',
  'memory-ran-out',
  'retry-memory',
  'retry-memory-gangs',
  'retry-memory-unknown',
];
const leasing = { lease: { horizon: 100_000, replicasMax: 4, interval: 1000, unknownPerSlot: 4 } };

for (const subject of subjects) {
  test(`a broker does what broker-${subject}.txt says`, (t) => {
    const harness = new BrokerHarness();
    checkInteractions(t, new URL(`../../../interactions/broker-${subject}.txt`, import.meta.url), (lines) =>
      harness.perform(lines),
    );
  });
}

test('a broker that receives the status of a reservation does what broker-held.txt says', (t) => {
  const harness = new BrokerHarness();
  checkInteractions(t, new URL('../../../interactions/broker-held.txt', import.meta.url), (lines) =>
    harness.perform(lines),
  );
});

for (const subject of ['leases', 'leases-restart', 'receiving', 'retry-memory-leases']) {
  test(`a broker that leases does what broker-${subject}.txt says`, (t) => {
    const harness = new BrokerHarness(leasing);
    checkInteractions(t, new URL(`../../../interactions/broker-${subject}.txt`, import.meta.url), (lines) =>
      harness.perform(lines),
    );
  });
}
