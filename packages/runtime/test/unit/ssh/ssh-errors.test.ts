import test from 'ava';
import type { ErrorCode } from '@mutirao/api/errors';
import { lastWords, quoteLastWords, sshError } from '../../../src/ssh/ssh-errors.ts';

const reported: readonly (readonly [string, ErrorCode, RegExp])[] = [
  [
    'No ED25519 host key is known for [127.0.0.1]:2222 and you have requested strict checking.\r\nHost key ' +
      'verification failed.\r\n',
    'MUT_SSH_HOST_KEY',
    /verification failed/,
  ],
  [
    '@@@@@@@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n@@@@@@@@@\nHost key verification failed.\n',
    'MUT_SSH_HOST_KEY',
    /failed/,
  ],
  ['ana@front: Permission denied (publickey).\r\n', 'MUT_SSH_DENIED', /publickey/],
  ['ssh: Could not resolve hostname nowhere: Name or service not known\r\n', 'MUT_UNREACHABLE', /nowhere/],
  ['ssh: connect to host 127.0.0.1 port 1: Connection refused\r\n', 'MUT_UNREACHABLE', /refused/],
  ["Can't open user config file /x: No such file or directory\r\n", 'MUT_BAD_CONFIG', /\/x/],
  ['command-line: line 0: Bad configuration option: potr\r\n', 'MUT_BAD_CONFIG', /potr/],
  ['', 'MUT_UNREACHABLE', /without a word/],
  [
    'Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures\r\nDisconnected from ' +
      '10.0.0.1 port 22\r\n',
    'MUT_SSH_DENIED',
    /Too many/,
  ],
  [
    'Permission denied to all who are not of the institute.\nana@front: Permission denied (publickey,password).\r\n',
    'MUT_SSH_DENIED',
    /publickey/,
  ],
  [
    'ana@gate: Permission denied (publickey).\r\nkex_exchange_identification: Connection closed by remote host\r\n' +
      'Connection closed by UNKNOWN port 65535\r\n',
    'MUT_SSH_DENIED',
    /publickey/,
  ],
  ['Host key verification failed.\r\nConnection closed by UNKNOWN port 65535\r\n', 'MUT_SSH_HOST_KEY', /verification/],
  [
    'ana@gate: Permission denied (publickey).\r\nkex_exchange_identification: read: Connection reset by peer\r\n' +
      'Connection reset by 10.0.0.1 port 22\r\n',
    'MUT_UNREACHABLE',
    /reset/,
  ],
  [
    'OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026\r\ncommand-line: line 0: Bad configuration option: potr\r\n',
    'MUT_BAD_CONFIG',
    /potr/,
  ],
  ['no line end: ana@front: Permission denied (publickey).\r\n', 'MUT_SSH_DENIED', /publickey/],
  [
    '/home/ana/.ssh/config: line 3: Bad configuration option: potr\r\n/home/ana/.ssh/config: terminating, 1 bad ' +
      'configuration options\r\n',
    'MUT_BAD_CONFIG',
    /potr/,
  ],
  // What a banner says is the other host's, whatever it says.
  [
    '** Unauthorised use: permission denied! **\nHost key verification failed is what you will see.\nConnection ' +
      'closed by 10.0.0.1 port 22\r\n',
    'MUT_UNREACHABLE',
    /closed by/,
  ],
  [
    'Permission denied (if you are not authorised).\nConnection timed out during banner exchange\r\n',
    'MUT_UNREACHABLE',
    /timed out/,
  ],
  [
    'Bad owner or permissions lead to removal of accounts\nread welcome\nConnection reset by 10.0.0.1 port 22\r\n',
    'MUT_UNREACHABLE',
    /reset/,
  ],
];

for (const [words, code, pattern] of reported) {
  test(`${JSON.stringify(words.trim().slice(-60))} is reported as ${code}`, (t) => {
    const error = sshError('front', words);
    t.is(error.code, code);
    t.regex(error.message, pattern);
    t.true(error.message.startsWith('ssh front: '));
  });
}

test('whatever ends a connection that stood is a matter that passes', (t) => {
  for (const words of [
    'Permission denied without authorisation\nana@front: Permission denied (publickey).\n',
    'Host key verification failed.\n',
    'Connection to 10.0.0.1 closed by remote host.\r\n',
  ]) {
    t.is(sshError('front', words, true).code, 'MUT_UNREACHABLE');
  }
});

test('the last words are one line of bounded length, without what means nothing', (t) => {
  t.is(lastWords('a\r\nWarning: Permanently added x\nb\n\nc\nd\n'), 'b; c; d');
  t.is(lastWords('x'.repeat(1000)).length, 400);
  t.is(quoteLastWords('Killed by signal 15\n'), 'it printed no message');
});
