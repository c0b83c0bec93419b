import { readFileSync } from 'node:fs';
import test from 'ava';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  replayRequests,
  type QueuePolicy,
  type TracedRequest,
} from '@mutirao/core/queue';

const rows = readFileSync(new URL('../fixtures/backfilling-40.starts.csv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split(',').map(Number));
const trace: TracedRequest[] = rows.map(([, submittedAt = 0, width = 0, walltime = 0, runTime = 0]) => ({
  submittedAt,
  width,
  walltime,
  runTime,
}));

/**
 * costa2005, section 2.2.1, as settled in this project: the starts of 40 requests on 10 processors, many at the same
 * instant.
 */
function startsAre(policy: QueuePolicy, column: number) {
  return test.macro({
    exec(t) {
      t.is(rows.length, 40);
      t.deepEqual(
        replayRequests(policy, 10, trace).map(({ startedAt }) => startedAt),
        rows.map((row) => row[column]),
      );
    },
    title: () => `costa2005 2.2.1: the starts under ${policy.name} are those of an independent program`,
  });
}

test(startsAre(firstComeFirstServed, 5));
test(startsAre(easyBackfilling, 6));
test(startsAre(conservativeBackfilling('reinsert'), 7));
test(startsAre(conservativeBackfilling('start-now'), 8));
