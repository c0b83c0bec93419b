// What ordinary programs do, in allocations of an embedded cluster, as an ordinary account.
import { rmSync } from 'node:fs';
import test from 'ava';
import { Grid } from '@mutirao/testkit';
import { folderForAll, mayChangeAccount, nobody, programsForAll, World, worldCases } from '@mutirao/testkit/world';

const programs = folderForAll();
let grid: Grid;
let world: World;

test.before(async () => {
  const account = mayChangeAccount ? { ...nobody, ...programsForAll(programs) } : undefined;
  grid = await Grid.start({
    clusters: [4],
    ...(account === undefined ? {} : { account, env: { HOME: '/nonexistent' } }),
  });
  world = new World({ client: grid.client, ...(account === undefined ? {} : { account }) });
  await world.begin();
});
test.after('no bystander is hurt', async (t) => {
  t.deepEqual(await world.faultsBeside(), []);
});
test.after.always(async () => {
  await grid.stop();
  world.close();
  rmSync(programs, { recursive: true, force: true });
});

for (const aCase of worldCases('ordinary'))
  test(aCase.title, async (t) => {
    t.deepEqual(await world.run(aCase), []);
  });
