// srun in a task, as an ordinary account: a job of its own, or a step of the allocation if configured.
import { rmSync } from 'node:fs';
import test from 'ava';
import { SlurmGrid, SlurmServer, taskGroup } from '@mutirao/testkit';
import { folderForAll, nobody, programsForAll } from '@mutirao/testkit/world';

const programs = folderForAll();
let slurm: SlurmServer;

test.before(async () => {
  slurm = await SlurmServer.start({ nodes: 2 });
});
test.after.always(async () => {
  await slurm.stop();
  rmSync(programs, { recursive: true, force: true });
});

test.serial('srun in a task runs inside the allocation with its number and --overlap, and else as a job', async (t) => {
  const account = { ...nobody, ...programsForAll(programs) };
  const site = await SlurmGrid.startAs(account, slurm, '--requests-max', '1', '--width-max', '4');
  t.teardown(() => site.stop());
  const { client } = site.grid;
  const step = `srun --ntasks=1 --overlap --jobid="$manager_job" sh -c 'echo "inside $SLURM_JOB_ID as $(id -un)"'`;
  const own = `srun --ntasks=1 --time=1 sh -c 'echo "alone $SLURM_JOB_ID"'`;
  const jobId = await client.submit([taskGroup(`echo "of $manager_job"; ${step}; ${own}`, 4)]);
  const job = await client.waitEnded(jobId, 300_000);
  t.is(job.finishedCount, 4, await client.explain({ $case: 'jobId', value: jobId }));
  for (let index = 0; index < 4; index += 1) {
    const output = await client.output(jobId, index);
    const [, allocation, inside, user, alone] = /^of (\d+)\ninside (\d+) as (\w+)\nalone (\d+)\n$/.exec(output) ?? [];
    t.true(allocation !== undefined && allocation === inside && user === 'nobody', output);
    t.not(alone, allocation);
  }
});
