// What each process of a grid decided, its machine decides again from its trace: also those that were killed, and those
// that came after.
import { readdirSync } from 'node:fs';
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { Grid, runCommandLine, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

interface Replayed {
  readonly machine: string;
  readonly end: string;
  readonly turn_count: number;
  readonly compared_count: number;
  readonly same: boolean;
  readonly problem: unknown;
}

async function replay(directory: string, file: string): Promise<Replayed> {
  const { status, out, err } = await runCommandLine(['sim', 'replay', file, '--json'], { directory });
  if (status > 1) throw new Error(`${file}: ${err}`);
  return JSON.parse(out) as Replayed;
}

test.serial('the traces of a grid whose broker, provider and agent were killed replay as they were', async (t) => {
  const traces = temporaryFolder(t);
  const traced = (name: string): string[] => ['--trace', `${traces}/${name}.jsonl`];
  const grid = await Grid.start({
    clusters: [2],
    machines: [1, 1],
    brokerArgs: traced('broker'),
    clusterArgs: traced('cluster'),
    providerArgs: traced('provider'),
    agentArgs: traced('agent'),
    env: { MUTIRAO_AGENT_TRACE: `${traces}/allocated.jsonl` },
  });
  t.teardown(() => grid.stop());
  await grid.client.waitMachines(2);
  const jobId = await grid.client.submit([taskGroup('sleep 0.2; echo $TASK', 40), taskGroup('exit 3', 2)], {
    failuresMax: 2,
  });
  await until(async () => (await grid.client.job(jobId)).finishedCount >= 4, 'some tasks are finished');
  await grid.broker.crash();
  await until(async () => (await grid.client.job(jobId)).finishedCount >= 10, 'more tasks are finished');
  await grid.agents[0]?.kill('SIGKILL');
  await grid.providers[0]?.crash();
  t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FAILED);
  await grid.stop();

  const files = readdirSync(traces).sort();
  const replayed = await Promise.all(files.map((file) => replay(traces, file)));
  const reported = files.map((file, index) => `${file} ${replayed[index]?.machine} ${replayed[index]?.end}`);
  for (const [index, { same, problem, turn_count, compared_count }] of replayed.entries()) {
    t.true(same, `${files[index]}: ${JSON.stringify(problem)}`);
    t.true(turn_count > 0 && compared_count >= turn_count - 1, files[index]);
  }
  for (const wanted of [
    'broker.jsonl broker cut',
    'broker.2.jsonl broker stopped',
    'cluster.jsonl cluster stopped',
    'agent.jsonl agent',
    'agent.2.jsonl agent',
    'provider.jsonl provider',
  ]) {
    t.true(
      reported.some((line) => line.startsWith(wanted)),
      `${wanted} of ${reported.join(', ')}`,
    );
  }
  t.true(
    reported.some((line) => line.startsWith('allocated.jsonl agent')) &&
      reported.some((line) => line === 'agent.jsonl agent cut' || line === 'agent.2.jsonl agent cut'),
    reported.join(', '),
  );

  const story = async (about: string): Promise<string> =>
    (await runCommandLine(['sim', 'replay', 'broker.2.jsonl', '--about', about], { directory: traces })).out;
  // Which tasks were placed before the broker was killed is a matter of rng.
  const [, started] = /-> StartReplicas .*taskIndex=t(\d+)/.exec(await story(`j${jobId}`)) ?? [];
  t.regex(
    await story(`j${jobId}.t${started}`),
    new RegExp(`-> StartReplicas .*taskIndex=t${started}[^\\n]*\\n(.*\\n)*.*<- MachineReported .*outcome=`),
  );
});
