// What ordinary programs do in allocations of a real Slurm, as root and as an ordinary account.
import { rmSync } from 'node:fs';
import test from 'ava';
import { SlurmGrid, SlurmServer } from '@mutirao/testkit';
import { folderForAll, nobody, programsForAll, World, worldCases } from '@mutirao/testkit/world';

const programs = folderForAll();
let slurm: SlurmServer;

test.before(async () => {
  slurm = await SlurmServer.start();
});
test.after.always(async () => {
  await slurm.stop();
  rmSync(programs, { recursive: true, force: true });
});

for (const kind of ['root', 'ordinary'] as const) {
  test.serial(
    `every case ends as it must in allocations of Slurm, run as ${kind === 'root' ? 'root' : 'an ordinary account'}`,
    async (t) => {
      t.timeout(600_000);
      const account = kind === 'root' ? undefined : { ...nobody, ...programsForAll(programs) };
      const site = account === undefined ? await SlurmGrid.start(slurm) : await SlurmGrid.startAs(account, slurm);
      const world = new World({ client: site.grid.client, ...(account === undefined ? {} : { account }) });
      t.teardown(async () => {
        await site.stop();
        world.close();
      });
      await world.begin();
      const faults = await Promise.all(
        worldCases(kind).map(async (aCase) => (await world.run(aCase)).map((fault) => `${aCase.title}: ${fault}`)),
      );
      t.deepEqual([...faults.flat(), ...(await world.faultsBeside())], []);
    },
  );
}
