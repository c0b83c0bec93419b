// A walltime, of a minute as the shortest that Slurm knows, ends amid a bag.
import test from 'ava';
import { Outcome } from '@mutirao/api/machine';
import { SlurmGrid, SlurmServer, taskGroup } from '@mutirao/testkit';

let slurm: SlurmServer;

test.before(async () => {
  slurm = await SlurmServer.start({ nodes: 1 });
});
test.after.always(async () => {
  await slurm.stop();
});

test.serial('tasks that a walltime ends under run again in the next allocation', async (t) => {
  // The bag alone may take six minutes, below.
  t.timeout(10 * 60_000);
  // A heuristic that gives nothing back: `finish` may release the first allocation before its end.
  const site = await SlurmGrid.start(slurm, '--walltime-max', '1m', '--requests-max', '1', '--heuristic', 'static');
  t.teardown(() => site.stop());
  const { client } = site.grid;
  // Eight at a time end within 50 s. The two after them, which nobody knows to be longer, begin within the minute, and
  // would end after the 90 s that Slurm may let it last.
  const jobId = await client.submit([taskGroup('if [ {} -lt 80 ]; then sleep 5; else sleep 45; fi', 82)], {
    replicasMax: 1,
  });
  // Two walltimes of up to 90 s, and what Slurm takes to end one allocation and to start the next.
  const job = await client.waitEnded(jobId, 360_000);
  t.is(job.finishedCount, 82);
  await site.untilExplained('q1', /MUT_WALLTIME_ENDED/);
  const replicas = (await client.tasks(jobId)).flatMap((task) => task.replicas);
  t.is(replicas.filter(({ accepted }) => accepted).length, 82);
  t.true(replicas.some(({ outcome, machineId }) => outcome !== Outcome.SUCCEEDED && machineId.startsWith('site/q1.')));
});
