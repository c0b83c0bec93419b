// The embedded cluster: what the port promises of every resource manager.
import test, { type ExecutionContext } from 'ava';
import { EmbeddedCluster } from '@mutirao/managers';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { Program, resourceManagerCases, temporaryFolder } from '@mutirao/testkit';

async function start(t: ExecutionContext): Promise<() => EmbeddedCluster> {
  const home = temporaryFolder(t);
  const cluster = new Program('cluster', ['--home', home, '--id', 'a', '--processors', '4'], {});
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

for (const { title, check } of resourceManagerCases) {
  test.serial(`${title} (embedded cluster)`, async (t) => {
    const reopen = await start(t);
    await check(t, { manager: reopen(), reopen, userId: 'ana', processors: 4, folder: temporaryFolder(t) });
  });
}
