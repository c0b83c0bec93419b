// Queues of providers: asked for once in a while, whoever wants them how often.
import test from 'ava';

import { MutiraoError } from '@mutirao/api/errors';
import { wire } from '@mutirao/testkit';
import { ProviderQueues } from '../../../src/providers/provider-queues.ts';

test('within two seconds a provider is asked once, also by those who ask while it answers', async (t) => {
  let now = 1000;
  const asked: string[] = [];
  const queues = new ProviderQueues(
    (providerId) => {
      asked.push(providerId);
      return Promise.resolve(wire.queue({ providerId, atUnixMs: now }));
    },
    { now: () => now },
  );
  await Promise.all([queues.get('a'), queues.get('a'), queues.get('b')]);
  now += 1500;
  t.like(await queues.get('a'), { age: 1500, queue: { atUnixMs: 1000 } });
  t.deepEqual(asked, ['a', 'b']);
  now += 500;
  t.like(await queues.get('a'), { age: 0, queue: { atUnixMs: 3000 } });
  now = 10;
  await queues.get('a');
  t.deepEqual(asked, ['a', 'b', 'a', 'a'], 'a clock that was set back makes no answer young');
});

test('a refusal goes to those who asked, and is not kept', async (t) => {
  let isAway = true;
  const queues = new ProviderQueues(
    () => (isAway ? Promise.reject(new MutiraoError('MUT_UNREACHABLE', 'away')) : Promise.resolve(wire.queue({}))),
    { now: () => 5 },
  );
  await t.throwsAsync(Promise.all([queues.get('a'), queues.get('a')]), { code: 'MUT_UNREACHABLE' });
  isAway = false;
  t.is((await queues.get('a')).queue.providerId, 'alpha');
});
