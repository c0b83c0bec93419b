import test from 'ava';
import type { HeldReplica } from '@mutirao/core/machines/agent';
import { temporaryFolder } from '@mutirao/testkit';
import { stageIn } from '../../src/stage-in.ts';

const content = { sha256: '0'.repeat(64), size: 1 };

test('an input that cannot be put in place is named by its own name, not by a path of the machine', async (t) => {
  const folder = temporaryFolder(t);
  for (const [errno, path, says] of [
    [
      'ENOTDIR',
      'x/y',
      /^input "x\/y" is in the way of another input or file: one of them is a file where the other needs a folder$/,
    ],
    ['EEXIST', 'x', /^input "x" is in the way/],
    [
      'ENAMETOOLONG',
      'n'.repeat(400),
      /^input "n{150}\.\.\.n{100}" has a name that is longer than the file system takes/,
    ],
  ] as const) {
    const cache = {
      copyTo: () =>
        Promise.reject(Object.assign(new Error(`${errno}: of the system, lstat '${folder}'`), { code: errno })),
    };
    const replica = { start: { inputs: [{ root: 'playpen', path, content, mode: 0o644 }] } };
    await t.throwsAsync(
      stageIn(replica as unknown as HeldReplica, { playpen: folder, storage: folder }, cache as never),
      { code: 'MUT_INPUT_UNPLACEABLE', message: says },
    );
  }
});
