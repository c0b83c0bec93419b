// The quick look at an old playpen, which needs real time to pass.
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { temporaryFolder, until } from '@mutirao/testkit';
import { Playpens } from '../../packages/agent/src/playpens.ts';

test('a playpen that many tasks left as it was is still looked at after the one that did not', async (t) => {
  const playpens = new Playpens({ folder: path.join(temporaryFolder(t), 'playpens'), onLeft: t.fail });
  const first = performance.now();
  const { ino } = statSync(playpens.prepare(0));
  await until(() => performance.now() - first > 100, 'the playpen is old');
  for (let task = 0; task < 5; task++) {
    playpens.release(0);
    t.is(statSync(playpens.prepare(0)).ino, ino, 'it was made again without need');
  }
  const left = path.join(playpens.getPath(0), 'left');
  writeFileSync(left, '');
  playpens.release(0);
  t.deepEqual(readdirSync(playpens.prepare(0)), []);
  t.false(existsSync(left));
});
