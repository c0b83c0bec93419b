// What tasks wrote for other tasks goes when their job is over, and nothing that anybody else has put there.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import test, { type ExecutionContext } from 'ava';

import { brokerMachine, createBrokerState, type BrokerState } from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import { aGroup, aJob, temporaryFolder } from '@mutirao/testkit';

import { Intermediates } from '../../../src/contents/intermediates.ts';

const day = 24 * 3_600_000;

function setUp(t: ExecutionContext) {
  const home = temporaryFolder(t);
  mkdirSync(join(home, 'blobs'));
  const getBlobPath = (_userId: string, sha256: string): string => join(home, 'blobs', sha256);
  const write = (text: string): string => {
    const sha256 = createHash('sha256').update(text).digest('hex');
    writeFileSync(join(home, 'part'), text);
    renameSync(join(home, 'part'), getBlobPath('ana', sha256));
    return sha256;
  };
  return {
    home,
    write,
    isThere: (sha256: string) => existsSync(getBlobPath('ana', sha256)),
    intermediates: new Intermediates({ folder: join(home, 'intermediate'), keepFor: day, getBlobPath }),
  };
}

/** A job that has ended at that time with its one task finished, or cancelled, or that is open. */
function stateWith(
  ...jobs: readonly { readonly endedAt?: number; readonly status?: 'cancelled'; readonly spec?: Partial<JobSpec> }[]
): BrokerState {
  const state = createBrokerState();
  for (const [index, { endedAt, status, spec = {} }] of jobs.entries()) {
    brokerMachine.step(
      state,
      [{ kind: 'JobSubmitted', replyTo: 1, userId: 'ana', clientJobId: '', spec: aJob(1, spec) }],
      1,
    );
    if (endedAt === undefined) continue;
    const jobId = index + 1;
    const job = state.jobs.get(jobId);
    if (status === 'cancelled')
      brokerMachine.step(state, [{ kind: 'JobCancelled', replyTo: 1, userId: 'ana', jobId, reason: '' }], endedAt);
    else if (job !== undefined) {
      job.finished.addRange(0, 1);
      for (const queue of job.queues) queue.ready.clear();
      brokerMachine.apply(state, { kind: 'JobEnded', jobId, status: 'finished', at: endedAt });
    }
  }
  return state;
}

test('a job that finished keeps its intermediate files for a while', (t) => {
  const { write, isThere, intermediates, home } = setUp(t);
  const sha256 = write('between');
  intermediates.note({ jobId: 1, userId: 'ana' }, sha256);
  intermediates.note({ jobId: 1, userId: 'ana' }, sha256);
  const state = stateWith({ endedAt: 1000 });
  t.is(intermediates.sweep(state, 999 + day), 0);
  t.true(isThere(sha256));
  t.is(intermediates.sweep(state, 1000 + day), 1);
  t.false(isThere(sha256));
  t.deepEqual(readdirSync(join(home, 'intermediate')), []);
  t.is(intermediates.sweep(state, 1000 + day), 0);
});

test('a job that is open, or was cancelled and may be retried, keeps them', (t) => {
  const { write, isThere, intermediates } = setUp(t);
  const [open, cancelled] = [write('open'), write('cancelled')];
  intermediates.note({ jobId: 1, userId: 'ana' }, open);
  intermediates.note({ jobId: 2, userId: 'ana' }, cancelled);
  const state = stateWith({}, { endedAt: 1000, status: 'cancelled' });
  t.is(intermediates.sweep(state, 20 * day), 0);
  t.true(isThere(open) && isThere(cancelled));
  t.is(intermediates.sweep(state, 31 * day), 1);
  t.true(isThere(open));
});

test('what a job has taken over, or reads by its hash, stays while that is open or may be retried', (t) => {
  const { write, isThere, intermediates } = setUp(t);
  const [taken, read] = [write('taken'), write('read')];
  intermediates.note({ jobId: 1, userId: 'ana' }, taken);
  intermediates.note({ jobId: 2, userId: 'ana' }, read);
  const resuming = {
    resumes: { jobId: 1, tasks: [{ taskIndex: 0, jobId: 1, fromTaskIndex: 0 }] },
    groups: [aGroup(2)],
  };
  const reading = {
    groups: [
      aGroup(1, {
        inputs: [
          {
            source: { kind: 'content', content: { sha256: read, size: 4 } },
            root: 'playpen',
            path: 'in',
            condition: '',
          },
        ],
      }),
    ],
  };
  t.is(
    intermediates.sweep(
      stateWith({ endedAt: 1000 }, { endedAt: 1000 }, { spec: resuming }, { spec: reading }),
      2 * day,
    ),
    0,
  );
  t.true(isThere(taken) && isThere(read));
  const cancelled = { endedAt: 1000, status: 'cancelled' } as const;
  const retryable = stateWith(
    { endedAt: 1000 },
    { endedAt: 1000 },
    { spec: resuming, ...cancelled },
    { spec: reading, ...cancelled },
  );
  t.is(intermediates.sweep(retryable, 2 * day), 0);
  t.is(intermediates.sweep(retryable, 31 * day), 2);
});

test('a blob that somebody put there since stays', (t) => {
  const { write, isThere, intermediates } = setUp(t);
  const sha256 = write('the same');
  intermediates.note({ jobId: 1, userId: 'ana' }, sha256);
  write('the same');
  t.is(intermediates.sweep(stateWith({ endedAt: 1000 }), 2 * day), 0);
  t.true(isThere(sha256));
});
