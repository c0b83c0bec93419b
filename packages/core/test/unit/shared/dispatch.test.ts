import test from 'ava';
import { dispatch, InvariantError, type HandlersByKind } from '../../../src/shared/index.ts';

type Message = { readonly kind: 'Added'; readonly amount: number } | { readonly kind: 'Cleared' };

const handlers: HandlersByKind<number[], Message> = {
  Added: (amounts, { amount }) => {
    amounts.push(amount);
  },
  Cleared: (amounts) => {
    amounts.length = 0;
  },
};

test('a message goes to the function for its kind', (t) => {
  const amounts: number[] = [];
  dispatch(handlers, amounts, { kind: 'Added', amount: 3 });
  t.deepEqual(amounts, [3]);
  dispatch(handlers, amounts, { kind: 'Cleared' });
  t.deepEqual(amounts, []);
});

test('a kind that the types rule out ends the work, also one that every object has', (t) => {
  for (const kind of ['Removed', 'toString'])
    t.throws(
      () => {
        dispatch(handlers, [], { kind } as unknown as Message);
      },
      { instanceOf: InvariantError, message: `no handler for {"kind":"${kind}"}` },
    );
});
