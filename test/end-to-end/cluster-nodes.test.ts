// Tasks with memory and GPUs on an embedded cluster of nodes: one agent for each node of an allocation, with its part.
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { Grid, taskGroup } from '@mutirao/testkit';

const gib = 2 ** 30;

test.serial(
  'tasks that need memory and a GPU run on an embedded cluster, on nodes that have them, with ids of their own',
  async (t) => {
    const grid = await Grid.start({
      clusters: [5],
      clusterArgs: [
        '--node',
        'plain=local:3:memory=64G',
        '--node',
        'g1=local:2:memory=16G:gpus=1:a100',
        '--node',
        'g2=local:2:memory=16G:gpus=2:a100',
      ],
      providerArgs: ['--queue-interval', '200ms'],
    });
    try {
      const script = 'echo "$MUTIRAO_GPUS $MUTIRAO_MEMORY_BYTES"; sleep 0.3';
      const group = {
        ...taskGroup(script, 6),
        resources: { memoryBytes: 8 * gib, gpuThousandths: 1000, gpuKind: '', named: {} },
      };
      const jobId = await grid.client.submit([group]);
      t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
      const outputs = await Promise.all(
        Array.from({ length: 6 }, async (_, index) => (await grid.client.output(jobId, index)).trim()),
      );
      t.true(
        outputs.every((text) => /^[012] 8589934592$/.test(text)),
        outputs.join('; '),
      );
    } finally {
      await grid.stop();
    }
  },
);
