import test from 'ava';
import { CancelQueue } from '../../src/cancel-queue.ts';

test('what is asked for together goes in chunks, one call at a time', async (t) => {
  const calls: number[] = [];
  let under = 0;
  const queue = new CancelQueue(async (ids) => {
    under += 1;
    t.is(under, 1);
    calls.push(ids.length);
    await Promise.resolve();
    under -= 1;
    return new Map();
  });
  await Promise.all(Array.from({ length: 250 }, (_, index) => queue.cancel(String(index))));
  t.deepEqual(calls, [100, 100, 50]);
  await queue.cancel('7');
  t.deepEqual(calls, [100, 100, 50, 1]);
});

test('each caller gets its own failure, and a call that fails does so for every caller', async (t) => {
  const some = new CancelQueue(() => Promise.resolve(new Map([['2', 'no answer']])));
  const [first, second] = await Promise.allSettled([some.cancel('1'), some.cancel('2')]);
  t.is(first?.status, 'fulfilled');
  t.is(second?.status, 'rejected');
  const none = new CancelQueue(() => Promise.reject(new Error('hung')));
  const outcomes = await Promise.allSettled([none.cancel('1'), none.cancel('2')]);
  t.true(outcomes.every(({ status }) => status === 'rejected'));
});
