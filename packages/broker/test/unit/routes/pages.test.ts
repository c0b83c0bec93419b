// Answers that their handlers cut into pages of bounded bytes.
import test from 'ava';
import { GetTaskOutputResponse, ListJobsResponse, type TaskFile } from '@mutirao/api/broker';
import { brokerMachine, createBrokerState } from '@mutirao/core/machines/broker';
import { jobsAsked, wholeOutput } from '@mutirao/runtime/clients';
import { aJob, inject } from '@mutirao/testkit';
import type { BrokerParts } from '../../../src/routes/broker-parts.ts';
import { listJobsRoute } from '../../../src/routes/jobs.ts';
import { cutOutput } from '../../../src/routes/output-page.ts';

const mebibyte = 1024 * 1024;

test('a page of jobs is bounded in bytes too, and a client that asks for a hundred gets them', async (t) => {
  const state = createBrokerState();
  for (let count = 0; count < 40; count += 1)
    brokerMachine.step(
      state,
      [
        {
          kind: 'JobSubmitted',
          replyTo: 0,
          userId: 'ana',
          clientJobId: '',
          spec: { ...aJob(3), label: 'é'.repeat(100_000) },
        },
      ],
      1000,
    );
  const route = listJobsRoute({ driver: { state }, room: { trouble: () => undefined } } as unknown as BrokerParts);
  const sizes: number[] = [];
  const { jobs, nextBeforeJobId } = await jobsAsked({ pageSize: 100, beforeJobId: 0 }, async (request) => {
    const page = await inject(route, request, { userId: 'ana' });
    t.true(ListJobsResponse.encode(page).finish().length < 4 * mebibyte);
    sizes.push(page.jobs.length);
    return page;
  });
  t.true(sizes.length > 1);
  t.deepEqual(
    jobs.map(({ jobId }) => jobId),
    Array.from({ length: 40 }, (_, index) => 40 - index),
  );
  t.is(nextBeforeJobId, undefined);
  t.is(
    (await inject(route, { pageSize: 5, beforeJobId: 6 }, { userId: 'ana' })).nextBeforeJobId,
    undefined,
    'the last page leads nowhere',
  );
  t.is((await inject(route, { pageSize: 5, beforeJobId: 7 }, { userId: 'ana' })).nextBeforeJobId, 2);
});

test('the pages of an output have all bytes of both streams and all files, each once', async (t) => {
  const getFiles = (count: number, size: number): TaskFile[] =>
    Array.from({ length: count }, (_, index) => ({
      path: `${index} ${'é'.repeat(size)}`,
      content: undefined,
      localPath: '',
      gatheredIn: '',
    }));
  const cases = [
    [0, 0, 0],
    [3_000_000, 2_500_000, 0],
    [2 * mebibyte, 0, 3],
    [0, 2 * mebibyte, 1],
    [5, 0, 1500],
    [2 * mebibyte - 10, 9, 10],
    [100, 5 * mebibyte, 2000],
  ] as const;
  for (const [outBytes, errBytes, fileCount] of cases) {
    const whole = {
      standardOutput: Buffer.alloc(outBytes, 'out '),
      standardError: Buffer.alloc(errBytes, 'err '),
      files: getFiles(fileCount, 1000),
    };
    const read = await wholeOutput({ jobId: 1, taskIndex: 1 }, ({ pageToken }) => {
      const page = { replicaId: 7, truncated: false, ...cutOutput(whole, 7, pageToken) };
      t.true(GetTaskOutputResponse.encode(page).finish().length < 2.1 * mebibyte);
      return Promise.resolve(page);
    });
    t.true(
      read.standardOutput.equals(whole.standardOutput) && read.standardError.equals(whole.standardError),
      String(outBytes),
    );
    t.deepEqual(
      read.files.map(({ path }) => path.split(' ')[0]),
      whole.files.map((_, index) => String(index)),
    );
    t.is(read.nextPageToken, undefined);
  }
  const nothing = { standardOutput: Buffer.alloc(0), standardError: Buffer.alloc(0), files: [] };
  t.throws(() => cutOutput(nothing, 7, '8/5'), { code: 'MUT_PAGE_STALE', message: /is of replica 8, and .* 7 now/ });
  for (const token of ['next', '7/', '/5', '7/-1'])
    t.throws(() => cutOutput(nothing, 7, token), { code: 'MUT_BAD_REQUEST', message: /page_token is/ }, token);
});

test('the output of a task that runs again between two pages is read from the beginning; one that never rests is an error', async (t) => {
  const getOutput = (replicaId: number): Buffer => Buffer.alloc(5 * mebibyte, String(replicaId));
  const read = (replicaAt: (call: number) => number): Promise<GetTaskOutputResponse> => {
    let calls = 0;
    return wholeOutput({ jobId: 1, taskIndex: 1 }, async ({ pageToken }) => {
      const replicaId = replicaAt((calls += 1));
      const whole = { standardOutput: getOutput(replicaId), standardError: Buffer.alloc(0), files: [] };
      return { replicaId, truncated: false, ...cutOutput(whole, replicaId, pageToken) };
    });
  };
  const { replicaId, standardOutput } = await read((call) => (call < 3 ? 7 : 8));
  t.is(replicaId, 8);
  t.true(standardOutput.equals(getOutput(8)));
  await t.throwsAsync(
    read((call) => call),
    { code: 'MUT_PAGE_STALE', message: /ran again while its output was read/ },
  );
});
