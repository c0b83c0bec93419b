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

test('works of one name leave a place to others, whatever the order in which they came', async (t) => {
  const semaphore = new Semaphore(3);
  const begun: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const start = (work: string, name: string | undefined): Promise<void> => {
    const gate = Promise.withResolvers<void>();
    gates.set(work, gate);
    return semaphore.run(() => {
      begun.push(work);
      return gate.promise;
    }, name);
  };
  const works = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((work) => start(work, work.slice(0, 1)));
  works.push(start('nobody', undefined));
  t.deepEqual(begun, ['a1', 'a2', 'b1']);
  gates.get('b1')?.resolve();
  await works[4];
  t.deepEqual(begun, ['a1', 'a2', 'b1', 'b2'], 'a3 and a4 wait although there is a place');
  gates.get('a1')?.resolve();
  await works[0];
  t.is(begun.at(-1), 'a3');
  for (const gate of gates.values()) gate.resolve();
  await Promise.all(works);
  t.is(begun.length, 8);
  const alone = new Semaphore(1);
  t.is(await alone.run(() => Promise.resolve(7), 'a'), 7, 'a single place is for everybody');
});
