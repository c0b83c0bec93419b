// Another release at a site behind a real sshd, and the end of a site.
import { once } from 'node:events';
import { appendFileSync, copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { isAlive, packedProgram, SiteWorld, temporaryFolder, until } from '@mutirao/testkit';

test.serial(
  'another release is copied over, waits for an idle provider, or replaces it on request; then the site is removed',
  async (t) => {
    const world = await SiteWorld.start(t);
    const program = join(temporaryFolder(t), 'mutirao');
    copyFileSync(packedProgram, program);
    t.is(
      (await world.add('uni', '--ssh', 'front', '--manager', 'embedded', '--processors', '2', '--program', program))
        .status,
      0,
    );
    const first = await world.shown();
    const jobId = await world.submit(30);
    // Nothing of it is at a port that another account of either host could take.
    const there = join(world.host.home, '.mutirao/front/uni/run');
    t.like(first, {
      address: `unix:${world.grid.home}/sites/uni/run/provider`,
      provider_address: `unix:${there}/provider`,
    });
    t.deepEqual(
      [there, join(there, 'provider'), join(there, 'cluster')].map((path) => statSync(path).mode & 0o777),
      [0o700, 0o600, 0o600],
    );
    await until(() => world.markCount() >= 2, 'the bag runs');
    appendFileSync(program, '\n'); // Another file that is as good.
    await world.stopConnector();
    // A former release kept a port here, which others can take while nobody keeps the site.
    const received = await attackFormerPort(t, join(world.grid.home, 'sites', 'uni', 'site.json'));
    t.is((await world.run('site', 'connect', 'uni')).status, 0);
    t.like(
      await world.shown(),
      { provider_pid: first.provider_pid, program_sha256: first.program_sha256, outdated: true },
      'it has work',
    );
    t.is((await world.run('site', 'connect', 'uni', '--now')).status, 0);
    const second = await world.shown();
    t.not(second.program_sha256, first.program_sha256);
    t.like(second, { status: 'connected', outdated: false, address: first.address });
    t.is(readdirSync(join(world.host.home, '.mutirao', 'programs')).length, 2);
    t.deepEqual(await world.listFaults(jobId, 30), []);
    const removed = await world.run('site', 'remove', 'uni');
    t.is(removed.status, 0, removed.err);
    await until(() => !isAlive(second.provider_pid), 'the provider is gone');
    t.false(existsSync(join(world.host.home, '.mutirao')));
    t.false(existsSync(join(world.grid.home, 'sites', 'uni')));
    t.is(world.host.sessions().length, 0);
    t.is(received(), 0);
  },
);

/** Has another process listen at the port that a site's record names. @returns how often it was spoken to. */
async function attackFormerPort(t: ExecutionContext, record: string): Promise<() => number> {
  let received = 0;
  const attacker = createServer((socket) => {
    received += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  t.teardown(() => {
    attacker.close();
  });
  await once(attacker, 'listening');
  const site = JSON.parse(readFileSync(record, 'utf8')) as object;
  writeFileSync(record, JSON.stringify({ ...site, address: `127.0.0.1:${(attacker.address() as AddressInfo).port}` }));
  return () => received;
}
