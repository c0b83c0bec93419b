// What ordinary programs do, on machines of a lab, as the account that runs the tests.
import test from 'ava';
import { Grid } from '@mutirao/testkit';
import { mayChangeAccount, World, worldCases } from '@mutirao/testkit/world';

let grid: Grid;
let world: World;

test.before(async () => {
  grid = await Grid.start({ machines: [2, 2] });
  await grid.client.waitMachines(2);
  world = new World({ client: grid.client });
  await world.begin();
});
test.after('no bystander is hurt, and every agent lives', async (t) => {
  t.deepEqual(await world.faultsBeside(), []);
  t.deepEqual(
    grid.agents.map(({ isRunning }) => isRunning),
    [true, true],
  );
});
test.after.always(async () => {
  await grid.stop();
  world.close();
});

for (const aCase of worldCases(mayChangeAccount ? 'root' : 'ordinary')) {
  test(aCase.title, async (t) => {
    t.deepEqual(await world.run(aCase), []);
  });
}
