import { spawnSync } from 'node:child_process';
import test from 'ava';
import {
  describeRefusal,
  frameCommand,
  isInputLost,
  isSessionRefused,
  markInput,
  readFrame,
} from '../../../src/ssh/answer-frame.ts';
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

test("words after the command's output are not part of its answer, and a cut answer is returned as it is", (t) => {
  t.deepEqual(readFrame(mark, `noise${mark}<body>7:${mark}more noise`), { text: 'body', isWhole: true, status: 7 });
  t.deepEqual(readFrame(mark, `${mark}<bo`), { text: 'bo', isWhole: false, status: undefined });
  t.is(
    readFrame(mark, `${mark}<a>0:${mark}b>0:${mark}`)?.text,
    `a>0:${mark}b`,
    'what a command copies of its own words is its output',
  );
});

test('a shell that runs no commands gave no answer, and is described by its words', (t) => {
  t.is(readFrame(mark, 'This account is currently not available.\n'), undefined);
  t.is(
    describeRefusal(mark, { status: 1, stdout: 'This account is currently not available.\n', stderr: '' }),
    'no command runs there: the login shell ended with status 1, its words: This account is currently not available.',
  );
  t.regex(describeRefusal(mark, { status: 7, stdout: '', stderr: `${mark}<bad>7:${mark}` }), /its words: bad$/);
  t.is(
    describeRefusal(mark, { status: 0, stdout: '', stderr: '' }),
    'no command runs there: the login shell ended with status 0 and without a word',
  );
});

test("a refused session is known by ssh's words", (t) => {
  t.true(isSessionRefused('mux_client_request_session: session request failed: Session open refused by peer\r\n'));
  t.false(isSessionRefused('sh: 1: nothing: not found\n'));
});

test('a start file that asks something gets empty lines, and the command all of its input', (t) => {
  const run = (startFile: string): { readonly out: string | undefined; readonly isLost: boolean } => {
    const command = remoteCommand(frameCommand(mark, ['cat'], true));
    const { stdout } = spawnSync('/bin/sh', ['-c', `${startFile}\n${command}`], {
      input: `${markInput(mark)}in\n\nput`,
      encoding: 'utf8',
    });
    return { out: getWhole(stdout), isLost: isInputLost(mark, stdout) };
  };
  for (const startFile of ['', 'read answer', 'printf "project? "; read project; read queue'])
    t.deepEqual(run(startFile), { out: 'in\n\nput', isLost: false }, startFile);
  t.deepEqual(run('cat >/dev/null'), { out: undefined, isLost: true });
});
