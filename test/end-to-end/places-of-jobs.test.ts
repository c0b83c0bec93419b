// Two jobs at the same time that write one place at home.
import { join } from 'node:path';
import test from 'ava';
import { Root } from '@mutirao/api/common';
import { Grid, taskGroup, temporaryFolder } from '@mutirao/testkit';

test.serial(
  'a job that writes where an open one writes is refused, also after a restart of the broker, and where both are submitted at once',
  async (t) => {
    const folder = temporaryFolder(t);
    const grid = await Grid.start({});
    t.teardown(() => grid.stop());
    const groups = [
      taskGroup('echo {} > out', 3, {
        outputs: [{ root: Root.PLAYPEN, path: 'out', localPath: join(folder, '{}'), condition: '' }],
      }),
    ];
    const first = await grid.client.submit(groups);
    await t.throwsAsync(grid.client.submit(groups), {
      code: 'MUT_OUTPUT_CONFLICT',
      message: /of job 1, which has not ended/,
    });
    await grid.broker.crash();
    await t.throwsAsync(grid.client.submit(groups), {
      code: 'MUT_OUTPUT_CONFLICT',
      message: /of job 1, which has not ended/,
    });
    const both = await Promise.allSettled(
      [1, 2].map(() =>
        grid.client.submit([
          taskGroup('echo > out', 1, {
            outputs: [{ root: Root.PLAYPEN, path: 'out', localPath: join(folder, 'one'), condition: '' }],
          }),
        ]),
      ),
    );
    t.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    t.true((await grid.client.submit(groups, { sharedPlaces: true })) > first);
  },
);
