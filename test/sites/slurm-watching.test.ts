// A bag of tasks under a heuristic that watches the queue of a real Slurm, among other jobs.
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { callUnary } from '@mutirao/runtime/rpc';
import { SlurmGrid, SlurmServer, taskGroup, until } from '@mutirao/testkit';

let slurm: SlurmServer;

test.before(async () => {
  slurm = await SlurmServer.start({ nodes: 1 });
});
test.after.always(async () => {
  await slurm.stop();
});

/** A job of somebody else. */
async function occupy(processors: number, minutes: number): Promise<string> {
  return (
    await slurm.command(
      'sbatch',
      '--parsable',
      `--ntasks=${processors}`,
      `--time=${minutes}`,
      '--output=/dev/null',
      '--wrap=sleep 1000',
    )
  ).trim();
}

test.serial(
  'on a Slurm, too, a request that turns out worse than what its queue offers since is withdrawn, and its explanation says why',
  async (t) => {
    // Two processors are free for ten minutes, then somebody has all for twenty.
    await occupy(4, 10);
    const leaving = await occupy(2, 10);
    await until(async () => (await slurm.jobs('RUNNING')).length === 2, 'both run');
    await occupy(8, 20);
    const site = await SlurmGrid.start(slurm, '--heuristic', 'auto', '--requests-max', '2');
    t.teardown(() => site.stop());
    const { client } = site.grid;
    const jobId = await client.submit([taskGroup('sleep 1', 120)]);
    await until(async () => (await client.job(jobId)).finishedCount >= 5, 'some tasks end');
    await slurm.command('scancel', leaving);
    const requests = async () =>
      (await callUnary(client.raw, 'listRequests', { includeEnded: true }, { deadlineMs: 60_000 })).requests;
    const findWithdrawn = async () =>
      (await requests()).find(({ reasons }) => reasons.some(({ code }) => code === 'finish-withdrawn-for-better'));
    await until(async () => (await findWithdrawn()) !== undefined, 'the request that waits is withdrawn');
    await site.untilExplained(
      (await findWithdrawn())!.requestId,
      /Withdrawn: another request.*Requested instead: 2 processors .*Expected to finish/s,
    );
    const job = await client.waitEnded(jobId);
    t.is(job.status, JobStatus.FINISHED);
    t.true((await requests()).length <= 6, `${(await requests()).length} requests for one bag`);
  },
);
