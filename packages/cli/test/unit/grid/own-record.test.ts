import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { removeOwnRecord, untilRecordLost } from '../../../src/grid/own-record.ts';

/** Acts at each look, by its number; how often was looked when it was over, or when there were more than enough looks. */
async function lookAt(t: ExecutionContext, act: (look: number, home: string) => void): Promise<number> {
  const home = join(temporaryFolder(t), 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'grid.json'), '{"pid":7}');
  const stop = new AbortController();
  let looks = 0;
  await untilRecordLost(home, 7, {
    signal: stop.signal,
    sleep: () => {
      looks++;
      act(looks, home);
      if (looks === 50) stop.abort();
      return Promise.resolve();
    },
  });
  return looks;
}

test('a grid whose home folder was removed ends within some looks', async (t) => {
  const looks = await lookAt(t, (look, home) => {
    if (look === 4) rmSync(home, { recursive: true });
  });
  t.is(looks, 6);
});

test('a grid ends where another one has taken its home folder', async (t) => {
  const looks = await lookAt(t, (look, home) => {
    if (look === 4) writeFileSync(join(home, 'grid.json'), '{"pid":8}');
  });
  t.is(looks, 6);
});

test('a grid goes on while its record is there, is away for a moment, or cannot be read', async (t) => {
  const looks = await lookAt(t, (look, home) => {
    const record = join(home, 'grid.json');
    if (look % 3 === 1) rmSync(record, { recursive: true });
    if (look % 3 === 0) writeFileSync(record, '{"pid":7}');
    if (look > 10 && look % 3 === 1) writeFileSync(record, '{"pi');
    chmodSync(home, 0o700);
  });
  t.is(looks, 50);
});

test("a grid removes its own record, and not another one's", (t) => {
  const home = temporaryFolder(t);
  writeFileSync(join(home, 'grid.json'), '{"pid":7}');
  removeOwnRecord(home, 8);
  t.true(existsSync(join(home, 'grid.json')));
  removeOwnRecord(home, 7);
  t.false(existsSync(join(home, 'grid.json')));
});
