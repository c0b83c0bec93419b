import { spawnSync } from 'node:child_process';
import test from 'ava';
import { describeRefusal, frameCommand, isSessionRefused, readFrame } from '../../../src/ssh/answer-frame.ts';
import { remoteCommand } from '../../../src/ssh/remote-command.ts';

const mark = '0123456789abcdef';

function runBehind(
  startFile: string,
  command: readonly string[],
  input = '',
): { status: number | null; out: string | undefined; err: string | undefined } {
  const { status, stdout, stderr } = spawnSync(
    '/bin/sh',
    ['-c', `${startFile}\n${remoteCommand(frameCommand(mark, command))}`],
    { input, encoding: 'utf8' },
  );
  return { status, out: getWhole(stdout), err: getWhole(stderr) };
}

function getWhole(reported: string): string | undefined {
  const framed = readFrame(mark, reported);
  return framed?.isWhole === true ? framed.text : undefined;
}

for (const startFile of [
  '',
  'echo welcome',
  'printf "a title without a line end"; printf "base=/wrong\\n" >&2',
  'printf "\\033]0;title\\007"; printf "end" >&2; true',
]) {
  test(`an answer is the command's own behind a start file of ${JSON.stringify(startFile)}`, (t) => {
    t.deepEqual(runBehind(startFile, ['sh', '-c', 'cat; echo "it\'s $1" >&2; exit 3', 'x', 'a  b\\!'], 'in\nput'), {
      status: 3,
      out: 'in\nput',
      err: "it's a  b\\!\n",
    });
    t.deepEqual(runBehind(startFile, ['true']), { status: 0, out: '', err: '' });
  });
}

test('words behind the command are no part of its answer, and a cut answer is all that there is of it', (t) => {
  t.deepEqual(readFrame(mark, `noise${mark}<body>${mark}more noise`), { text: 'body', isWhole: true });
  t.deepEqual(readFrame(mark, `${mark}<bo`), { text: 'bo', isWhole: false });
  t.is(
    readFrame(mark, `${mark}<a>${mark}b>${mark}`)?.text,
    `a>${mark}b`,
    'what a command copies of its own words is its output',
  );
});

test('a shell that runs no commands gave no answer, and is described by its words', (t) => {
  t.is(readFrame(mark, 'This account is currently not available.\n'), undefined);
  t.is(
    describeRefusal(1, 'This account is currently not available.\n', ''),
    'no command runs there: the login shell ended with status 1, its words: This account is currently not available.',
  );
  t.is(describeRefusal(0, '', ''), 'no command runs there: the login shell ended with status 0 and without a word');
});

test("a refused session is known by ssh's words", (t) => {
  t.true(isSessionRefused('mux_client_request_session: session request failed: Session open refused by peer\r\n'));
  t.false(isSessionRefused('sh: 1: nothing: not found\n'));
});
