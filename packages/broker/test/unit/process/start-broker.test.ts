import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';

import { openJournal } from '@mutirao/runtime/journal';
import { createLogger } from '@mutirao/runtime/log';
import { temporaryFolder } from '@mutirao/testkit';

import { changeCodec } from '../../../src/journal/change-codec.ts';
import { startBroker, type BrokerSetup } from '../../../src/process/start-broker.ts';

test('a second broker of a home folder touches nothing of the first one, not even the folders of its checks', async (t) => {
  const home = temporaryFolder(t);
  const result = join(home, 'broker/checks/check-1/out');
  mkdirSync(join(result, '..'), { recursive: true });
  writeFileSync(result, 'being checked');
  const journal = openJournal({ path: join(home, 'broker/journal.sqlite'), codec: changeCodec });
  t.teardown(() => {
    journal.close();
  });
  // No more of its setup is read before the journal is open.
  const setup = { home, options: {}, log: createLogger('broker', 'silent') } as unknown as BrokerSetup;
  await t.throwsAsync(startBroker(setup), { code: 'MUT_ALREADY_RUNNING' });
  t.true(existsSync(result));
});
