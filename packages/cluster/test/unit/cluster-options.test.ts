import test from 'ava';
import { readClusterOptions, type ClusterConfig } from '../../src/cluster-options.ts';

const config: ClusterConfig = {
  processors: 4,
  requestsMax: 5,
  walltimeMax: 1000,
  walltimeGranularity: 1,
  widthMax: 0,
  policy: 'easy',
  variant: 'start-now',
  order: 'buc',
  bucWeight: 1440,
  bucLeadMax: 0,
};

test('the queue is in the order of arrival unless scores are asked for, with a bound of 100 weights unless another is', (t) => {
  t.is(readClusterOptions({ ...config, order: 'arrival', policy: 'conservative' }).order, undefined);
  t.deepEqual(readClusterOptions(config).order, { weight: 1440, leadMax: 144_000_000 });
  t.deepEqual(readClusterOptions({ ...config, bucWeight: 10_800, bucLeadMax: 7 }).order, {
    weight: 10_800,
    leadMax: 7,
  });
});

test('an order by scores goes with each policy', (t) => {
  const getPolicy = (policy: ClusterConfig['policy'], variant: ClusterConfig['variant'] = 'start-now'): string =>
    readClusterOptions({ ...config, policy, variant }).policy.name;
  t.deepEqual(
    [getPolicy('fcfs'), getPolicy('easy'), getPolicy('conservative'), getPolicy('conservative', 'reinsert')],
    ['fcfs', 'easy', 'conservative start-now', 'conservative reinsert'],
  );
});
