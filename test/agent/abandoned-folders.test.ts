// Folders of agents on a file system that another host serves, whose clock is behind ours.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { removeAbandoned } from '../../packages/agent/src/abandoned-folders.ts';

test('a folder that another agent has just made stays, whatever the time is here', async (t) => {
  const agents = temporaryFolder(t);
  mkdirSync(join(agents, 'alpha_q1.2'));
  const ours = Date.now;
  Date.now = () => ours() + 3_600_000;
  await removeAbandoned(agents, () => {
    t.fail();
  }).finally(() => {
    Date.now = ours;
  });
  t.deepEqual(readdirSync(agents), ['alpha_q1.2']);
});
