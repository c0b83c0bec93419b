// What an agent gives its tasks of its machine: processors, memory and GPUs, and what it reports of their use.
import { cpus } from 'node:os';
import test, { type ExecutionContext } from 'ava';
import { sayCause } from '@mutirao/api/reasons';
import { aTemplate, FakeProvider, Program, temporaryFolder, until } from '@mutirao/testkit';

async function startAgent(t: ExecutionContext, ...args: readonly string[]): Promise<FakeProvider> {
  const provider = new FakeProvider();
  await provider.start();
  const agent = new Program(
    'agent',
    [
      '--home',
      temporaryFolder(t),
      '--provider',
      provider.address,
      '--machine-id',
      'lab/pc',
      '--kill-grace',
      '300ms',
      ...args,
    ],
    { MUTIRAO_CREDENTIAL: FakeProvider.token, OMP_NUM_THREADS: '77' },
  );
  t.teardown(async () => {
    await agent.kill('SIGKILL');
    await provider.stop();
  });
  await agent.start();
  await until(() => provider.isAttached || !agent.isRunning, 'the agent attaches');
  return provider;
}

const gibibyte = 2 ** 30;
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString().trim();
const resources = { memory: 0, gpus: 0, named: {} };

test.serial('a task finds in its environment what it holds, and waits while others hold it', async (t) => {
  const provider = await startAgent(
    t,
    ...['--processors', '4', '--memory', '8G', '--gpus', '2:a100', '--resource', 'licence=1'],
  );
  t.deepEqual(provider.hellos[0]?.facts?.capacity, {
    memoryBytes: 8 * gibibyte,
    gpus: [
      { id: '0', kind: 'a100' },
      { id: '1', kind: 'a100' },
    ],
    named: { licence: 1 },
  });
  const show = 'echo $MUTIRAO_CPUS $MUTIRAO_MEMORY_BYTES $MUTIRAO_GPUS $CUDA_VISIBLE_DEVICES $OMP_NUM_THREADS';
  const wide = { processors: 2, resources: { ...resources, memory: gibibyte, gpus: 2000 } };
  t.is(text((await provider.run(aTemplate(show, wide))).standardOutput), '2 1073741824 0,1 0,1 2');
  t.is(text((await provider.run(aTemplate(show))).standardOutput), '1 1');
  const own = { environment: { OMP_NUM_THREADS: '5' } };
  t.is(text((await provider.run(aTemplate(show, own))).standardOutput), '1 5');

  const half = aTemplate('echo $CUDA_VISIBLE_DEVICES; sleep 600', { resources: { ...resources, gpus: 500 } });
  const holders = provider.place(half, [{}, {}, {}]);
  await until(() => provider.reports.flatMap(({ started }) => started).length >= 3, 'three halves have started');
  const [whole = 0] = provider.place(aTemplate('echo $MUTIRAO_GPUS', { resources: { ...resources, gpus: 1000 } }));
  provider.cancel(holders.slice(2));
  t.is(text((await provider.findEnd(whole)).standardOutput), '1');
  provider.cancel(holders.slice(0, 2));
  for (const holder of holders) t.is((await provider.findEnd(holder)).outcome, 'cancelled');
});

test.serial('what the machine never has is refused, with what it has', async (t) => {
  const provider = await startAgent(t, '--processors', '1', '--memory', '1G', '--gpus', '1:t4');
  for (const [request, detail] of [
    [{ memory: 2 * gibibyte }, 'the task needs 2 GiB of memory; this machine has 1 GiB of memory'],
    [{ gpus: 2000 }, 'the task needs 2 GPUs; this machine has 1 GPU'],
    [{ gpus: 1000, gpuKind: 'a100' }, 'the task needs 1 a100 GPU; this machine has none'],
    [{ named: { licence: 1 } }, 'the task needs 1 licence; this machine has none'],
  ] as const) {
    const end = await provider.run(aTemplate('true', { resources: { ...resources, ...request } }));
    t.like(end, { outcome: 'broken', reason: 'MUT_RESOURCES_MAX' });
    t.is(sayCause(end.detail), detail);
  }
});

test.serial('a task beyond the memory that it asked for is killed, and its end has its peak', async (t) => {
  const provider = await startAgent(t, '--processors', '1');
  const hungry = "x=$(head -c 60000000 /dev/zero | tr '\\0' x); sleep 60; echo ${#x}";
  const end = await provider.run(aTemplate(hungry, { resources: { ...resources, memory: 30_000_000 } }));
  t.like(end, { outcome: 'limited', reason: 'MUT_MEMORY_MAX' });
  t.regex(
    sayCause(end.detail),
    /^memory peaked at [\d.]+ MiB, beyond the 28\.6 MiB that was set aside for it \(see --memory\)$/,
  );
  t.true((end.usage?.memoryPeak ?? 0) > 30_000_000, `${end.usage?.memoryPeak}`);
});

test.serial('the end of a task has the memory and the processor time that it used', async (t) => {
  const provider = await startAgent(t, '--processors', '1');
  const busy = "x=$(head -c 20000000 /dev/zero | tr '\\0' x); sleep 3; echo ${#x}";
  const { outcome, usage } = await provider.run(aTemplate(busy));
  t.is(outcome, 'succeeded');
  t.true((usage?.memoryPeak ?? 0) > 20_000_000, `${usage?.memoryPeak}`);
  t.true((usage?.processorTime ?? 0) > 0, `${usage?.processorTime}`);
  const { usage: short } = await provider.run(aTemplate('true'));
  t.true(short === undefined || short.memoryPeak + short.processorTime > 0, 'what was not measured is left out');
});

test.serial(
  'tasks run on the processors that they hold, and two agents of one host pin to different ones',
  async (t) => {
    const count = cpus().length;
    const show = aTemplate('grep Cpus_allowed_list /proc/self/status | cut -f2; sleep 0.2');
    const all = await startAgent(t, '--processors', String(count));
    const starts = all.place(
      show,
      Array.from({ length: count }, () => ({})),
    );
    const used = [];
    for (const replicaId of starts) used.push(text((await all.findEnd(replicaId)).standardOutput));
    const other = await startAgent(t, '--processors', '1');
    used.push(text((await other.run(show)).standardOutput));
    // Agents of other tests on this host may have claimed processors: what is left is not pinned.
    const pinned = used.filter((processors) => /^\d+$/.test(processors));
    t.is(new Set(pinned).size, pinned.length, used.join());
    t.true(count === 1 || pinned.length <= count, used.join());
  },
);

test.serial('tasks are not pinned where the owner says so', async (t) => {
  const provider = await startAgent(t, '--processors', '1', '--pin', 'none');
  const own = aTemplate('grep Cpus_allowed_list /proc/self/status | cut -f2');
  const all = aTemplate('grep Cpus_allowed_list /proc/$PPID/status | cut -f2');
  const shown = text((await provider.run(own)).standardOutput);
  t.is(shown, text((await provider.run(all)).standardOutput));
  t.regex(shown, cpus().length === 1 ? /^\d+$/ : /[-,]/);
});
