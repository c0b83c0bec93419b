// The embedded cluster: what the port promises of every resource manager.
import test, { type ExecutionContext } from 'ava';
import type { Slot } from '@mutirao/core/resources';
import { EmbeddedCluster } from '@mutirao/managers';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { Program, resourceManagerCases, temporaryFolder } from '@mutirao/testkit';

async function start(
  t: ExecutionContext,
  args: readonly string[] = ['--processors', '4'],
): Promise<() => EmbeddedCluster> {
  const home = temporaryFolder(t);
  const cluster = new Program('cluster', ['--home', home, '--id', 'a', ...args], {});
  t.teardown(() => cluster.kill('SIGTERM'));
  await cluster.start();
  return () => {
    const manager = new EmbeddedCluster({ address: cluster.address, token: readToken(tokenPath(home)) });
    t.teardown(() => {
      manager.close();
    });
    return manager;
  };
}

/** Two unequal nodes on this host, of 4 processors together. */
const unequal = ['--node', 'n1=local:3:memory=2G', '--node', 'n2=local:1:memory=8G:gpus=2:a100'];

for (const { title, check } of resourceManagerCases) {
  test.serial(`${title} (embedded cluster of nodes)`, async (t) => {
    const reopen = await start(t, unequal);
    await check(t, { manager: reopen(), reopen, userId: 'ana', processors: 4, folder: temporaryFolder(t) });
  });

  test.serial(`${title} (embedded cluster)`, async (t) => {
    const reopen = await start(t);
    await check(t, { manager: reopen(), reopen, userId: 'ana', processors: 4, folder: temporaryFolder(t) });
  });
}

test.serial(
  'a cluster of nodes states their shapes, gives slots of them, and refuses at once what no node holds',
  async (t) => {
    const manager = (await start(t, unequal))();
    const gib = 2 ** 30;
    t.deepEqual((await manager.limits('ana')).nodes, [
      { count: 1, processors: 3, memory: 2 * gib, gpus: {} },
      { count: 1, processors: 1, memory: 8 * gib, gpus: { a100: 2 } },
    ]);
    const allocate = (slot: Slot, width = slot.processors): Promise<string> =>
      manager.allocate({
        userId: 'ana',
        width,
        slot,
        walltime: 60_000,
        command: ['/bin/sleep', '1000'],
        environment: {},
        workingDirectory: '',
        clientRequestId: JSON.stringify([slot, width]),
      });
    await t.throwsAsync(allocate({ processors: 2, memory: 4 * gib, gpus: 0 }), {
      code: 'MUT_BAD_REQUEST',
      message:
        /no node has 2 processors and 4 GiB of memory; expected at most 3 processors, 8 GiB of memory and 2 GPUs, each/,
    });
    await t.throwsAsync(allocate({ processors: 1, memory: 0, gpus: 1, gpuKind: 't4' }), {
      code: 'MUT_BAD_REQUEST',
      message: /no node has 1 processor and 1 t4 GPU; expected at most 3 processors and 8 GiB of memory, each/,
    });
    await t.throwsAsync(allocate({ processors: 2, memory: gib, gpus: 0 }, 4), {
      code: 'MUT_WIDTH_MAX',
      message: /width is 4; expected at most 2/,
    });
    const [one, other, waiting] = [
      await allocate({ processors: 1, memory: 2 * gib, gpus: 1 }),
      await allocate({ processors: 1, memory: 2 * gib, gpus: 0 }),
      await allocate({ processors: 2, memory: gib, gpus: 0 }),
    ];
    const { requests } = await manager.queue(0);
    t.deepEqual(
      requests.map(({ managerRequestId, status, slot }) => [managerRequestId, status, slot?.memory]),
      [
        [one, 'running', 2 * gib],
        [other, 'running', 2 * gib],
        [waiting, 'queued', gib],
      ],
    );
  },
);

test.serial('a cluster of nodes with reservations does not start, and says what to leave out', async (t) => {
  const cluster = new Program(
    'cluster',
    ['--home', temporaryFolder(t), '--id', 'a', ...unequal, '--reservations', 'h:1'],
    {},
  );
  await t.throwsAsync(cluster.start(), { message: /expected nodes as in n1=ssh:ana@node1:8, or no --reservations/ });
});
