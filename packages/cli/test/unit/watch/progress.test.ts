import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { aJobSummary } from '@mutirao/testkit';
import { barLine } from '../../../src/watch/progress.ts';

const job = aJobSummary({ jobId: 3, status: JobStatus.RUNNING, endedUnixMs: 0, taskCount: 100, finishedCount: 49, failedCount: 1, runningCount: 4 });

test('the bar shows the share that has ended, what runs, what failed, the time and what is left', (t) => {
  t.is(barLine(job, 1_012_000, 100), 'job 3 [##################-------------------]  50% 50/100  4 running  1 failed  12s  about 12s left');
});

test('the bar is never wider than the terminal', (t) => {
  for (let columns = 10; columns < 200; columns += 1) t.true(barLine(job, 1_012_000, columns).length < columns, String(columns));
});
