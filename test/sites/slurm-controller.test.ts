// The controller of a real Slurm is killed while a bag runs.
import test, { type ExecutionContext } from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { SlurmGrid, SlurmServer, taskGroup, until } from '@mutirao/testkit';

/** Starts a Slurm for one test, since what a controller saved of the jobs of another would be among what it knows. */
async function start(t: ExecutionContext): Promise<SlurmGrid> {
  const slurm = await SlurmServer.start({ nodes: 1 });
  t.teardown(() => slurm.stop());
  const site = await SlurmGrid.start(slurm, '--walltime-max', '2m', '--requests-max', '1', '--manager-deadline', '2s');
  t.teardown(() => site.stop());
  t.teardown(async () => {
    if (!t.passed) t.log(await slurm.resourceStatus());
  });
  return site;
}

const submit = (site: SlurmGrid): Promise<number> => site.grid.client.submit([taskGroup('sleep 1; echo {}', 100)]);
const finishedCount = async (site: SlurmGrid, jobId: number): Promise<number> =>
  (await site.grid.client.job(jobId)).finishedCount;
const untilUnderWay = (site: SlurmGrid, jobId: number): Promise<void> =>
  until(async () => (await finishedCount(site, jobId)) >= 3, 'the bag is under way');

async function untilMissed(site: SlurmGrid, jobId: number): Promise<void> {
  const before = await finishedCount(site, jobId);
  await until(async () => (await finishedCount(site, jobId)) > before, 'agents go on without the controller');
  await site.untilStatus(/Cannot read the resource's queue.*MUT_UNREACHABLE/);
}

async function checkEnded(t: ExecutionContext, site: SlurmGrid, jobId: number): Promise<void> {
  const job = await site.grid.client.waitEnded(jobId);
  t.is(job.status, JobStatus.FINISHED);
  t.is(job.finishedCount, 100);
  for (const { taskIndex, replicas } of await site.grid.client.tasks(jobId))
    t.is(replicas.filter(({ accepted }) => accepted).length, 1, `task ${taskIndex}`);
  await until(async () => (await site.slurm.jobs()).length === 0, 'allocations are given back');
}

test.serial('nothing is lost when the controller is killed while jobs run', async (t) => {
  const site = await start(t);
  const jobId = await submit(site);
  await untilUnderWay(site, jobId);
  await site.slurm.killController(await site.slurm.saveState());
  await untilMissed(site, jobId);
  await site.slurm.startController();
  await checkEnded(t, site, jobId);
});

test.serial('nothing is lost when the controller is killed while jobs run, and has forgotten them', async (t) => {
  const site = await start(t);
  const jobId = await submit(site);
  await untilUnderWay(site, jobId);
  await site.slurm.killController('nothing');
  await untilMissed(site, jobId);
  // It has the node end them, and gives their numbers to others.
  await site.slurm.startController();
  await checkEnded(t, site, jobId);
  await site.untilExplained('q1', /missing from 2 listings in a row/);
});

test.serial(
  'nothing is lost when the controller is killed while jobs run, and has forgotten that they do',
  async (t) => {
    const site = await start(t);
    const { slurm } = site;
    await slurm.drainNodes();
    const jobId = await submit(site);
    await until(async () => (await slurm.jobs('PENDING')).length > 0, 'the request waits');
    const waiting = await slurm.saveState();
    await slurm.resumeNodes();
    await untilUnderWay(site, jobId);
    await slurm.killController(waiting);
    await untilMissed(site, jobId);
    await slurm.startController();
    // It starts them again, which a node that runs them still refuses ("Duplicate jobid"). Slurm takes that node out of
    // use then, until an operator puts it back.
    await until(async () => {
      await slurm.resumeNodes();
      return (await finishedCount(site, jobId)) === 100;
    }, 'the bag ends');
    await checkEnded(t, site, jobId);
  },
);
