// Jobs that are open at the same time and write to one place at home.
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import type { BrokerJob } from '@mutirao/core/machines/broker';
import type { JobSpec, OutputSpec, Values } from '@mutirao/core/messages';
import { IndexSet } from '@mutirao/core/shared';
import { aJob, temporaryFolder } from '@mutirao/testkit';
import { checkPlaces } from '../../../src/submission/check-places.ts';
import { OtherJobsPlaces } from '../../../src/submission/other-jobs-places.ts';
import { mayMeet, findPlacePrefixes } from '../../../src/submission/place-prefixes.ts';

function deriveJob(
  localPaths: readonly string[],
  values: Values = { kind: 'range', first: 1, count: 5, step: 1 },
  more: Partial<JobSpec> = {},
): JobSpec {
  const {
    groups: [group],
    ...job
  } = aJob(1);
  if (group === undefined) throw new Error('a job has a group');
  const outputs = localPaths.map(
    (localPath, index): OutputSpec => ({ root: 'playpen', path: `out${index}`, localPath, condition: '' }),
  );
  return { ...job, ...more, groups: [{ ...group, values, outputs }] };
}

class Jobs {
  readonly openJobs = new Map<number, BrokerJob>();
  readonly places = new OtherJobsPlaces(this);

  open(spec: JobSpec, more: Partial<BrokerJob> = {}): void {
    const jobId = this.openJobs.size + 1;
    this.openJobs.set(jobId, { jobId, status: 'running', userId: 'ana', clientJobId: '', spec, ...more } as BrokerJob);
  }

  /** Submits a job, which is open afterwards. */
  async submit(spec: JobSpec, clientJobId = ''): Promise<void> {
    await this.places.during({ userId: 'ana', clientJobId, spec }, await checkPlaces(spec), async () => {
      await new Promise(setImmediate);
      this.open(spec, { clientJobId });
    });
  }

  /** Retries tasks of a job that was over, the first of which had finished; it is open again afterwards. */
  async retry(
    jobId: number,
    spec: JobSpec,
    taskIndexes: readonly number[],
    status: BrokerJob['status'] = 'failed',
  ): Promise<void> {
    const job = {
      jobId,
      status,
      userId: 'ana',
      clientJobId: '',
      spec,
      finished: IndexSet.fromRanges([{ first: 0, count: 1 }]),
      dependencies: undefined,
    };
    await this.places.duringRetry(job, taskIndexes, async () => {
      await new Promise(setImmediate);
      this.openJobs.set(jobId, { ...job, status: 'running' } as unknown as BrokerJob);
    });
  }
}

const conflict = { code: 'MUT_OUTPUT_CONFLICT' };

test('a job that writes where an open one writes is refused, with both tasks, the job and the way out', async (t) => {
  const jobs = new Jobs();
  await jobs.submit(deriveJob(['/h/r/out-{}']));
  await t.throwsAsync(jobs.submit(deriveJob(['/h/r/out-3'], { kind: 'list', values: ['x'] })), {
    ...conflict,
    message:
      /out0 of task 0 goes to \/h\/r\/out-3, and so does out0 of task 2 of job 1, which has not ended.*"mutirao job wait 1".*--shared-places/,
  });
  t.is(jobs.openJobs.size, 1);
});

test("places above and below each other are in each other's way too, and links are followed", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'real'));
  symlinkSync('real', join(folder, 'link'));
  for (const [one, other] of [
    ['/h/r', '/h/r/{}/x'],
    ['/h/{}', '/h/3/deep/x'],
    [`${folder}/real/{}`, `${folder}/link/2`],
    ['/h/r/{#}', '/h/r/{}'],
  ] as const) {
    for (const [first, second] of [
      [one, other],
      [other, one],
    ]) {
      const jobs = new Jobs();
      await jobs.submit(
        deriveJob([first ?? ''], first?.includes('{') === true ? undefined : { kind: 'list', values: ['3'] }),
      );
      await t.throwsAsync(
        jobs.submit(
          deriveJob([second ?? ''], second?.includes('{') === true ? undefined : { kind: 'list', values: ['3'] }),
        ),
        conflict,
        `${first} and ${second}`,
      );
    }
  }
});

test('jobs with places of their own are let through, and so is what has ended, is gathered, meant or numbered by the job', async (t) => {
  const jobs = new Jobs();
  await jobs.submit(deriveJob(['/h/r/a-{}', '/h/r/log'], { kind: 'list', values: ['1'] }));
  await t.notThrowsAsync(jobs.submit(deriveJob(['/h/r/b-{}'])));
  await t.notThrowsAsync(jobs.submit(deriveJob(['/h/r/a-{}'], { kind: 'list', values: ['2'] })));
  await t.notThrowsAsync(jobs.submit(deriveJob(['/h/r/log'], { kind: 'list', values: ['1'] }, { sharedPlaces: true })));
  await t.notThrowsAsync(
    jobs.submit(deriveJob(['/h/r/log'], { kind: 'list', values: ['1'] }, { gatherFolder: '/h/g' })),
  );
  const numbered = deriveJob(['/h/r/$JOB-{}']);
  await jobs.submit(numbered);
  await t.notThrowsAsync(jobs.submit(numbered));
  const other = new Jobs();
  other.open(deriveJob(['/h/x'], { kind: 'list', values: ['1'] }), { status: 'cancelled' });
  other.open(deriveJob(['/h/x'], { kind: 'list', values: ['1'] }, { gatherFolder: '/h/g' }));
  other.open(deriveJob(['/h/x'], { kind: 'list', values: ['1'] }), { spec: undefined });
  await t.notThrowsAsync(other.submit(deriveJob(['/h/x'], { kind: 'list', values: ['1'] })));
});

test('of two jobs that are submitted at the same time one is refused, and a repeated submission is not in its own way', async (t) => {
  const jobs = new Jobs();
  const spec = deriveJob(['/h/r/{}']);
  const [one, two] = await Promise.allSettled([jobs.submit(spec, 'k1'), jobs.submit({ ...spec }, 'k2')]);
  t.deepEqual([one.status, two.status].sort(), ['fulfilled', 'rejected']);
  const again = new Jobs();
  const both = await Promise.allSettled([again.submit(spec, 'k1'), again.submit({ ...spec }, 'k1')]);
  t.deepEqual(
    both.map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
  );
});

test("what failed to be submitted is in nobody's way", async (t) => {
  const jobs = new Jobs();
  const spec = deriveJob(['/h/r/{}']);
  await t.throwsAsync(
    jobs.places.during({ userId: 'ana', clientJobId: '', spec }, await checkPlaces(spec), () =>
      Promise.reject(new Error('full')),
    ),
  );
  await t.notThrowsAsync(jobs.submit(spec));
});

test('jobs whose paths begin differently never write to one place', async (t) => {
  const part = fc.constantFrom('a', 'b', 'ab', '{}', '{#}', 'a-{}', 'b{}c');
  const localPath = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => `/h/${parts.join('/')}`);
  const spec = fc
    .record({
      paths: fc.array(localPath, { minLength: 1, maxLength: 2 }),
      values: fc.uniqueArray(fc.constantFrom('a', 'b', 'ab', 'a/b', '0', '1'), { minLength: 1, maxLength: 3 }),
    })
    .map(({ paths, values }) => deriveJob(paths, { kind: 'list', values }));
  await fc.assert(
    fc.asyncProperty(spec, spec, async (one, other) => {
      if (mayMeet(findPlacePrefixes(one), findPlacePrefixes(other))) return;
      const both = { ...one, groups: [...one.groups, ...other.groups] };
      const own = await Promise.allSettled([checkPlaces(one), checkPlaces(other)]);
      if (own.some(({ status }) => status === 'rejected')) return;
      // Tasks of the other job have other numbers there, so those that are named by their number are left out.
      if (JSON.stringify(other).includes('{#}')) return;
      await checkPlaces(both);
    }),
    { seed: 20_261_126, numRuns: 3000 },
  );
  t.pass();
});

test('tasks of a job that was over run again only where no open job writes to their places', async (t) => {
  const jobs = new Jobs();
  await jobs.submit(deriveJob(['/h/out-{}'], { kind: 'list', values: ['a', 'b'] }));
  const over = deriveJob(['/h/out-{}'], { kind: 'list', values: ['a', 'b', 'c'] });
  for (const taskIndexes of [[], [1]])
    await t.throwsAsync(jobs.retry(7, over, taskIndexes), {
      ...conflict,
      message: /out0 of task 1 goes to \/h\/out-b, and so does out0 of task 1 of job 1/,
    });
  await t.notThrowsAsync(jobs.retry(7, over, [2]));
  await t.notThrowsAsync(jobs.retry(8, { ...over, sharedPlaces: true }, []));
});

test("what a retried job has finished is in nobody's way, nor are its tasks while it runs: their places are its own", async (t) => {
  const jobs = new Jobs();
  await jobs.submit(deriveJob(['/h/out-{}'], { kind: 'list', values: ['a'] }));
  await t.notThrowsAsync(jobs.retry(7, deriveJob(['/h/out-{}'], { kind: 'list', values: ['a', 'b'] }), []));
  await t.notThrowsAsync(jobs.retry(8, deriveJob(['/h/out-{}'], { kind: 'list', values: ['z', 'a'] }), [], 'running'));
});

test('of two retries at the same time one is refused where they meet, and a job is not in its own way', async (t) => {
  const jobs = new Jobs();
  const [one, other] = [deriveJob(['/h/out-{}']), deriveJob(['/h/out-{}'])];
  const settled = await Promise.allSettled([
    jobs.retry(3, one, [1]),
    jobs.retry(3, one, [1]),
    jobs.retry(4, other, [1]),
  ]);
  t.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected'],
  );
});
