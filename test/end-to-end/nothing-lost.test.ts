// Any process may be killed at any moment: jobs finish, no finished task runs again, nothing keeps running.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { Grid, type GridOptions, isAlive, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

interface World {
  readonly grid: Grid;
  readonly runs: string;
}

/** A grid, and a folder into which every run of a task writes a file: the world's own truth about what ran. */
async function world(t: ExecutionContext, options: GridOptions): Promise<World> {
  const runs = temporaryFolder(t);
  const grid = await Grid.start(options);
  t.teardown(() => grid.stop());
  return { grid, runs };
}

const recorded = (runs: string, seconds: number): string => `sleep ${seconds}; echo $$ > ${runs}/$TASK.$$`;
const listRuns = (runs: string): number => readdirSync(runs).length;

test.serial('kill -9 of the broker in mid-job: live agents are adopted and no finished task runs again', async (t) => {
  const { grid, runs } = await world(t, { clusters: [2], machines: [2] });
  await grid.client.waitMachines(1);
  const jobId = await grid.client.submit([taskGroup(recorded(runs, 0.3), 40)], { replicasMax: 1 });
  await until(() => listRuns(runs) >= 8, 'some tasks have run');
  await until(async () => (await grid.client.job(jobId)).finishedCount >= 6, 'some tasks are finished');
  const machinesBefore = (await grid.client.machines())
    .map(({ facts }) => `${facts?.machineId} ${facts?.incarnation}`)
    .sort();
  await grid.broker.crash();
  const job = await grid.client.waitEnded(jobId);
  t.is(job.status, JobStatus.FINISHED);
  t.is(job.finishedCount, 40);
  t.is(listRuns(runs), 40, 'a task ran twice, or not at all');
  const machinesAfter = new Set(
    (await grid.client.machines()).map(({ facts }) => `${facts?.machineId} ${facts?.incarnation}`),
  );
  t.true(
    machinesBefore.some((machine) => machinesAfter.has(machine)),
    'no machine was adopted',
  );
});

test.serial('kill -9 of a provider in mid-job: its agents go on and deliver when it is back', async (t) => {
  const { grid, runs } = await world(t, { clusters: [2] });
  await grid.client.waitMachines(0);
  const jobId = await grid.client.submit([taskGroup(recorded(runs, 0.3), 30)], { replicasMax: 1 });
  await until(() => listRuns(runs) >= 4, 'some tasks have run');
  await grid.providers[0]?.crash();
  const job = await grid.client.waitEnded(jobId);
  t.is(job.finishedCount, 30);
  t.is(listRuns(runs), 30, 'a task ran twice, or not at all');
});

test.serial('kill -9 of an agent in mid-job: its tasks run elsewhere, and those it ran are gone', async (t) => {
  const { grid, runs } = await world(t, { machines: [2, 2] });
  await grid.client.waitMachines(2);
  const jobId = await grid.client.submit(
    [taskGroup(`echo $$ > ${runs}/started.$TASK.$$; sleep 2; echo done > ${runs}/$TASK.$$`, 8)],
    { replicasMax: 1 },
  );
  await until(() => readdirSync(runs).filter((name) => name.startsWith('started.')).length >= 4, 'both machines work');
  await grid.agents[0]?.kill('SIGKILL');
  const job = await grid.client.waitEnded(jobId);
  t.is(job.finishedCount, 8);
  const started = readdirSync(runs).filter((name) => name.startsWith('started.'));
  const pids = started.map((name) => Number(readFileSync(join(runs, name), 'utf8')));
  await until(() => pids.every((pid) => !isAlive(pid)), 'no task is left running');
  t.true(started.length >= 9, `the killed machine's tasks ran again (${started.length} starts)`);
});

test.serial(
  'when an allocation ends under its tasks, they run in the next one and do not count as failed',
  async (t) => {
    const { grid, runs } = await world(t, {
      clusters: [2],
      clusterArgs: ['--walltime-max', '6s', '--requests-max', '1'],
    });
    const jobId = await grid.client.submit([taskGroup(recorded(runs, 1.3), 12)], { failuresMax: 1 });
    const job = await grid.client.waitEnded(jobId);
    t.is(job.status, JobStatus.FINISHED, await grid.client.explain({ $case: 'jobId', value: jobId }));
    const rows = (await grid.client.ledger()).filter(({ requestId }) => requestId !== '');
    t.true(rows.length >= 2, 'more than one allocation was needed');
    for (const row of rows)
      t.is(
        row.heldProcessorMs,
        row.usedProcessorMs + row.losersProcessorMs + row.killedProcessorMs + row.idleProcessorMs,
      );
  },
);

test.serial(
  'kill -9 of the cluster in mid-job: nothing of its allocations runs on, and the job finishes when it is back',
  async (t) => {
    const { grid, runs } = await world(t, { clusters: [2] });
    const jobId = await grid.client.submit(
      [taskGroup(`echo $$ > ${runs}/started.$TASK.$$; sleep 1; echo done > ${runs}/$TASK.$$`, 10)],
      { replicasMax: 1 },
    );
    await until(() => listRuns(runs) >= 2, 'some tasks run');
    await grid.clusters[0]?.kill('SIGKILL');
    const pids = readdirSync(runs)
      .filter((name) => name.startsWith('started.'))
      .map((name) => Number(readFileSync(join(runs, name), 'utf8')));
    await until(() => pids.every((pid) => !isAlive(pid)), 'tasks of the dead cluster are gone');
    await grid.clusters[0]?.start();
    const job = await grid.client.waitEnded(jobId);
    t.is(job.finishedCount, 10);
  },
);

test.serial('everything killed at once and started again: the job finishes', async (t) => {
  const { grid, runs } = await world(t, { clusters: [2], machines: [1] });
  const jobId = await grid.client.submit([taskGroup(recorded(runs, 0.3), 30)]);
  await until(() => listRuns(runs) >= 5, 'some tasks have run');
  const all = [grid.broker, ...grid.providers, ...grid.agents, ...grid.clusters];
  await Promise.all(all.map((program) => program.kill('SIGKILL')));
  for (const program of [...grid.clusters, ...grid.providers, ...grid.agents, grid.broker]) await program.start();
  const job = await grid.client.waitEnded(jobId);
  t.is(job.finishedCount, 30);
});

test.serial('a stalled machine does not hold up the job: a replica elsewhere wins', async (t) => {
  const { grid, runs } = await world(t, { machines: [1, 1] });
  await grid.client.waitMachines(2);
  const jobId = await grid.client.submit([taskGroup(recorded(runs, 0.5), 2)], { replicasMax: 2 });
  await until(async () => (await grid.client.job(jobId)).runningCount === 2, 'both tasks run');
  process.kill(grid.agents[0]?.pid ?? 0, 'SIGSTOP');
  t.teardown(() => {
    process.kill(grid.agents[0]?.pid ?? 0, 'SIGCONT');
  });
  const job = await grid.client.waitEnded(jobId);
  t.is(job.finishedCount, 2);
});
