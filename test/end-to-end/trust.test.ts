// Results of machines of which one lies, with real processes: what is taken is right, and the liar is found, known
// again and reset.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { JobStatus, MachineStatus, type JobSpec, type TrustRecord } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import { callUnary } from '@mutirao/runtime/rpc';
import { Grid, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

interface World {
  readonly grid: Grid;
  /** Where results come to. */
  readonly results: string;
  /** A file for each run of a task on the machine that lies. */
  readonly runs: string;
  /** While it is there that machine lies. */
  readonly marker: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Three honest machines and `lab/pc3`, which lies; each is a host of its own by its identity. */
async function world(t: ExecutionContext): Promise<World> {
  const folder = temporaryFolder(t);
  const [results, runs, marker] = [join(folder, 'results'), join(folder, 'runs'), join(folder, 'lies')];
  for (const name of [results, runs]) mkdirSync(name);
  writeFileSync(marker, '');
  const env = { LIE_IF: marker, RUNS: runs };
  const honest = ['one', 'two', 'three'].map((identity) => ({ processors: 1, args: ['--identity', identity] }));
  const grid = await Grid.start({ machines: [...honest, { processors: 1, args: ['--identity', 'four'], env }] });
  t.teardown(() => grid.stop());
  await grid.client.waitMachines(4);
  return { grid, results, runs, marker, env };
}

/** Prints the right answer, except on a machine that is set to lie. */
const command =
  'sleep 0.2; if [ -n "$RUNS" ]; then echo > "$RUNS/$JOB.$TASK.$$"; fi; if [ -e "$LIE_IF" ]; then echo "wrong ' +
  '{}" > out; else echo "right {}" > out; fi';

/** Submits `taskCount` tasks whose outputs come to `results`. */
function submit(
  { grid, results }: World,
  name: string,
  taskCount: number,
  verification: NonNullable<NonNullable<JobSpec['verification']>['by']>,
): Promise<number> {
  const outputs = [{ root: Root.PLAYPEN, path: 'out', localPath: join(results, `${name}.{}`), condition: '' }];
  return grid.client.submit([taskGroup(command, taskCount, { outputs })], { verification: { by: verification } });
}

function assertRight(t: ExecutionContext, { results }: World, name: string, taskCount: number): void {
  for (let index = 0; index < taskCount; index += 1)
    t.is(readFileSync(join(results, `${name}.${index}`), 'utf8'), `right ${index}\n`, `${name}.${index}`);
}

async function recordOf({ grid }: World, identity: string): Promise<TrustRecord | undefined> {
  return (await callUnary(grid.client.raw, 'listTrust', {}, { deadlineMs: 60_000 })).records.find(
    (record) => record.identity === identity,
  );
}

const statusOf = async ({ grid }: World, machineId: string): Promise<MachineStatus | undefined> =>
  (await grid.client.machines()).find(({ facts }) => facts?.machineId === machineId)?.status;

/** A liar's record says since when it is caught, and which machines brought something else than it did. */
function assertCaught(t: ExecutionContext, record: TrustRecord | undefined, jobId: number): void {
  if (record === undefined) return t.fail('nothing is known of the liar');
  t.true(record.quarantinedUnixMs > 0, 'the liar was not caught');
  t.is(record.machineId, 'lab/pc3');
  t.true(record.evidence.length > 0, 'there is no evidence');
  for (const { kind, jobId: ofJob, digest, acceptedDigest, against } of record.evidence) {
    t.deepEqual([kind, ofJob], ['outvoted', jobId]);
    t.not(digest, acceptedDigest);
    t.true(against.length >= 2 && !against.includes('lab/pc3'), `against it: ${against.join(', ')}`);
  }
}

/** Kills the broker when `finishedMin` tasks of a job are finished, starts it again and waits for the job. */
async function finishThroughCrash(
  t: ExecutionContext,
  { grid }: World,
  jobId: number,
  finishedMin: number,
): Promise<void> {
  await until(async () => (await grid.client.job(jobId)).finishedCount >= finishedMin, 'some tasks are finished');
  await grid.broker.crash();
  t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
}

test.serial(
  'votes take what is right, through kill -9 of the broker too; a machine that lied is quarantined with the evidence, whatever its name, until its trust record is reset',
  async (t) => {
    const here = await world(t);
    const { grid, runs, marker } = here;
    const jobId = await submit(here, 'vote', 24, { $case: 'vote', value: 3 });
    await finishThroughCrash(t, here, jobId, 3);
    assertRight(t, here, 'vote', 24);
    assertCaught(t, await recordOf(here, 'four'), jobId);
    for (const identity of ['one', 'two', 'three'])
      t.is((await recordOf(here, identity))?.quarantinedUnixMs, 0, identity);
    t.is(await statusOf(here, 'lab/pc3'), MachineStatus.QUARANTINED);

    // It comes again as another machine, and is what it was.
    await grid.agents[3]?.kill('SIGKILL');
    await grid.startMachine('foreign', { processors: 1, args: ['--identity', 'four'], env: here.env });
    await until(
      async () => (await statusOf(here, 'lab/foreign')) === MachineStatus.QUARANTINED,
      'the liar is known again',
    );
    const runsBefore = readdirSync(runs).length;
    const second = await submit(here, 'shut-out', 9, { $case: 'vote', value: 2 });
    t.is((await grid.client.waitEnded(second)).status, JobStatus.FINISHED);
    assertRight(t, here, 'shut-out', 9);
    t.is(readdirSync(runs).length, runsBefore, 'it got a task');

    // Mended and reset it works again, for votes too, without the credit that it had.
    rmSync(marker);
    await callUnary(grid.client.raw, 'resetMachineTrust', { machineId: 'lab/foreign' }, { deadlineMs: 60_000 });
    t.like(await recordOf(here, 'four'), { quarantinedUnixMs: 0, passes: 0 });
    const third = await submit(here, 'reset', 24, { $case: 'vote', value: 2 });
    t.is((await grid.client.waitEnded(third)).status, JobStatus.FINISHED);
    assertRight(t, here, 'reset', 24);
    t.true(readdirSync(runs).length > runsBefore, 'it got no task');
    t.true(((await recordOf(here, 'four'))?.passes ?? 0) > 0, 'others confirmed it');
  },
);

test.serial(
  'results by credibility are right through kill -9 of the broker, and machines that earned credit are shown with it',
  async (t) => {
    const here = await world(t);
    const jobId = await submit(here, 'credible', 40, { $case: 'credibility', value: 0.9 });
    await finishThroughCrash(t, here, jobId, 5);
    assertRight(t, here, 'credible', 40);
    t.true(((await recordOf(here, 'four'))?.quarantinedUnixMs ?? 0) > 0, 'the liar was caught');
    const machines = await here.grid.client.machines();
    const getCredibility = (machineId: string): number =>
      machines.find(({ facts }) => facts?.machineId === machineId)?.credibility ?? 0;
    for (const machineId of ['lab/pc0', 'lab/pc1', 'lab/pc2'])
      t.true(getCredibility(machineId) > 0.9, `${machineId}: ${getCredibility(machineId)}`);
    // Votes on all would have taken 80 runs at least.
    const { replicaCount } = await here.grid.client.job(jobId);
    t.true(replicaCount < 80, `${replicaCount} runs`);
  },
);
