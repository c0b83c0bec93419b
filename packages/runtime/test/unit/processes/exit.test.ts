import test from 'ava';
import { findSaidSignal, shellStatus, startFailure } from '../../../src/processes/exit.ts';

test('an exit status is reported unchanged and a signal as 128 + its number', (t) => {
  t.is(shellStatus(0, null), 0);
  t.is(shellStatus(3, null), 3);
  t.is(shellStatus(null, 'SIGKILL'), 137);
  t.is(shellStatus(null, 'SIGTERM'), 143);
});

test('a program that is not there ends as 127, one that cannot be executed as 126', (t) => {
  t.like(startFailure(Object.assign(new Error('spawn x ENOENT'), { code: 'ENOENT' })), {
    status: 127,
    startError: 'spawn x ENOENT',
  });
  t.is(startFailure(Object.assign(new Error('spawn x EACCES'), { code: 'EACCES' })).status, 126);
});

test('a signal is known by the last words of the shell, and by no status alone', (t) => {
  const said = (text: string): Uint8Array => Buffer.from(text);
  t.is(findSaidSignal(137, said('Killed\n')), 9);
  t.is(findSaidSignal(139, said('before\nSegmentation fault (core dumped)\n')), 11);
  t.is(findSaidSignal(137, said('')), undefined);
  t.is(findSaidSignal(137, said('Killed\nafter\n')), undefined);
  t.is(findSaidSignal(139, said('Killed\n')), undefined);
  t.is(findSaidSignal(1, said('Killed\n')), undefined);
});
