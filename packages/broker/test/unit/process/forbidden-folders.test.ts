import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { listForbiddenFolders } from '../../../src/process/forbidden-folders.ts';

test('what a restore moved aside, sockets, homes of standalone jobs and secrets are not for results', (t) => {
  const home = '/home/ana/.mutirao';
  const forbidden = listForbiddenFolders(home);
  for (const name of ['replaced', 'sockets', 'here', 'machines', 'identity', 'token', 'broker', 'audit'])
    t.true(forbidden.includes(join(home, name)), name);
  t.true(
    forbidden.some((folder) => folder.startsWith(join(tmpdir(), 'mutirao-'))),
    'sockets of a home folder with a long path',
  );
  t.false(forbidden.includes(home), 'a job may leave results elsewhere in it');
});

test('the key of an authority that was moved is not for results either, and links lead to nothing that is forbidden', (t) => {
  const home = temporaryFolder(t);
  const stick = temporaryFolder(t);
  mkdirSync(join(home, 'identity'));
  writeFileSync(join(home, 'identity', 'authority'), `${stick}\n`);
  symlinkSync(stick, join(home, 'audit'));
  const forbidden = listForbiddenFolders(home);
  t.true(forbidden.includes(join(stick, 'ca.key')));
  t.true(forbidden.includes(stick), 'where the audit log really is');
});

test('a standalone job has no way to the usual home folder above its own', (t) => {
  const forbidden = listForbiddenFolders('/home/ana/.mutirao/here/job-x1');
  t.true(forbidden.includes('/home/ana/.mutirao/token'));
  t.true(forbidden.includes('/home/ana/.mutirao/here/job-x1/token'));
  t.false(forbidden.includes('/home/ana/.mutirao/here'), 'its own home folder is in there');
  t.false(listForbiddenFolders('/home/ana/grid').includes('/home/token'));
});
