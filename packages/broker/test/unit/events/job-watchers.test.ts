import test from 'ava';

import { JobWatchers } from '../../../src/events/job-watchers.ts';

test('a watcher of one job is notified of it, and a watcher of all jobs of each', async (t) => {
  const watchers = new JobWatchers();
  const woken: string[] = [];
  const wait = async (jobId: number, name: string, signals: readonly AbortSignal[] = []): Promise<void> => {
    await watchers.next(jobId, signals);
    woken.push(name);
  };
  const cancelled = new AbortController();
  const all = [wait(1, 'one'), wait(2, 'two'), wait(0, 'any'), wait(2, 'leaver', [cancelled.signal])];
  t.is(watchers.count, 4);
  watchers.notify(1);
  await Promise.all([all[0], all[2]]);
  t.deepEqual(woken.sort(), ['any', 'one']);
  cancelled.abort();
  await all[3];
  t.is(watchers.count, 1);
  watchers.notify(2);
  await all[1];
  t.is(watchers.count, 0);
  await watchers.next(2, [cancelled.signal]);
  t.pass('a signal that was aborted before does not wait');
});
