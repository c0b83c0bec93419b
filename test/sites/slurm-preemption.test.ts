// Slurm signals every process of a job at once: nothing that ends by it is a result or a failure of its task.
import test from 'ava';
import { SlurmGrid, SlurmServer, taskGroup, until } from '@mutirao/testkit';

let slurm: SlurmServer;

test.before(async () => {
  slurm = await SlurmServer.start();
});
test.after.always(async () => {
  await slurm.stop();
});

for (const command of ['trap "exit 0" TERM; sleep 8 & wait; echo finished', 'sleep 8; echo finished']) {
  test.serial(`no task is accepted early when its allocations are cancelled: ${command}`, async (t) => {
    const site = await SlurmGrid.start(slurm, '--requests-max', '4');
    t.teardown(() => site.stop());
    const { client } = site.grid;
    const jobId = await client.submit([{ ...taskGroup(command, 40) }], { failuresMax: 1 });
    for (let round = 0; round < 2; round++) {
      await until(
        async () =>
          (await client.tasks(jobId)).filter(({ replicas }) =>
            replicas.some(({ startedUnixMs, endedUnixMs }) => startedUnixMs > 0 && endedUnixMs === 0),
          ).length >= 8,
        'tasks run',
      );
      for (const job of await slurm.jobs('RUNNING')) await slurm.command('scancel', job);
    }
    const job = await client.waitEnded(jobId);
    t.is(job.finishedCount, 40, await client.explain({ $case: 'jobId', value: jobId }));
    for (const { taskIndex, replicas } of await client.tasks(jobId)) {
      const accepted = replicas.find(({ accepted: isAccepted }) => isAccepted);
      const took = (accepted?.endedUnixMs ?? 0) - (accepted?.startedUnixMs ?? 0);
      t.true(took >= 7900, `task ${taskIndex} was accepted after ${took} ms`);
      t.false(
        replicas.some(({ reason }) => reason === 'MUT_COMMAND_FAILED'),
        `task ${taskIndex} was counted as failed`,
      );
    }
  });
}
