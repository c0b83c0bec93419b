import test from 'ava';
import type { ForgetJobsRequest } from '@mutirao/api/broker';
import { aJobSummary, runCommandLine } from '@mutirao/testkit';

const day = 86_400_000;

async function forget(...words: readonly string[]) {
  const asked: ForgetJobsRequest[] = [];
  const result = await runCommandLine(['job', 'forget', ...words], {
    now: () => 100 * day,
    broker: {
      listJobs: () => Promise.resolve({ jobs: [3, 2, 1].map((jobId) => aJobSummary({ jobId })) }),
      getJob: ({ jobId }) => Promise.resolve({ job: aJobSummary({ jobId }), spec: undefined }),
      forgetJobs: (request) => {
        asked.push(request);
        return Promise.resolve({ jobIds: [asked.length], hasMore: request.jobIds.length === 0 && asked.length < 3 });
      },
    },
  });
  return { ...result, asked };
}

test('jobs are forgotten by number', async (t) => {
  const { out, asked } = await forget('1,2');
  t.deepEqual(asked[0]?.jobIds, [1, 2]);
  t.is(out, '1 job is forgotten.\n');
});

test('jobs are forgotten by age and count, as many calls as it takes', async (t) => {
  const { out, asked } = await forget('--ended-before', '30d', '--keep', '5');
  t.is(asked.length, 3);
  t.like(asked[0], { jobIds: [], endedBeforeUnixMs: 70 * day, keptCount: 5 });
  t.is(out, '3 jobs are forgotten.\n');
  t.is((await forget('--ended-before', '1970-01-11T00:00:00Z')).asked[0]?.endedBeforeUnixMs, 10 * day);
  t.deepEqual(JSON.parse((await forget('--keep', '0', '--json')).out), { job_ids: [1, 2, 3] });
});

test('without jobs, with both ways to name them, or with a bad number it is refused', async (t) => {
  for (const words of [[], ['1', '--keep', '3']]) {
    const { status, err, asked } = await forget(...words);
    t.is(status, 2);
    t.regex(err, /name the jobs to forget/);
    t.is(asked.length, 0);
  }
  t.regex((await forget('--keep', 'many')).err, /--keep is "many"; expected an integer/);
});
