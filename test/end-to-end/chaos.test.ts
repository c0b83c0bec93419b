// Real processes under load while they are killed and paused, their connections cut and their disks filled: every output is right, once.
import test, { type ExecutionContext } from 'ava';
import { describeFindings, runChaos } from '@mutirao/testkit';

async function storm(t: ExecutionContext, seed: number): Promise<void> {
  t.timeout(600_000);
  t.log(`seed ${seed}`);
  const outcome = await runChaos({ seed, stormMs: 20_000, everyMs: 1000, tasks: 500, keep: false, say: (line) => { t.log(line); } });
  t.deepEqual(describeFindings(outcome), []);
}

test.serial('a short storm of a fixed seed loses nothing and invents nothing', (t) => storm(t, 4));

test.serial('nor does one of a fresh seed, which is printed', (t) => storm(t, Math.floor(Math.random() * 2 ** 32)));
