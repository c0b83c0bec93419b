import test from 'ava';

import { getDocumentTitle } from '../../../client/src/model/place.ts';
import { getSubjectHash, readSubject, type Subject } from '../../../client/src/model/subject.ts';

const subjects: readonly Subject[] = [
  { kind: 'job', jobId: 42 },
  { kind: 'task', jobId: 42, taskIndex: 0 },
  { kind: 'request', request: 'alpha/q1' },
  { kind: 'machine', machineId: 'lab/m1 #2=&é' },
];

test('each drawer has an address that leads back to it', (t) => {
  for (const subject of subjects) t.deepEqual(readSubject(getSubjectHash(subject)), subject);
});

test('an address that names no subject opens no drawer', (t) => {
  for (const hash of [
    '',
    '#',
    '#main',
    '#token=abc',
    '#task=42',
    '#task=42/x',
    '#why=0',
    '#why=1/2',
    '#machine=%',
    '#x=1',
  ])
    t.is(readSubject(hash), undefined, hash);
});

test('the title of the tab names what its drawer is about', (t) => {
  t.is(getDocumentTitle({ view: 'after', jobId: 42 }), 'Job 42 · Mutirao');
  t.is(
    getDocumentTitle({ view: 'after', jobId: 42 }, { kind: 'task', jobId: 42, taskIndex: 7 }),
    'Task 7 of job 42 · Mutirao',
  );
});
