import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { AnnouncedFile } from '../../src/announced-file.ts';

test('a file that grew still holds what was announced; one that was written over or removed does not, and says so', async (t) => {
  const path = join(temporaryFolder(t), 'out');
  writeFileSync(path, 'as announced');
  const announced = await AnnouncedFile.read(path);
  await announced.requireUnchanged();
  appendFileSync(path, ' and more');
  await announced.requireUnchanged();
  writeFileSync(path, 'AS announced and more');
  await t.throwsAsync(announced.requireUnchanged(), { code: 'MUT_OUTPUT_CHANGED', message: /written to/ });
  rmSync(path);
  await t.throwsAsync(announced.requireUnchanged(), { code: 'MUT_OUTPUT_CHANGED', message: /removed/ });
});
