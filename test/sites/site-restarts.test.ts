// Whatever ends at a site behind a real sshd, or keeps it connected, is started again, and costs no result.
import test from 'ava';
import { isAlive, SiteWorld, until } from '@mutirao/testkit';

test.serial(
  'a provider that is killed, a front-end that restarts and a keeper that is killed cost no result',
  async (t) => {
    const world = await SiteWorld.start(t);
    t.is((await world.add('uni', '--ssh', 'inner', '--manager', 'embedded', '--processors', '4')).status, 0);
    const first = await world.shown();
    const jobId = await world.submit(60);
    await until(() => world.markCount() >= 6, 'the bag runs');
    process.kill(first.provider_pid, 'SIGKILL');
    await until(async () => (await world.shown()).provider_pid !== first.provider_pid, 'the provider is started again');
    const second = await world.untilConnected();
    t.is(second.address, first.address);
    // The front-end restarts: all that ran there is gone, and so is every connection.
    await world.killFrontEnd();
    await until(() => !isAlive(second.provider_pid), 'the provider is gone');
    await world.host.start();
    await until(
      async () => (await world.shown()).provider_pid !== second.provider_pid,
      'it is started after the restart',
    );
    const { pid } = world.state();
    process.kill(pid, 'SIGKILL');
    await until(() => !isAlive(pid), 'the keeper is gone');
    await until(() => world.host.sessions().length === 0, 'its connection goes with it');
    t.is((await world.shown()).status, 'stopped');
    const again = await world.run('site', 'connect');
    t.is(again.status, 0, again.err);
    t.like(await world.shown(), { status: 'connected', address: first.address });
    t.deepEqual(await world.listFaults(jobId, 60), []);
  },
);
