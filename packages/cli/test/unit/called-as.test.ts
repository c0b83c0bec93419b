import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';

import { temporaryFolder } from '@mutirao/testkit';
import { calledAs } from '../../src/called-as.ts';

test('the command line is named as it was called: through npx, by its name, or by its path', (t) => {
  const folder = temporaryFolder(t);
  const script = '/a clone/packages/cli/bin/mutirao.js';
  t.is(calledAs({ environment: { PATH: folder }, script }), "'/a clone/packages/cli/bin/mutirao.js'");
  t.is(calledAs({ environment: {}, script: undefined }), 'mutirao');
  writeFileSync(join(folder, 'mutirao'), '', { mode: 0o755 });
  t.is(calledAs({ environment: { PATH: `:${folder}` }, script }), 'mutirao');
  t.is(calledAs({ environment: { PATH: folder, npm_command: 'exec' }, script }), 'npx mutirao');
});
