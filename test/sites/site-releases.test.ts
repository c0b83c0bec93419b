// Another release at a site behind a real sshd, and the end of a site.
import { appendFileSync, copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { isAlive, packedProgram, SiteWorld, temporaryFolder, until } from '@mutirao/testkit';

test.serial('another release is carried over, waits for an idle provider, or is told to replace it; then the site is removed', async (t) => {
  const world = await SiteWorld.start(t);
  const program = join(temporaryFolder(t), 'mutirao');
  copyFileSync(packedProgram, program);
  t.is((await world.add('uni', '--ssh', 'front', '--manager', 'embedded', '--processors', '2', '--program', program)).status, 0);
  const first = await world.shown();
  const jobId = await world.submit(30);
  await until(() => world.markCount() >= 2, 'the bag runs');
  appendFileSync(program, '\n'); // Another file that is as good.
  await world.stopKeeper();
  t.is((await world.run('site', 'connect', 'uni')).status, 0);
  t.like(await world.shown(), { provider_pid: first.provider_pid, program_sha256: first.program_sha256, outdated: true }, 'it has work');
  t.is((await world.run('site', 'connect', 'uni', '--now')).status, 0);
  const second = await world.shown();
  t.not(second.program_sha256, first.program_sha256);
  t.like(second, { status: 'connected', outdated: false, address: first.address });
  t.is(readdirSync(join(world.host.home, '.mutirao', 'programs')).length, 2);
  t.deepEqual(await world.faultsOf(jobId, 30), []);
  const removed = await world.run('site', 'remove', 'uni');
  t.is(removed.status, 0, removed.err);
  await until(() => !isAlive(second.provider_pid), 'the provider is gone');
  t.false(existsSync(join(world.host.home, '.mutirao')));
  t.false(existsSync(join(world.grid.home, 'sites', 'uni')));
  t.is(world.host.sessions().length, 0);
});
