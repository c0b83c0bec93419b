import test from 'ava';
import { defaultBrokerOptions } from '@mutirao/core/machines/broker';
import { isSpotCheck } from '@mutirao/core/trust';
import { trustRulesOf } from '../../../src/process/trust-rules.ts';

const tasks = Array.from({ length: 2000 }, (_, taskIndex) => ({ jobId: 1, taskIndex }));

/** Indexes of the tasks that check machines of a broker with that token. */
function spotChecksOf(token: string): number[] {
  const { spotCheck } = trustRulesOf(token);
  return tasks.filter((task) => isSpotCheck(task, spotCheck)).map(({ taskIndex }) => taskIndex);
}

test('which tasks check machines is the same after each start, and another for each broker', (t) => {
  t.true(spotChecksOf('one token of a broker').length > 0);
  t.deepEqual(spotChecksOf('one token of a broker'), spotChecksOf('one token of a broker'));
  t.notDeepEqual(spotChecksOf('one token of a broker'), spotChecksOf('one token of another'));
});

test('who knows the code alone cannot tell which tasks check machines, and all else is as by default', (t) => {
  const rules = trustRulesOf('one token of a broker');
  t.not(rules.spotCheck.secret, defaultBrokerOptions.trust.spotCheck.secret);
  t.false(rules.spotCheck.secret.includes('token'));
  t.deepEqual({ ...rules, spotCheck: { ...rules.spotCheck, secret: '' } }, defaultBrokerOptions.trust);
});
