import test from 'ava';
import type { ErrorCode } from '@mutirao/api/errors';
import { lastWords, sshError } from '../../../src/ssh/ssh-errors.ts';

const told: readonly (readonly [string, ErrorCode, RegExp])[] = [
  ['No ED25519 host key is known for [127.0.0.1]:2222 and you have requested strict checking.\r\nHost key verification failed.\r\n', 'MUT_SSH_HOST_KEY', /verification failed/],
  ['@@@@@@@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n@@@@@@@@@\nHost key verification failed.\n', 'MUT_SSH_HOST_KEY', /failed/],
  ['ana@front: Permission denied (publickey).\r\n', 'MUT_SSH_DENIED', /publickey/],
  ['ssh: Could not resolve hostname nowhere: Name or service not known\r\n', 'MUT_UNREACHABLE', /nowhere/],
  ['ssh: connect to host 127.0.0.1 port 1: Connection refused\r\n', 'MUT_UNREACHABLE', /refused/],
  ['Can\'t open user config file /x: No such file or directory\r\n', 'MUT_BAD_CONFIG', /\/x/],
  ['command-line: line 0: Bad configuration option: potr\r\n', 'MUT_BAD_CONFIG', /potr/],
  ['', 'MUT_UNREACHABLE', /without a word/],
];

for (const [words, code, pattern] of told) {
  test(`${JSON.stringify(words.trim().slice(-60))} is told as ${code}`, (t) => {
    const error = sshError('front', words);
    t.is(error.code, code);
    t.regex(error.message, pattern);
    t.true(error.message.startsWith('ssh front: '));
  });
}

test('the last words are one line of bounded length, without what means nothing', (t) => {
  t.is(lastWords('a\r\nWarning: Permanently added x\nb\n\nc\nd\n'), 'b; c; d');
  t.is(lastWords('x'.repeat(1000)).length, 400);
});
