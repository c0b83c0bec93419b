import test from 'ava';

import { SerialExecutor } from '../../../src/concurrency/serial-executor.ts';

function unexpected(error: unknown): never {
  throw error;
}

test('a work that waits for nothing is done at once', (t) => {
  const serialExecutor = new SerialExecutor<string>(unexpected);
  const done: number[] = [];
  serialExecutor.run('a', () => {
    done.push(1);
    return undefined;
  });
  t.deepEqual(done, [1]);
  t.is(serialExecutor.whenDone(), undefined);
});

test('works of one name keep their order, and others do not wait for them', async (t) => {
  const serialExecutor = new SerialExecutor<string>(unexpected);
  const done: string[] = [];
  const disk = Promise.withResolvers<void>();
  serialExecutor.run('a', async () => {
    await disk.promise;
    done.push('start a');
  });
  serialExecutor.run('a', () => {
    done.push('cancel a');
    return undefined;
  });
  serialExecutor.run('b', () => {
    done.push('start b');
    return undefined;
  });
  t.deepEqual(done, ['start b']);
  disk.resolve();
  await serialExecutor.whenDone();
  t.deepEqual(done, ['start b', 'start a', 'cancel a']);
  t.is(serialExecutor.busyCount, 0);
});

test('a failed task is reported and does not hold up the next', async (t) => {
  const errors: unknown[] = [];
  const serialExecutor = new SerialExecutor<string>((error) => errors.push(error));
  const done: string[] = [];
  serialExecutor.run('a', () => Promise.reject(new Error('disk')));
  serialExecutor.run('a', () => {
    done.push('next');
    return undefined;
  });
  await serialExecutor.whenDone();
  serialExecutor.run('a', () => {
    throw new Error('at once');
  });
  t.deepEqual(done, ['next']);
  t.deepEqual(errors.map(String), ['Error: disk', 'Error: at once']);
});
