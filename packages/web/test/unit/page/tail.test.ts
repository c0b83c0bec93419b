import test from 'ava';
import type { TailMessage } from '@mutirao/web/schema';
import { emptyTail, tailKept, takeTail } from '../../../client/src/model/tail.ts';

const message = (given: Partial<TailMessage>): TailMessage => ({
  status: 'running',
  replica_id: 7,
  machine_id: 'lab/m1',
  standard_output: '',
  standard_error: '',
  is_cut: false,
  is_unreadable: false,
  ...given,
});

test('pieces of output are joined, and another run of the task starts empty', (t) => {
  let tail = takeTail(emptyTail, message({ standard_output: 'a\n' }));
  tail = takeTail(tail, message({ standard_output: 'b\n', standard_error: 'e' }));
  t.like(tail, { out: 'a\nb\n', errors: 'e', machineId: 'lab/m1', isCut: false });
  t.like(takeTail(tail, message({ replica_id: 8, machine_id: 'lab/m2' })), {
    out: '',
    errors: '',
    machineId: 'lab/m2',
  });
  t.true(takeTail(tail, message({ is_cut: true })).isCut);
});

test('however much it prints the page keeps the end of it, from the beginning of a line on', (t) => {
  let tail = emptyTail;
  for (let count = 0; count < 60; count += 1)
    tail = takeTail(tail, message({ standard_output: `line ${count}\n`.repeat(1000) }));
  t.true(tail.out.length <= tailKept);
  t.true(tail.isCut);
  t.true(tail.out.startsWith('line '));
  t.true(tail.out.endsWith('line 59\n'));
  t.is(takeTail(emptyTail, message({ standard_error: 'x'.repeat(tailKept + 5) })).errors.length, tailKept);
});
