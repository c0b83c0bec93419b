import test from 'ava';
import { readIsolationMode } from '@mutirao/runtime/program';
import { aTemplate } from '@mutirao/testkit';
import { nameSubmitter } from '../../src/agent.ts';
import { findIsolationRefusal, isIsolated, noIsolation, type Isolation } from '../../src/isolation.ts';

const sandbox = { program: '/usr/bin/bwrap', hidden: [], readable: [], writable: [], temporary: [] };
const own = aTemplate('true');
const foreign = aTemplate('true', { isForeign: true });

test('by itself an agent isolates tasks of other users, and all tasks where it was asked to', (t) => {
  const auto: Isolation = { ...noIsolation, kind: 'bubblewrap', sandbox };
  t.deepEqual(
    [own, foreign].map((template) => isIsolated(auto, template)),
    [false, true],
  );
  t.deepEqual(
    [own, foreign].map((template) => isIsolated({ ...auto, isForAll: true }, template)),
    [true, true],
  );
  t.deepEqual(
    [own, foreign].map((template) => isIsolated(noIsolation, template)),
    [false, false],
  );
  t.deepEqual(['auto', 'bubblewrap', 'none'].map(readIsolationMode), ['auto', 'bubblewrap', 'none']);
  t.deepEqual(readIsolationMode('account=tasks-1'), { account: 'tasks-1' });
  for (const word of [
    '',
    'yes',
    'Bubblewrap',
    'bwrap',
    'account',
    'account=',
    'account=-u',
    'account=a b',
    'account=#0',
    'account=a/../b',
  ])
    t.throws(() => readIsolationMode(word), {
      code: 'MUT_BAD_CONFIG',
      message: /expected auto, bubblewrap, account=NAME or none/,
    });
});

test('whose a task is follows from whose broker sent it, whatever that broker says', (t) => {
  const template = aTemplate('true', { userId: 'ana' });
  t.is(nameSubmitter(template, undefined), template);
  t.is(nameSubmitter(template, { userId: 'ana', isOwner: true }), template);
  t.like(nameSubmitter(aTemplate('true', { userId: 'eva' }), { userId: 'ana', isOwner: true }), {
    userId: 'eva',
    isForeign: true,
  });
  t.like(nameSubmitter(template, { userId: 'eva', isOwner: false }), { userId: 'eva/ana', isForeign: true });
  t.like(nameSubmitter(aTemplate('true', { userId: 'eva' }), { userId: 'eva', isOwner: false }), {
    userId: 'eva/eva',
    isForeign: true,
  });
});

test("a task of another user does not run where it could read the authority's key, nor in a folder of the machine", (t) => {
  const exposed: Isolation = { ...noIsolation, exposedKey: '/home/ana/.mutirao/identity/ca.key' };
  const workFolder = { path: '/home/ana', inode: '1', device: '1', fileSystem: 'ef53', bootId: '', isBesideHome: true };
  t.like(findIsolationRefusal(exposed, foreign), { outcome: 'broken', reason: 'MUT_AUTHORITY_EXPOSED' });
  t.is(findIsolationRefusal(exposed, own), undefined);
  t.is(findIsolationRefusal(noIsolation, foreign), undefined);
  t.like(findIsolationRefusal(noIsolation, { ...foreign, workFolder }), {
    outcome: 'failed',
    reason: 'MUT_WORK_FOLDER',
  });
  t.is(findIsolationRefusal(exposed, { ...own, workFolder }), undefined);
});
