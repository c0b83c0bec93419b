import test from 'ava';
import type { SubmitJobRequest } from '@mutirao/api/broker';
import { DependencyCondition, JobStatus } from '@mutirao/api/broker';
import { jobDefaults, makeTaskGroup } from '@mutirao/formats';
import { aJobSpec, aJobSummary, runCommandLine } from '@mutirao/testkit';
import { overrideJob } from '../../../src/commands/job/job-options.ts';

const job = { ...jobDefaults, groups: [makeTaskGroup({ command: 'true', values: undefined })], homeDirectory: '/' };
const place = { directory: '/', now: 1_000_000 };

async function submit(...options: readonly string[]) {
  const submitted: SubmitJobRequest[] = [];
  const result = await runCommandLine(['job', 'submit', ...options, '--', 'true'], {
    broker: {
      listJobs: () => Promise.resolve({ jobs: [3, 2, 1].map((jobId) => aJobSummary({ jobId })) }),
      getJob: ({ jobId }) => Promise.resolve({ job: aJobSummary({ jobId }), spec: undefined }),
      submitJob: (request) => {
        submitted.push(request);
        return Promise.resolve({ jobId: 4, taskCount: 1, resumed: undefined, warnings: [] });
      },
    },
  });
  return { ...result, after: submitted[0]?.job?.after?.jobs };
}

test('jobs to wait for are named by number, in lists, or as the last one', async (t) => {
  t.deepEqual((await submit('--after-ok', '1,2', '--after-any', 'last')).after, [
    { jobId: 1, condition: DependencyCondition.SUCCEEDED },
    { jobId: 2, condition: DependencyCondition.SUCCEEDED },
    { jobId: 3, condition: DependencyCondition.ENDED },
  ]);
  t.deepEqual((await submit('--after', '1', '--after-fail', '2', '--after-each', '3')).after, [
    { jobId: 1, condition: DependencyCondition.STARTED },
    { jobId: 2, condition: DependencyCondition.FAILED },
    { jobId: 3, condition: DependencyCondition.EACH },
  ]);
  t.is((await submit()).after, undefined);
});

test('a job that is not there is refused, and so is waiting for others without a broker that lasts', async (t) => {
  const { status, err } = await submit('--after-ok', '9');
  t.is(status, 2);
  t.regex(err, /there is no job 9/);
  const standalone = await submit('--after-ok', '1', '--standalone');
  t.is(standalone.status, 2);
  t.regex(standalone.err, /--after-ok cannot be used with --standalone/);
});

test('times count from now, and one to expire must be to come', (t) => {
  t.like(overrideJob(job, { begin: '+2h', expire: '+8h' }, place), { beginAt: 8_200_000, expireAt: 29_800_000 });
  t.like(overrideJob(job, { begin: '1970-01-01T01:00:00Z' }, place), { beginAt: 3_600_000 });
  t.throws(() => overrideJob(job, { expire: '1970-01-01T00:00:01Z' }, place), { message: /which has passed/ });
  t.throws(() => overrideJob(job, { begin: 'soon' }, place), { message: /the time is "soon"; expected 14:00/ });
  t.like(overrideJob(job, { begin: 'now' }, place), { beginAt: 1_000_000 });
  t.throws(() => overrideJob(job, { begin: '2h' }, place), { message: 'the time is "2h"; did you mean +2h?' });
  t.throws(() => overrideJob(job, { begin: 'now+1hour' }, place), { message: /did you mean \+1h\?/ });
  t.throws(() => overrideJob(job, { begin: '+99999h' }, place), { message: /more than 5 years ahead/ });
  t.throws(() => overrideJob(job, { begin: '+2h', expire: '+1h' }, place), {
    message: /^--expire is .*, and --begin is .*; expected --expire after --begin$/,
  });
  t.false('beginAt' in overrideJob(job, {}, place));
});

test('a list of jobs says what a job waits for', async (t) => {
  const waiting = { readyCount: 0, runningCount: 0, dispatchedCount: 0, finishedCount: 0, waitingCount: 1 };
  const jobs = [
    aJobSummary({ jobId: 5, ...waiting, awaited: { jobs: [{ jobId: 3, condition: DependencyCondition.ENDED }] } }),
    aJobSummary({
      jobId: 6,
      ...waiting,
      awaited: { jobs: [3, 4].map((jobId) => ({ jobId, condition: DependencyCondition.EACH })) },
    }),
    aJobSummary({ jobId: 7, ...waiting, beginUnixMs: 60_000 }),
  ].map((one) => ({ ...one, status: JobStatus.RUNNING, endedUnixMs: 0 }));
  const { out } = await runCommandLine(['job', 'list'], { broker: { listJobs: () => Promise.resolve({ jobs }) } });
  t.regex(out, /5 +waiting for job 3 /);
  t.regex(out, /6 +waiting for job 3 and 1 more /);
  t.regex(out, /7 +waiting until /);
});

const neverMet = {
  status: JobStatus.CANCELLED,
  cancelledCount: 3,
  cancelReason: {
    code: 'dependency-never-met',
    parameters: {},
    text: 'it waited for job 3 to succeed, which has ended as failed',
  },
};

test('a job that can never start is reported at once, and by list and wait', async (t) => {
  const job = aJobSummary({ jobId: 4, taskCount: 3, ...neverMet });
  const broker = {
    listJobs: () => Promise.resolve({ jobs: [job, aJobSummary({ jobId: 3, status: JobStatus.FAILED })] }),
    getJob: () => Promise.resolve({ job, spec: undefined }),
    submitJob: () => Promise.resolve({ jobId: 4, taskCount: 3, resumed: undefined, warnings: [] }),
  };
  const sentence = /^Job 4 is cancelled: it waited for job 3 to succeed, which has ended as failed\.$/m;
  const submitted = await runCommandLine(['job', 'submit', '--after-ok', '3', '--', 'true'], { broker });
  t.regex(submitted.out, sentence);
  t.notRegex(submitted.out, /waits for it/);
  t.regex((await runCommandLine(['job', 'list'], { broker })).out, sentence);
  const waited = await runCommandLine(['job', 'wait', '4'], { broker });
  t.is(waited.status, 4);
  t.regex(waited.out, /It was cancelled: it waited for job 3 to succeed, which has ended as failed\.$/m);
});

test('jobs that are held or wait can be listed alone', async (t) => {
  const idle = {
    status: JobStatus.RUNNING,
    readyCount: 0,
    runningCount: 0,
    dispatchedCount: 0,
    finishedCount: 0,
    waitingCount: 1,
  };
  const jobs = [
    aJobSummary({ jobId: 6, ...idle, awaited: { jobs: [{ jobId: 3, condition: DependencyCondition.ENDED }] } }),
    aJobSummary({ jobId: 5, ...idle, heldCount: 1 }),
    aJobSummary({ jobId: 1, status: JobStatus.FAILED }),
  ];
  const broker = { listJobs: () => Promise.resolve({ jobs }) };
  t.is((await runCommandLine(['job', 'list', '--status', 'held', '-q'], { broker })).out, '5\n');
  t.is((await runCommandLine(['job', 'list', '--status', 'waiting', '-q'], { broker })).out, '6\n');
  t.regex((await runCommandLine(['job', 'list', '--status', 'sleeping'], { broker })).err, /cancelled, held, waiting/);
});

test('a submission says when the job begins', async (t) => {
  t.regex((await submit('--begin', '+2h')).out, /^It begins at .*:.* or later\.$/m);
  t.regex((await submit('--begin', '1969-12-31T00:00:00Z')).out, /which has passed: it begins at once\.$/m);
  t.notRegex((await submit()).out, /begins/);
});

test('a job shows what it waits until', async (t) => {
  const jobs = [
    { jobId: 7, condition: DependencyCondition.SUCCEEDED },
    { jobId: 8, condition: DependencyCondition.STARTED },
  ];
  const job = aJobSummary({ jobId: 9, status: JobStatus.RUNNING, awaited: { jobs } });
  const broker = {
    listJobs: () => Promise.resolve({ jobs: [job] }),
    getJob: () => Promise.resolve({ job, spec: aJobSpec() }),
  };
  const { out } = await runCommandLine(['job', 'show', '9'], { broker });
  t.regex(out, /waits until +job 7 has succeeded, job 8 has started or ended$/m);
});
