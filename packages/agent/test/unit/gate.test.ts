import test from 'ava';
import { Gate } from '../../src/gate.ts';

test('a gate lets a fixed number through at once, the others in order, also after a failure', async (t) => {
  const gate = new Gate(2);
  const begun: number[] = [];
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<number>());
  const results = ends.map((end, index) =>
    gate.run(() => {
      begun.push(index);
      return end.promise;
    }),
  );
  await Promise.resolve();
  t.deepEqual(begun, [0, 1]);
  ends[1]!.reject(new Error('one failed'));
  await t.throwsAsync(results[1]!, { message: 'one failed' });
  t.deepEqual(begun, [0, 1, 2]);
  ends[0]!.resolve(0);
  await results[0];
  t.deepEqual(begun, [0, 1, 2, 3]);
  ends[2]!.resolve(2);
  ends[3]!.resolve(3);
  t.deepEqual(await Promise.all([results[2], results[3]]), [2, 3]);
});
