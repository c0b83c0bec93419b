// Proves that a kill for lack of memory is known for a short time after it was counted, and none before the start is.
import test from 'ava';
import { MemoryShortages } from '../../../src/capacity/memory-shortages.ts';

/** A host whose kernel has counted so many kills. */
function hostWith(kernel: { killed: number | undefined }): MemoryShortages {
  return new MemoryShortages({
    read: (file) =>
      file === '/proc/vmstat' && kernel.killed !== undefined
        ? `pgmigrate_success 3\noom_kill ${kernel.killed}\nunevictable_pgs_culled 1\n`
        : undefined,
  });
}

test('kills before the start do not count, and one after it does for 10 s', (t) => {
  const kernel = { killed: 7 };
  const shortages = hostWith(kernel);
  t.false(shortages.isRecent(0));
  kernel.killed = 8;
  t.true(shortages.isRecent(100));
  t.true(shortages.isRecent(10_100));
  t.false(shortages.isRecent(10_101));
});

test('a kill is dated by the look that saw it first', (t) => {
  const kernel = { killed: 0 };
  const shortages = hostWith(kernel);
  kernel.killed = 2;
  shortages.look(5000);
  t.true(shortages.isRecent(15_000));
  t.false(shortages.isRecent(15_001));
  kernel.killed = 3;
  t.true(shortages.isRecent(20_000));
});

test('nothing is known of a kernel that does not count them', (t) => {
  t.false(hostWith({ killed: undefined }).isRecent(0));
});
