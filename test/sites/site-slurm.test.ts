// A real Slurm behind a real sshd.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { SiteWorld, SlurmServer } from '@mutirao/testkit';

test.serial(
  'a Slurm cluster behind ssh runs a bag, its agents coming in at a door of their own with TLS',
  async (t) => {
    const slurm = await SlurmServer.start({ nodes: 2 });
    t.teardown(() => slurm.stop());
    const world = await SiteWorld.start(t, slurm.environment);
    const added = await world.add(
      'uni',
      '--ssh',
      'front',
      '--manager',
      'slurm',
      '--',
      '--listen-agents',
      '0.0.0.0:0',
      '--queue-interval',
      '1s',
      '--walltime-max',
      '5m',
    );
    t.is(added.status, 0, added.err);
    const jobId = await world.submit(8);
    t.deepEqual(await world.listFaults(jobId, 8), []);
    const machines = (await world.grid.client.ledger(jobId)).map(({ providerId }) => providerId);
    t.deepEqual([...new Set(machines)], ['uni']);
    t.true(
      existsSync(join(world.host.home, '.mutirao', 'front', 'uni', 'identity', 'host.crt')),
      'the site has an identity of its own',
    );
    const removed = await world.run('site', 'remove', 'uni', '--now');
    t.is(removed.status, 0, removed.err);
    t.deepEqual(await slurm.jobs(), [], 'none of our jobs is left in the queue');
  },
);
