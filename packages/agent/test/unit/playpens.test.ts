import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { Playpens } from '../../src/playpens.ts';

test("a playpen is empty and its user's alone, whatever the task before did to it", (t) => {
  const playpens = new Playpens({ folder: path.join(temporaryFolder(t), 'playpens'), onLeft: t.fail });
  const actions: ((playpen: string) => void)[] = [
    () => undefined,
    (playpen) => {
      writeFileSync(path.join(playpen, 'left'), '');
    },
    (playpen) => {
      chmodSync(playpen, 0o777);
    },
    (playpen) => {
      mkdirSync(path.join(playpen, '.hidden'));
    },
    (playpen) => {
      rmSync(playpen, { recursive: true });
    },
    () => undefined,
  ];
  for (const action of actions) {
    const playpen = playpens.prepare(3);
    t.deepEqual(readdirSync(playpen), []);
    t.is(statSync(playpen).mode & 0o7777, 0o700);
    action(playpen);
    playpens.release(3);
    t.deepEqual(
      existsSync(playpen) ? readdirSync(playpen) : [],
      [],
      'what a task leaves does not stay until the next one comes',
    );
  }
});

test('a playpen that was left as it was found is not made again', (t) => {
  const playpens = new Playpens({ folder: path.join(temporaryFolder(t), 'playpens'), onLeft: t.fail });
  const { ino } = statSync(playpens.prepare(0));
  playpens.release(0);
  t.is(statSync(playpens.prepare(0)).ino, ino);
});

test('releasing a playpen that was never made is harmless', (t) => {
  const playpens = new Playpens({ folder: path.join(temporaryFolder(t), 'playpens'), onLeft: t.fail });
  playpens.release(0);
  t.false(existsSync(playpens.getPath(0)));
});

test('what a former agent left is removed', (t) => {
  const folder = path.join(temporaryFolder(t), 'playpens');
  mkdirSync(path.join(folder, '0', 'old'), { recursive: true });
  t.deepEqual(readdirSync(new Playpens({ folder, onLeft: t.fail }).prepare(0)), []);
});
