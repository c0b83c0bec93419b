// A bag of tasks on a grid of separate processes.
import { createConnection } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { JobStatus, TaskStatus } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import { Outcome } from '@mutirao/api/machine';
import { callUnary } from '@mutirao/runtime/rpc';
import { Grid, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

let grid: Grid;

test.before(async () => {
  grid = await Grid.start({ clusters: [3], machines: [2] });
});
test.after.always(async () => {
  await grid.stop();
});

test.serial('a hundred tasks come back done, each accepted once, on the cluster and on the lab machine', async (t) => {
  const jobId = await grid.client.submit([taskGroup('echo $TASK-{}; sleep 0.05', 100)]);
  const job = await grid.client.waitEnded(jobId);
  t.is(job.status, JobStatus.FINISHED);
  t.is(job.finishedCount, 100);
  const tasks = await grid.client.tasks(jobId);
  t.is(tasks.length, 100);
  for (const task of tasks) {
    t.is(task.status, TaskStatus.FINISHED);
    t.is(task.replicas.filter(({ accepted }) => accepted).length, 1, `task ${task.taskIndex}`);
  }
  t.is(await grid.client.output(jobId, 37), '37-37\n');
  const machines = new Set(tasks.flatMap(({ replicas }) => replicas.map(({ machineId }) => machineId.split('/')[0])));
  t.deepEqual([...machines].sort(), ['alpha', 'lab']);
});

test.serial('a task that fails is retried up to the bound, and its job fails with what it printed', async (t) => {
  const jobId = await grid.client.submit([taskGroup('echo trouble >&2; exit 7', 1)], { failuresMax: 2 });
  const job = await grid.client.waitEnded(jobId);
  t.is(job.status, JobStatus.FAILED);
  const [task] = await grid.client.tasks(jobId);
  t.is(task?.failureCount, 2);
  t.deepEqual(
    task?.replicas.map(({ outcome, exitStatus }) => ({ outcome, exitStatus })),
    [
      { outcome: Outcome.FAILED, exitStatus: 7 },
      { outcome: Outcome.FAILED, exitStatus: 7 },
    ],
  );
  t.regex(await grid.client.explain({ $case: 'task', value: { jobId, taskIndex: 0 } }), /7/);
});

test.serial('files are put, stored and brought home, small ones and one that needs a stream of its own', async (t) => {
  const folder = temporaryFolder(t);
  const large = randomBytes(5 << 20);
  writeFileSync(join(folder, 'large.bin'), large);
  writeFileSync(join(folder, 'name with spaces \'and" quotes'), 'small\n', { mode: 0o755 });
  const put = (path: string, to: string, root: Root) => ({
    source: { source: { $case: 'localPath' as const, value: path } },
    root,
    path: to,
    condition: '',
  });
  const jobId = await grid.client.submit(
    [
      taskGroup('cat small "$STORAGE/large.bin" > out.{}; test -x small', 3, {
        inputs: [
          put('name with spaces \'and" quotes', 'small', Root.PLAYPEN),
          put('large.bin', 'large.bin', Root.STORAGE),
        ],
        outputs: [{ root: Root.PLAYPEN, path: 'out.{}', localPath: 'results/out.{}', condition: '' }],
      }),
    ],
    { homeDirectory: folder },
  );
  const job = await grid.client.waitEnded(jobId);
  t.is(job.status, JobStatus.FINISHED, await grid.client.explain({ $case: 'jobId', value: jobId }));
  for (const value of [0, 1, 2]) {
    t.true(
      readFileSync(join(folder, `results/out.${value}`)).equals(Buffer.concat([Buffer.from('small\n'), large])),
      `out.${value}`,
    );
  }
});

test.serial('what is wrong with a job is said before anything runs, and nothing of it is kept', async (t) => {
  const before = await countJobs();
  const path = (value: string) => ({
    source: { source: { $case: 'localPath' as const, value } },
    root: Root.PLAYPEN,
    path: 'x',
    condition: '',
  });
  const home = { homeDirectory: temporaryFolder(t) };
  await t.throwsAsync(grid.client.submit([]), { code: 'MUT_BAD_REQUEST' });
  await t.throwsAsync(grid.client.submit([taskGroup('true', 0)]), { code: 'MUT_BAD_REQUEST' });
  await t.throwsAsync(grid.client.submit([taskGroup('', 1)]), { code: 'MUT_BAD_REQUEST' });
  await t.throwsAsync(grid.client.submit([taskGroup('true', 1, { requirements: 'os ==' })]), {
    code: 'MUT_BAD_REQUEST',
  });
  await t.throwsAsync(grid.client.submit([taskGroup('true', 1, { inputs: [path('not-there')] })], home), {
    code: 'MUT_INPUT_MISSING',
  });
  const escaping = { root: Root.PLAYPEN, path: '../../etc/passwd', localPath: 'x', condition: '' };
  await t.throwsAsync(grid.client.submit([taskGroup('true', 1, { outputs: [escaping] })], home), {
    code: 'MUT_PATH_ESCAPES',
  });
  await t.throwsAsync(grid.client.submit([taskGroup('true', 1)], { replicasMax: 1000 }), { code: 'MUT_BAD_REQUEST' });
  t.is(await countJobs(), before);
});

test.serial('a command that is not there fails its task with a clear detail', async (t) => {
  const jobId = await grid.client.submit([taskGroup('/no/such/command', 1)], { failuresMax: 1 });
  await grid.client.waitEnded(jobId);
  const [task] = await grid.client.tasks(jobId);
  t.is(task?.replicas[0]?.exitStatus, 127);
  t.regex(await grid.client.explain({ $case: 'task', value: { jobId, taskIndex: 0 } }), /127/);
});

test.serial('a job that no machine matches says which attribute is in the way, and can be cancelled', async (t) => {
  const jobId = await grid.client.submit([taskGroup('true', 1, { requirements: '( os == solaris && gpuu >= 1 )' })]);
  await grid.client.waitMachines(1);
  await until(
    async () => /solaris/.test(await grid.client.explain({ $case: 'jobId', value: jobId })),
    'the explanation names what does not match',
  );
  await grid.client.cancel(jobId, 'no such machine');
  t.is((await grid.client.waitEnded(jobId)).status, JobStatus.CANCELLED);
});

test.serial('a check that says no makes the result a failure', async (t) => {
  const jobId = await grid.client.submit([taskGroup('echo {}', 2, { check: 'test "$TASK" = 1' })], {
    failuresMax: 1,
    homeDirectory: temporaryFolder(t),
  });
  const job = await grid.client.waitEnded(jobId);
  t.is(job.status, JobStatus.FAILED);
  const tasks = await grid.client.tasks(jobId);
  t.deepEqual(
    tasks.map(({ status }) => status),
    [TaskStatus.FAILED, TaskStatus.FINISHED],
  );
  t.is(tasks[0]?.replicas[0]?.reason, 'MUT_CHECK_FAILED');
});

test.serial('limits on time and output end a replica with their reason', async (t) => {
  const limits = { runTimeMsMax: 300, memoryBytesMax: 0, outputBytesMax: 0 };
  const slow = await grid.client.submit([taskGroup('sleep 600', 1)], { failuresMax: 1, limits });
  await grid.client.waitEnded(slow);
  t.is((await grid.client.tasks(slow))[0]?.replicas[0]?.outcome, Outcome.LIMITED);
  const loud = await grid.client.submit([taskGroup('yes', 1)], {
    failuresMax: 1,
    limits: { runTimeMsMax: 0, memoryBytesMax: 0, outputBytesMax: 100_000 },
  });
  await grid.client.waitEnded(loud);
  t.is((await grid.client.tasks(loud))[0]?.replicas[0]?.outcome, Outcome.LIMITED);
});

test.serial('the ledger adds up to the last processor-millisecond', async (t) => {
  const rows = await grid.client.ledger();
  t.true(rows.length >= 2);
  for (const row of rows) {
    t.is(
      row.heldProcessorMs,
      row.usedProcessorMs + row.losersProcessorMs + row.killedProcessorMs + row.idleProcessorMs,
      JSON.stringify(row),
    );
  }
  t.true(rows.some(({ usedProcessorMs }) => usedProcessorMs > 0));
});

test.serial('peers that speak nonsense lose their connection, not the server', async (t) => {
  for (const program of [grid.broker, ...grid.providers, ...grid.clusters]) {
    await new Promise<void>((resolve) => {
      const socket = createConnection({ path: program.address.slice('unix:'.length) }, () => {
        socket.write(randomBytes(4096));
      });
      socket.on('error', () => {
        resolve();
      });
      socket.on('close', () => {
        resolve();
      });
      socket.resume();
    });
    t.true(program.isRunning);
  }
  t.true(await grid.client.isServing());
});

async function countJobs(): Promise<number> {
  return (await callUnary(grid.client.raw, 'listJobs', { pageSize: 0, beforeJobId: 0 }, { deadlineMs: 60_000 })).jobs
    .length;
}
