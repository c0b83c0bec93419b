// A broker that ends while it checks a result in a folder of its own leaves neither the folder nor the check, however
// it ends.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import { Grid, isAlive, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

interface Checking {
  readonly grid: Grid;
  readonly jobId: number;
  /** The process of the check. */
  readonly checkId: number;
  folders(): readonly string[];
  /** Has the check, and those after it, accept the result. */
  accept(): void;
}

/** A broker whose check of a gathered result waits for a word. */
async function startChecking(t: ExecutionContext): Promise<Checking> {
  const grid = await Grid.start({ machines: [1] });
  t.teardown(() => grid.stop());
  const home = temporaryFolder(t);
  const [pidFile, word] = [join(home, 'check.pid'), join(home, 'accepted')];
  t.teardown(() => {
    writeFileSync(word, '');
  });
  const outputs = [{ root: Root.PLAYPEN, path: 'out', localPath: 'results/{}', condition: '' }];
  const check =
    'echo $$ > "$JOB_HOME/check.pid.new"; mv "$JOB_HOME/check.pid.new" "$JOB_HOME/check.pid"; until test -e ' +
    '"$JOB_HOME/accepted"; do sleep 0.1; done; test -s results/{}';
  const jobId = await grid.client.submit([taskGroup('echo {} > out', 1, { outputs, check })], {
    homeDirectory: home,
    gathering: { folder: 'gathered' },
  });
  await until(() => existsSync(pidFile), 'the check runs', 120_000);
  const checks = join(grid.home, 'broker/checks');
  const folders = (): readonly string[] => (existsSync(checks) ? readdirSync(checks) : []);
  t.is(folders().length, 1);
  return {
    grid,
    jobId,
    checkId: Number(readFileSync(pidFile, 'utf8')),
    folders,
    accept: () => {
      writeFileSync(word, '');
    },
  };
}

async function finish(t: ExecutionContext, { grid, jobId, accept, folders }: Checking): Promise<void> {
  accept();
  const { status, failedCount } = await grid.client.waitEnded(jobId);
  t.deepEqual({ status, failedCount }, { status: JobStatus.FINISHED, failedCount: 0 });
  t.deepEqual(folders(), []);
}

test.serial(
  'a broker that is stopped while it checks a result ends the check, removes its folder, and checks the result when it is back',
  async (t) => {
    const checking = await startChecking(t);
    const { grid, checkId, folders } = checking;
    await grid.broker.kill('SIGTERM');
    t.deepEqual(folders(), []);
    await until(() => !isAlive(checkId), 'the check ends');
    await grid.broker.start();
    await finish(t, checking);
  },
);

test.serial('what a killed broker left of a check is removed when it is back', async (t) => {
  const checking = await startChecking(t);
  const { grid, folders } = checking;
  const [left] = folders();
  await grid.broker.kill('SIGKILL');
  t.deepEqual(folders(), [left]);
  await grid.broker.start();
  t.false(folders().includes(left ?? ''));
  await finish(t, checking);
});
