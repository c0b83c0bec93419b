import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import test from 'ava';

import { temporaryFolder } from '@mutirao/testkit';
import { findProgram } from '../../src/server/find-program.ts';

test('the command line is named as a shell finds it, with the home folder where it is not the usual one', (t) => {
  const folder = temporaryFolder(t);
  const usual = join(homedir(), '.mutirao');
  const installed = join(folder, "it's", 'node_modules', '.bin');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'mutirao'), '#!/bin/sh\n');
  const inside = join(folder, "it's", 'packages', 'web');
  const find = (path: string, home = usual): string => findProgram({ path, folder: inside, home });
  t.is(find(installed), 'mutirao', 'one that nobody may execute is none');
  chmodSync(join(installed, 'mutirao'), 0o755);
  t.is(find(`/nowhere::${installed}`), 'mutirao');
  t.is(find('/nowhere'), `'${join(folder, "it'\\''s", 'node_modules', '.bin', 'mutirao')}'`);
  t.is(find(installed, '/grids/a b'), "MUTIRAO_HOME='/grids/a b' mutirao");
});
