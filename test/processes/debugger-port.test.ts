// Batch systems send SIGUSR1 before a job's end, for which Node by itself opens a port to its debugger.
import test from 'ava';
import { Program, temporaryFolder, until } from '@mutirao/testkit';

test('SIGUSR1 ends no program, and opens no port to its debugger', async (t) => {
  const broker = new Program('broker', ['--home', temporaryFolder(t), '--listen', '127.0.0.1:0'], {});
  t.teardown(() => broker.kill());
  await broker.start();
  process.kill(broker.pid, 'SIGUSR1');
  // It has had the first signal when it has acted on the second.
  process.kill(broker.pid, 'SIGTERM');
  await until(() => !broker.isRunning, 'it ends');
  await broker.unaskedEnd();
  t.deepEqual(
    broker.log.filter((line) => line.includes('Debugger')),
    [],
  );
  t.true(broker.log.some((line) => line.includes('draining')));
});
