// What a task holds, where its processes share memory: a fork shares all of its parent's until one of them writes.
import test, { type ExecutionContext } from 'ava';
import { sayCause } from '@mutirao/api/reasons';
import { aTemplate, FakeProvider, Program, temporaryFolder, until } from '@mutirao/testkit';

async function startProvider(t: ExecutionContext): Promise<FakeProvider> {
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
      '--processors',
      '2',
      '--kill-grace',
      '300ms',
    ],
    { MUTIRAO_CREDENTIAL: FakeProvider.token },
  );
  t.teardown(async () => {
    await agent.kill('SIGKILL');
    await provider.stop();
  });
  await agent.start();
  await until(() => provider.isAttached || !agent.isRunning, 'the agent attaches');
  return provider;
}

const limits = { runTimeMax: 0, memoryMax: 400_000_000, outputMax: 0 };
/** A string of 50 MB; the shell needs up to twice as much. */
const large = `x=$(head -c 50000000 /dev/zero | tr '\\0' x)`;
const eight = '1 2 3 4 5 6 7 8';

test.serial('memory that forked children share counts once', async (t) => {
  const provider = await startProvider(t);
  const end = await provider.run(
    aTemplate(`${large}; for i in ${eight}; do (sleep 4; : \${#x}) & done; wait`, { limits }),
  );
  t.like(end, { outcome: 'succeeded' });
});

test.serial(
  'memory of children that each have their own counts for each, and the end says how much it was',
  async (t) => {
    const provider = await startProvider(t);
    const end = await provider.run(
      aTemplate(`for i in ${eight}; do (${large}; sleep 50; : \${#x}) & done; wait`, { limits }),
    );
    t.like(end, { outcome: 'limited', reason: 'MUT_MEMORY_MAX' });
    const [, amount = ''] =
      /^memory peaked at ([\d.]+) MiB, beyond the limit of 381\.5 MiB \(--limit-memory\)$/.exec(sayCause(end.detail)) ??
      [];
    t.true(Number(amount) > 381, sayCause(end.detail));
  },
);
