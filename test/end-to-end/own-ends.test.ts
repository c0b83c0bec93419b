// A process of a grid under test that ends by itself ends the test at once, with the end of its log.
import test from 'ava';
import { Grid, Program, taskGroup, temporaryFolder, until, type UnaskedEnd } from '@mutirao/testkit';

test.serial(
  'a wait for a job fails at once when a process ends over an error, and not when one is killed',
  async (t) => {
    const grid = await Grid.start({ machines: [1] });
    t.teardown(() => grid.stop());
    const jobId = await grid.client.submit([taskGroup('sleep 600', 1)]);
    await grid.broker.kill('SIGKILL');
    await t.notThrowsAsync(grid.assertAllLive());
    await grid.broker.start();
    const waiting = grid.client.waitEnded(jobId);
    // As the runtime ends where it has no memory left.
    process.kill(grid.broker.pid, 'SIGABRT');
    await t.throwsAsync(waiting, { message: /^the broker ended with SIGABRT:\n.*"listening"/s });
    await t.throwsAsync(grid.client.machines(), { message: /^the broker ended with SIGABRT/ });
    await grid.broker.start();
    await until(() => grid.client.isServing(), 'the broker serves again');
    await t.notThrowsAsync(grid.assertAllLive());
  },
);

test.serial('a program that cannot begin reports how it ended', async (t) => {
  const ends: UnaskedEnd[] = [];
  const program = new Program(
    'cluster',
    ['--home', temporaryFolder(t), '--id', 'alpha', '--processors', 'many'],
    {},
    { onUnaskedEnd: (end) => ends.push(end) },
  );
  await t.throwsAsync(program.start(), { message: /ended at once/ });
  t.like(await program.unaskedEnd(), { exitCode: 2, hadListened: false });
  t.is(ends.length, 1);
});
