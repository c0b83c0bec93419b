import test from 'ava';

import { Semaphore } from '../../../src/concurrency/semaphore.ts';

test('no more works than places go on at a time, and a failed one frees its place', async (t) => {
  const semaphore = new Semaphore(2);
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  let running = 0;
  let most = 0;
  const works = gates.map(({ promise }) =>
    semaphore.run(async () => {
      running += 1;
      most = Math.max(most, running);
      await promise.finally(() => {
        running -= 1;
      });
    }),
  );
  t.is(running, 2);
  gates[0]?.reject(new Error('broken'));
  await t.throwsAsync(works[0] as Promise<void>, { message: 'broken' });
  for (const gate of gates) gate.resolve();
  await Promise.all(works.slice(1));
  t.is(most, 2);
});
