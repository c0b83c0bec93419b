// A bag of tasks under a heuristic that watches the queue of a cluster, among local users.
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import type { AllocationRequest } from '@mutirao/api/provider';
import { EmbeddedCluster } from '@mutirao/managers';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { callUnary } from '@mutirao/runtime/rpc';
import { Grid, taskGroup, until } from '@mutirao/testkit';

const minute = 60_000;

/** A grid over a cluster of four processors, and a local user's way to it. */
async function startGrid(): Promise<{ readonly grid: Grid; readonly cluster: EmbeddedCluster }> {
  const grid = await Grid.start({
    clusters: [4],
    clusterArgs: ['--walltime-max', '30m', '--requests-max', '2'],
    providerArgs: ['--heuristic', 'auto', '--queue-interval', '200ms', '--idle-release', '1s'],
  });
  return {
    grid,
    cluster: new EmbeddedCluster({ address: grid.clusters[0]!.address, token: readToken(tokenPath(grid.home)) }),
  };
}

function occupy(cluster: EmbeddedCluster, userId: string, width: number, walltime: number): Promise<string> {
  return cluster.allocate({
    userId,
    width,
    walltime,
    command: ['/bin/sleep', '1000'],
    environment: {},
    workingDirectory: '',
    clientRequestId: userId,
  });
}

test.serial(
  'a request that turns out worse than what the queue offers since is withdrawn, and its explanation says why',
  async (t) => {
    const { grid, cluster } = await startGrid();
    try {
      // One processor is free for five minutes, then somebody has all for ten.
      await occupy(cluster, 'ana', 2, 5 * minute);
      const leaving = await occupy(cluster, 'rui', 1, 5 * minute);
      await occupy(cluster, 'eva', 4, 10 * minute);
      const jobId = await grid.client.submit([taskGroup('sleep 1', 40)]);
      // Not knowing how long tasks are, it tries one processor now, and waits for all of them.
      await until(async () => (await grid.client.job(jobId)).finishedCount >= 5, 'some tasks end');
      await cluster.release(leaving);
      const requests = async () =>
        (await callUnary(grid.client.raw, 'listRequests', { includeEnded: true }, { deadlineMs: minute })).requests;
      const isWithdrawn = ({ reasons }: AllocationRequest): boolean =>
        reasons.some(({ code }) => code === 'finish-withdrawn-for-better');
      await until(async () => (await requests()).some(isWithdrawn), 'the request that waits is withdrawn');
      const job = await grid.client.waitEnded(jobId);
      t.is(job.status, JobStatus.FINISHED);
      const all = await requests();
      const withdrawn = all.filter(isWithdrawn);
      t.is(withdrawn.length, 1);
      t.true(all.every(({ heuristic }) => heuristic === 'finish'));
      t.true(all.length <= 6, `${all.length} requests for one bag`);
      const [given] = withdrawn;
      // The first request has ended or not when the queue is read, so that one processor is free then, or two.
      const instead = given!.reasons
        .filter(({ code }) => code === 'finish-replaced-by')
        .map(({ parameters }) => parameters['processors']?.value?.value);
      const made = all.filter((request) => request !== given).map(({ widthProcessors }) => widthProcessors);
      t.deepEqual(instead, [Math.min(...instead.map(Number))], 'one request takes its place');
      t.true(made.includes(Number(instead[0])), `${String(instead[0])} processors were asked for: ${made.join(', ')}`);
      t.true(Number(instead[0]) < given!.widthProcessors);
      t.regex(
        await grid.client.explain({ $case: 'request', value: `${given!.providerId}/${given!.requestId}` }),
        new RegExp(
          'Withdrawn: another request finishes the job much earlier\\..*' +
            `Requested instead: ${String(instead[0])} processors? .*Expected to finish`,
          's',
        ),
      );
    } finally {
      cluster.close();
      await grid.stop();
    }
  },
);

test.serial(
  'a bag of short tasks on a cluster with a long limit asks for little at first, says so, and is done without more',
  async (t) => {
    const grid = await Grid.start({
      clusters: [2],
      clusterArgs: ['--walltime-max', '24h', '--requests-max', '10'],
      providerArgs: ['--queue-interval', '200ms'],
    });
    try {
      const jobId = await grid.client.submit([taskGroup('sleep 1', 20)]);
      const job = await grid.client.waitEnded(jobId);
      t.is(job.status, JobStatus.FINISHED);
      const { requests } = await callUnary(
        grid.client.raw,
        'listRequests',
        { includeEnded: true },
        { deadlineMs: minute },
      );
      t.true(requests.length <= 3, `${requests.length} requests`);
      for (const { walltimeMs } of requests) t.true(walltimeMs <= 60 * minute, `${walltimeMs} ms`);
      // Whether one processor or both are free at that moment depends on how busy the host is.
      t.regex(
        requests[0]?.reasons[0]?.text ?? '',
        /^Task run times are unknown: requesting 2 processors for 1 h first; more once tasks finish\.$/,
      );
    } finally {
      await grid.stop();
    }
  },
);
