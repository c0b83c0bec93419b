import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { claimFolder, removeAbandoned } from '../../src/abandoned-folders.ts';

test('what a killed agent of this host left is removed; folders of live agents, of other hosts and of nobody stay', async (t) => {
  const agents = temporaryFolder(t);
  const folderOf = (name: string): string => path.join(agents, name);
  const claim = (name: string, changed: Record<string, unknown>): void => {
    mkdirSync(folderOf(name));
    claimFolder(folderOf(name));
    const owner = path.join(folderOf(name), 'owner');
    writeFileSync(owner, JSON.stringify({ ...JSON.parse(readFileSync(owner, 'utf8')) as object, ...changed }));
  };
  claim('alive', {});
  claim('another-process-of-that-number', { startedTicks: '1' });
  claim('before-a-restart', { run: 'another run' });
  claim('another-host', { host: 'elsewhere', run: 'another run', startedTicks: '1' });
  claim('another-container', { space: 'pid:[1]', startedTicks: '1' });
  mkdirSync(folderOf('lab_pc'));
  mkdirSync(folderOf('half'));
  writeFileSync(path.join(folderOf('half'), 'owner'), '{"host":');
  await removeAbandoned(agents);
  const left = ['alive', 'another-process-of-that-number', 'before-a-restart', 'another-host', 'another-container', 'lab_pc', 'half'].filter((name) => existsSync(folderOf(name)));
  t.deepEqual(left, ['alive', 'another-host', 'another-container', 'lab_pc', 'half']);
});

test('a folder of agents that is not there is no error', async (t) => {
  await t.notThrowsAsync(removeAbandoned(path.join(temporaryFolder(t), 'absent')));
});
