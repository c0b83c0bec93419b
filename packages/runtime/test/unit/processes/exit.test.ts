import test from 'ava';
import { shellStatus, startFailure } from '../../../src/processes/exit.ts';

test('an exit status is told as it is and a signal as 128 + its number', (t) => {
  t.is(shellStatus(0, null), 0);
  t.is(shellStatus(3, null), 3);
  t.is(shellStatus(null, 'SIGKILL'), 137);
  t.is(shellStatus(null, 'SIGTERM'), 143);
});

test('a program that is not there ends as 127, one that cannot be executed as 126', (t) => {
  t.like(startFailure(Object.assign(new Error('spawn x ENOENT'), { code: 'ENOENT' })), { status: 127, startError: 'spawn x ENOENT' });
  t.is(startFailure(Object.assign(new Error('spawn x EACCES'), { code: 'EACCES' })).status, 126);
});
