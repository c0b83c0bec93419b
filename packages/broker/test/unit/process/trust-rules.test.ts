import test from 'ava';
import { defaultBrokerOptions } from '@mutirao/core/machines/broker';
import { isSpotCheck } from '@mutirao/core/trust';
import { getTrustRules } from '../../../src/process/trust-rules.ts';

const tasks = Array.from({ length: 2000 }, (_, taskIndex) => ({ jobId: 1, taskIndex }));

/** Indexes of the tasks that check machines of a broker with that token. */
function listSpotChecks(token: string): number[] {
  const { spotCheck } = getTrustRules(token);
  return tasks.filter((task) => isSpotCheck(task, spotCheck)).map(({ taskIndex }) => taskIndex);
}

test('which tasks check machines is the same after each start, and another for each broker', (t) => {
  t.true(listSpotChecks('one token of a broker').length > 0);
  t.deepEqual(listSpotChecks('one token of a broker'), listSpotChecks('one token of a broker'));
  t.notDeepEqual(listSpotChecks('one token of a broker'), listSpotChecks('one token of another'));
});

test('the code alone does not reveal which tasks check machines, and all else is as by default', (t) => {
  const rules = getTrustRules('one token of a broker');
  t.not(rules.spotCheck.secret, defaultBrokerOptions.trust.spotCheck.secret);
  t.false(rules.spotCheck.secret.includes('token'));
  t.deepEqual({ ...rules, spotCheck: { ...rules.spotCheck, secret: '' } }, defaultBrokerOptions.trust);
});
