import test from 'ava';

import { Lanes } from '../../../src/concurrency/lanes.ts';

function unexpected(error: unknown): never {
  throw error;
}

test('a work that waits for nothing is done at once', (t) => {
  const lanes = new Lanes<string>(unexpected);
  const done: number[] = [];
  lanes.run('a', () => {
    done.push(1);
    return undefined;
  });
  t.deepEqual(done, [1]);
  t.is(lanes.whenDone(), undefined);
});

test('works of one name keep their order, and others do not wait for them', async (t) => {
  const lanes = new Lanes<string>(unexpected);
  const done: string[] = [];
  const disk = Promise.withResolvers<void>();
  lanes.run('a', async () => {
    await disk.promise;
    done.push('start a');
  });
  lanes.run('a', () => {
    done.push('cancel a');
    return undefined;
  });
  lanes.run('b', () => {
    done.push('start b');
    return undefined;
  });
  t.deepEqual(done, ['start b']);
  disk.resolve();
  await lanes.whenDone();
  t.deepEqual(done, ['start b', 'start a', 'cancel a']);
  t.is(lanes.busyCount, 0);
});

test('a work that fails is told of and does not hold up the next', async (t) => {
  const errors: unknown[] = [];
  const lanes = new Lanes<string>((error) => errors.push(error));
  const done: string[] = [];
  lanes.run('a', () => Promise.reject(new Error('disk')));
  lanes.run('a', () => {
    done.push('next');
    return undefined;
  });
  await lanes.whenDone();
  lanes.run('a', () => {
    throw new Error('at once');
  });
  t.deepEqual(done, ['next']);
  t.deepEqual(errors.map(String), ['Error: disk', 'Error: at once']);
});
