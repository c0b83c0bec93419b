import test from 'ava';
import { InvariantError } from '@mutirao/core/shared';
import { Kernel } from '../../../src/world/kernel.ts';

test('events happen in order of time, and of two at one instant the first that was scheduled', (t) => {
  const kernel = new Kernel(1000);
  const seen: string[] = [];
  const note = (name: string) => (): void => {
    seen.push(`${kernel.now} ${name}`);
  };
  kernel.after(20, note('c'));
  kernel.after(10, note('a'));
  kernel.at(1010, note('b'));
  kernel.runUntil(2000);
  t.deepEqual(seen, ['1010 a', '1010 b', '1020 c']);
  t.is(kernel.now, 2000);
});

test('what happens at the end itself is left for the next time', (t) => {
  const kernel = new Kernel(0);
  let count = 0;
  kernel.at(10, () => {
    count += 1;
  });
  kernel.runUntil(10);
  t.deepEqual([count, kernel.now], [0, 10]);
  kernel.runUntil(11);
  t.is(count, 1);
});

test('what should have happened before happens now, and fractions of a millisecond are rounded up', (t) => {
  const kernel = new Kernel(100);
  const instants: number[] = [];
  kernel.at(50, () => {
    instants.push(kernel.now);
  });
  kernel.after(0.25, () => {
    instants.push(kernel.now);
  });
  kernel.runUntil(200);
  t.deepEqual(instants, [100, 101]);
});

test('events scheduled for the present instant come after those scheduled earlier', (t) => {
  const kernel = new Kernel(0);
  const seen: string[] = [];
  kernel.after(5, () => {
    seen.push('first');
    kernel.after(0, () => {
      seen.push('third');
    });
  });
  kernel.after(5, () => {
    seen.push('second');
  });
  kernel.runUntil(6);
  t.deepEqual(seen, ['first', 'second', 'third']);
});

test('time that stands still is an error', (t) => {
  const kernel = new Kernel(0);
  const again = (): void => {
    kernel.after(0, again);
  };
  again();
  const error = t.throws(
    () => {
      kernel.runUntil(1);
    },
    { instanceOf: InvariantError },
  );
  t.regex(error.message, /time stands still/);
});

test('time that goes on by a millisecond is not taken for one that stands still', (t) => {
  const kernel = new Kernel(0);
  let count = 0;
  const again = (): void => {
    count += 1;
    kernel.after(count % 1000 === 0 ? 1 : 0, again);
  };
  again();
  t.notThrows(() => {
    kernel.runUntil(200);
  });
  t.is(count, 200_000);
});
