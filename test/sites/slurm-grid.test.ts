// Bags through broker, provider, a real Slurm and agents that srun starts on its nodes.
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { SlurmGrid, SlurmServer, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

let slurm: SlurmServer;

test.before(async () => {
  slurm = await SlurmServer.start({
    settings: ['PartitionName=one Nodes=n1 MaxTime=5 State=UP', 'PartitionName=none Nodes=n[1-4] MaxNodes=0 State=UP'],
  });
});
test.after.always(async () => {
  await slurm.stop();
});

async function start(t: ExecutionContext, ...args: readonly string[]): Promise<SlurmGrid> {
  const site = await SlurmGrid.start(slurm, '--slurm-partition', 'one', ...args);
  t.teardown(() => site.stop());
  return site;
}

test.serial('a bag runs on the nodes, and they are given back', async (t) => {
  const { grid } = await start(t);
  const jobId = await grid.client.submit([taskGroup('echo $TASK on $PROC', 40)]);
  const job = await grid.client.waitEnded(jobId);
  t.is(job.finishedCount, 40, await grid.client.explain({ $case: 'jobId', value: jobId }));
  t.regex(await grid.client.output(jobId, 7), /^7 on site\/q\d+\.\d+\n$/);
  await until(async () => (await slurm.jobs()).length === 0, 'allocations are given back');
});

test.serial('what somebody else cancels is asked for again, and its tasks run elsewhere', async (t) => {
  const site = await start(t, '--requests-max', '1');
  const { client } = site.grid;
  // It cannot end before the cancellation, however long that takes.
  const gate = join(temporaryFolder(t), 'closed');
  const jobId = await client.submit([taskGroup(`while [ -e '${gate}' ]; do sleep 0.1; done; sleep 1`, 24)]);
  await until(async () => (await client.job(jobId)).finishedCount >= 3, 'the bag is under way');
  writeFileSync(gate, '');
  const [slurmJob = ''] = await slurm.jobs();
  await slurm.command('scancel', slurmJob);
  rmSync(gate);
  const job = await client.waitEnded(jobId);
  t.is(job.finishedCount, 24);
  await site.untilExplained('q1', /resource manager ended the request \((?:CANCELLED|COMPLETING)/);
  const tasks = await client.tasks(jobId);
  t.true(tasks.some(({ replicas }) => replicas.some(({ machineId }) => machineId.startsWith('site/q2.'))));
});

test.serial(
  "an agent that cannot run on the nodes is reported in the node's own words, and the provider pauses and says so",
  async (t) => {
    const broken = join(slurm.folder, 'agent');
    writeFileSync(broken, '#!/bin/sh\necho "agent: /lib64/libc.so.6: version GLIBC_2.34 not found" >&2\nexit 1\n');
    chmodSync(broken, 0o755);
    const site = await start(
      t,
      '--requests-max',
      '1',
      '--agent-command',
      JSON.stringify([broken]),
      '--refusal-pause',
      '100ms',
      '--refusals-max',
      '3',
    );
    await site.grid.client.submit([taskGroup('true', 8)]);
    await site.untilExplained('q1', /FAILED, NonZeroExitCode: .*GLIBC_2.34 not found/);
    await site.untilStatus(
      /Requests paused for (?:59|60|1 h).*after failures in a row \(0 refused, 3 ended without a machine/,
    );
    t.is((await site.resourceStatus()).requestCount, 3);
  },
);

test.serial('an unknown partition is reported by name, and nothing is asked of one that allows nothing', async (t) => {
  const lost = await start(t, '--slurm-partition', 'nix');
  const jobId = await lost.grid.client.submit([taskGroup('true', 1)]);
  await lost.untilStatus(/Cannot read the resource's queue.*MUT_BAD_REQUEST, scontrol shows no partition "nix"/);
  t.regex(await lost.grid.client.explain({ $case: 'jobId', value: jobId }), /"mutirao provider show site" shows why/);
  const nothing = await start(t, '--slurm-partition', 'none');
  await nothing.grid.client.submit([taskGroup('true', 1)]);
  await nothing.untilStatus(/one request may have at most 0/);
  t.deepEqual(await slurm.jobs(), []);
});
