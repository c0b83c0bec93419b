import test from 'ava';
import { InvariantError, Prng } from '@mutirao/core/shared';

function draw(prng: Prng, count: number): number[] {
  return Array.from({ length: count }, () => prng.word());
}

test('the same name is the same stream, another name another', (t) => {
  t.deepEqual(draw(new Prng('7'), 5), draw(new Prng('7'), 5));
  t.notDeepEqual(draw(new Prng('7'), 5), draw(new Prng('8'), 5));
});

test('a stream never changes between releases', (t) => {
  t.deepEqual(draw(new Prng('mutirao'), 3), [1_102_123_029, 3_584_363_830, 1_845_376_354]);
});

test('a stream below another does not depend on what was drawn above, nor on its siblings', (t) => {
  const root = new Prng('7');
  const first = draw(root.fork('machine m3'), 4);
  draw(root, 10);
  draw(root.fork('machine m4'), 10);
  t.deepEqual(draw(root.fork('machine m3'), 4), first);
  t.notDeepEqual(draw(root.fork('machine m4'), 4), first);
});

test('whole numbers below a limit are equally likely', (t) => {
  const prng = new Prng('dice');
  const counts = new Array<number>(6).fill(0);
  for (let index = 0; index < 60_000; index += 1) counts[prng.below(6)]! += 1;
  for (const count of counts) t.true(Math.abs(count - 10_000) < 400, `${counts.join()}`);
});

test('fractions are in [0, 1) and spread evenly', (t) => {
  const prng = new Prng('fractions');
  let sum = 0;
  for (let index = 0; index < 100_000; index += 1) {
    const fraction = prng.fraction();
    if (fraction < 0 || fraction >= 1) t.fail(String(fraction));
    sum += fraction;
  }
  t.true(Math.abs(sum / 100_000 - 0.5) < 0.005);
});

test('a limit below 1 is a bug', (t) => {
  t.throws(() => new Prng('x').below(0), { instanceOf: InvariantError });
  t.is(new Prng('x').below(1), 0);
});
