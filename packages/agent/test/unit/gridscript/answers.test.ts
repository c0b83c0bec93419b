import test from 'ava';
import { readAnswer, readEnd, readOutputs } from '../../../src/gridscript/answers.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

test('an answer is what stands in its frame, whatever a login shell says around it', (t) => {
  t.deepEqual(readAnswer(bytes('Welcome!\n@t1\nbody\n\0\n@t1.\nbye\n'), 't1'), bytes('body\n\0'));
  t.deepEqual(readAnswer(bytes('\n@t1\n\n@t1.\n'), 't1'), bytes(''));
});

test("a frame that was not closed, is another's or was changed on the way is not an answer", (t) => {
  for (const output of ['', '\n@t1\nbody', '\n@t2\nbody\n@t2.\n', '\r\n@t1\r\nbody\r\n@t1.\r\n', '\n@t1.\n@t1\n'])
    t.is(readAnswer(bytes(output), 't1'), undefined, JSON.stringify(output));
});

test('an end has as many bytes as it says', (t) => {
  const end = readEnd(bytes('3 5 9 2 1\nabc'));
  t.like(end, { status: 3, outBytes: 5, errBytes: 9 });
  t.deepEqual(
    [Buffer.from(end?.standardOutput ?? []).toString(), Buffer.from(end?.standardError ?? []).toString()],
    ['ab', 'c'],
  );
  for (const answer of ['running\n', '3 5 9 2 2\nabc', '3 5 9 2 0\nabc', '3 5 9\nabc', ''])
    t.is(readEnd(bytes(answer)), undefined, answer);
});

test('files are read with names and bytes of any kind', (t) => {
  t.deepEqual(readOutputs(bytes('F 0 1 5 -rwxr-x--- 3\na\nF b\0\n\0cF 1 2 70000 -rw-r--r-- -\n\0')), {
    kind: 'files',
    files: [
      { outputIndex: 0, number: 1, size: 5, mode: 0o750, path: 'a\nF b', inline: new Uint8Array(bytes('\n\0c')) },
      { outputIndex: 1, number: 2, size: 70000, mode: 0o644, path: '', inline: undefined },
    ],
  });
  t.deepEqual(readOutputs(bytes('')), { kind: 'files', files: [] });
});

test('a fault behind files wins over them, and what is cut short is garbled', (t) => {
  t.deepEqual(readOutputs(bytes('F 0 1 1 -rw------- 1\n\0xE 1\n')), { kind: 'escapes', outputIndex: 1 });
  for (const answer of ['F 0 1 1 -rw------- 2\n\0x', 'F 0 1 1 -rw-------', 'F 0 1 1 -rw------- 1\nx', 'nonsense\n'])
    t.deepEqual(readOutputs(bytes(answer)), { kind: 'garbled' }, answer);
});
