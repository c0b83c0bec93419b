// The controller of a real Slurm is killed while a bag runs.
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { SlurmGrid, SlurmServer, taskGroup, until } from '@mutirao/testkit';

let slurm: SlurmServer;

test.before(async () => { slurm = await SlurmServer.start({ nodes: 1 }); });
test.after.always(async () => { await slurm.stop(); });

for (const isSaved of [true, false]) {
  test.serial(`nothing is lost when the controller is killed while jobs run${isSaved ? '' : ', and has forgotten that they do'}`, async (t) => {
    const site = await SlurmGrid.start(slurm, '--walltime-max', '2m', '--requests-max', '1', '--manager-deadline', '2s');
    t.teardown(() => site.stop());
    const { client } = site.grid;
    const jobId = await client.submit([taskGroup('sleep 1; echo {}', 100)]);
    const finished = async (): Promise<number> => (await client.job(jobId)).finishedCount;
    await until(async () => (await finished()) >= 3, 'the bag is under way');
    // It saves within 5 s; before it did, it knows a job only as one that waits, and runs it anew.
    if (isSaved) await slurm.saveState();
    await slurm.killController();
    const before = await finished();
    await until(async () => (await finished()) > before, 'agents go on without the controller');
    await site.untilStanding(/cannot be read: MUT_UNREACHABLE/);
    await slurm.startController();
    const job = await client.waitEnded(jobId);
    t.is(job.status, JobStatus.FINISHED);
    t.is(job.finishedCount, 100);
    for (const { taskIndex, replicas } of await client.tasks(jobId)) t.is(replicas.filter(({ accepted }) => accepted).length, 1, `task ${taskIndex}`);
    await until(async () => (await slurm.jobs()).length === 0, 'allocations are given back');
  });
}
