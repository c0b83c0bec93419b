import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { readBrokerName } from '../../../src/process/broker-name.ts';

test('a broker keeps its name when its home folder is moved or copied, and another home has another one', (t) => {
  const folder = temporaryFolder(t);
  const name = readBrokerName(join(folder, 'home'), 'ana@example');
  t.regex(name, /^ana_example-[0-9a-f]{12}$/);
  t.is(readBrokerName(join(folder, 'home'), 'another'), name);
  t.not(readBrokerName(join(folder, 'other'), 'ana@example'), name);
  renameSync(join(folder, 'home'), join(folder, 'moved'));
  cpSync(join(folder, 'moved'), join(folder, 'copied'), { recursive: true });
  t.is(readBrokerName(join(folder, 'moved'), 'ana@example'), name);
  t.is(readBrokerName(join(folder, 'copied'), 'ana@example'), name);
});

test('a name that providers would not take is not believed', (t) => {
  const home = temporaryFolder(t);
  mkdirSync(join(home, 'broker'));
  writeFileSync(join(home, 'broker', 'name'), 'not a name\n');
  t.throws(() => readBrokerName(home, 'ana'), { message: /holds no name of a broker/ });
});
