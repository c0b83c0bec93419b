// Tasks that need processors and memory through a real Slurm, as an ordinary account: slots, and one agent for each node.
import { rmSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { SlurmGrid, SlurmServer, taskGroup } from '@mutirao/testkit';
import { folderForAll, nobody, programsForAll } from '@mutirao/testkit/world';

const mebibyte = 2 ** 20;
const programs = folderForAll();
let slurm: SlurmServer;

test.before(async () => {
  slurm = await SlurmServer.start({ nodes: 2, memory: 4000, gpus: 'a100:2' });
});
test.after.always(async () => {
  await slurm.stop();
  rmSync(programs, { recursive: true, force: true });
});

async function start(t: ExecutionContext, ...args: readonly string[]): Promise<SlurmGrid> {
  const site = await SlurmGrid.startAs({ ...nobody, ...programsForAll(programs) }, slurm, ...args);
  t.teardown(() => site.stop());
  return site;
}

function needs(memory: number, gpus = 0, gpuKind = ''): NonNullable<Parameters<typeof taskGroup>[2]>['resources'] {
  return { memoryBytes: memory, gpuThousandths: gpus, gpuKind, named: {} };
}

/** Prints, on each run, what it got, and what its allocation consists of. */
const report =
  'echo "$MUTIRAO_CPUS $MUTIRAO_MEMORY_BYTES on $PROC"; scontrol --oneliner show job "$manager_job"; sleep 1';

for (const agents of ['node', 'processor']) {
  test.serial(`tasks of 3 processors and 900 MiB get slots of Slurm, with an agent for each ${agents}`, async (t) => {
    const { grid } = await start(t, '--requests-max', '1', '--agents', agents);
    const group = taskGroup(report, 6, { processors: 3, resources: needs(900 * mebibyte) });
    const jobId = await grid.client.submit([group]);
    const job = await grid.client.waitEnded(jobId, 240_000);
    t.is(job.finishedCount, 6, await grid.client.explain({ $case: 'jobId', value: jobId }));
    const machines = new Set<string>();
    for (let index = 0; index < 6; index += 1) {
      const output = await grid.client.output(jobId, index);
      const [, machine = '', shown = ''] = /^3 943718400 on (\S+)\n(.*)\n$/s.exec(output) ?? [];
      machines.add(machine);
      // Six slots would be 18 processors; Slurm has 16, of which slots of 3 use 12.
      t.regex(shown, /NumCPUs=12 NumTasks=4 CPUs\/Task=3 /, output);
      // With 128 MiB for the agent, and rounded up: 960 MiB + 128 MiB, a third for each processor.
      t.regex(shown, /MinMemoryCPU=363M/);
    }
    t.is(machines.size, agents === 'node' ? 2 : 4, [...machines].join(' '));
  });
}
