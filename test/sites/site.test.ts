// A bag at a site behind a real sshd: it goes on while the connection is away, and every result comes home once.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { SiteWorld, until } from '@mutirao/testkit';

test.serial('a bag goes on while the connection is away, and every result comes home once', async (t) => {
  const world = await SiteWorld.start(t);
  const added = await world.add('uni', '--ssh', 'front', '--manager', 'embedded', '--processors', '4');
  t.is(added.status, 0, added.err);
  t.is(world.host.sessions().length, 1, 'one connection');
  const count = 40;
  const jobId = await world.submit(count);
  await until(() => world.markCount() >= 6, 'the bag runs');
  await world.host.kill();
  const before = world.markCount();
  await until(() => world.markCount() >= before + 2, 'tasks go on without us');
  await until(() => world.state().status === 'waiting', 'the loss is noticed');
  // Between two waits it tries.
  await until(
    async () => /uni +front +embedded +waiting .*next try in/.test((await world.run('site', 'list')).out),
    'the list shows the next attempt',
  );
  await world.host.start();
  t.deepEqual(await world.listFaults(jobId, count), []);
  for (let index = 0; index < count; index += 1)
    t.is(readFileSync(join(world.marks, String(index)), 'utf8'), 'x\n', `task ${index} ran once`);
  t.like(await world.shown(), { status: 'connected', code: '' });
});
