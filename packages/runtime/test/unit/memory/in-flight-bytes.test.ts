import test from 'ava';
import { InFlightBytes } from '@mutirao/runtime/memory';

const mebibyte = 1024 * 1024;

test('one collection comes with every eight mebibytes', (t) => {
  let count = 0;
  const passing = new InFlightBytes(() => {
    count += 1;
  });
  for (let index = 0; index < 31; index += 1) passing.note(mebibyte);
  t.is(count, 3);
});

test("the engine's own collector can be called", (t) => {
  t.notThrows(() => {
    new InFlightBytes().note(8 * mebibyte);
  });
});
