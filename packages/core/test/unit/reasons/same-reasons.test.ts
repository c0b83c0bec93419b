import test from 'ava';
import { distinctReasons, type GetReason } from '@mutirao/core/reasons';

test('of many reasons the first few are kept, each once, and the others are not read', (t) => {
  let taken = 0;
  function* endless(): Iterable<GetReason<'requirement-without-value'>> {
    for (;;) yield { code: 'requirement-without-value', attribute: `a${Math.floor(taken++ / 2)}` };
  }
  t.deepEqual(
    distinctReasons(endless(), 3).map(({ attribute }) => attribute),
    ['a0', 'a1', 'a2'],
  );
  t.is(taken, 5);
});
