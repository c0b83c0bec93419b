// What ordinary programs do at a site behind a real sshd, in allocations of its embedded cluster.
import test from 'ava';
import { SiteWorld } from '@mutirao/testkit';
import { World, worldCases } from '@mutirao/testkit/world';

test.serial('every case ends as it must at a site over ssh', async (t) => {
  t.timeout(600_000);
  const site = await SiteWorld.start(t);
  const added = await site.add('uni', '--ssh', 'front', '--manager', 'embedded', '--processors', '4');
  t.is(added.status, 0, added.err);
  const world = new World({ client: site.grid.client });
  t.teardown(() => {
    world.close();
  });
  await world.begin();
  const faults = await Promise.all(
    worldCases('root').map(async (aCase) => (await world.run(aCase)).map((fault) => `${aCase.title}: ${fault}`)),
  );
  t.deepEqual([...faults.flat(), ...(await world.faultsBeside())], []);
});
