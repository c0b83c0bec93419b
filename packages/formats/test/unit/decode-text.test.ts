import test from 'ava';
import fc from 'fast-check';
import { decodeText, FormatError, parseLines } from '@mutirao/formats';
import { runs } from '@mutirao/testkit';

const bytes = (...parts: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

test('either byte order mark is dropped from the text', (t) => {
  for (const file of [
    bytes([0xef, 0xbb, 0xbf], 'çà\nb'),
    bytes('çà\nb'),
    bytes([0xff, 0xfe], [...Buffer.from('çà\nb', 'utf16le')]),
    bytes([0xfe, 0xff], [...Buffer.from('çà\nb', 'utf16le').swap16()]),
  ])
    t.is(decodeText(file, 'list'), 'çà\nb');
  t.deepEqual(parseLines(decodeText(bytes([0xef, 0xbb, 0xbf], 'first\r\nsecond\r\n'), 'list')), {
    kind: 'list',
    values: ['first', 'second'],
  });
  t.is(decodeText(bytes('a\uFEFFb'), 'list'), 'a\uFEFFb');
});

test('a byte that is not UTF-8 is refused with its line and column', (t) => {
  const cases: readonly (readonly [Buffer, number, number, string])[] = [
    [bytes('ok\ncaf', [0xe9], '.txt\n'), 2, 4, '0xe9'],
    [bytes([0x80]), 1, 1, '0x80'],
    [bytes('日本', [0xff]), 1, 3, '0xff'],
    [bytes('a\n\n', [0xc3]), 3, 1, '0xc3'],
    [bytes('x', [0xe6, 0x97]), 1, 2, '0xe6'],
    [bytes('x', [0xe6, 0x97], 'y'), 1, 2, '0xe6'],
    [bytes([0xed, 0xa0, 0x80]), 1, 1, '0xed'],
    [bytes([0xc0, 0xaf]), 1, 1, '0xc0'],
  ];
  for (const [file, line, column, byte] of cases) {
    const error = t.throws(() => decodeText(file, 'list.txt'), { instanceOf: FormatError });
    t.like(error.problem, { code: 'MUT_BAD_REQUEST', subject: 'list.txt', line, column }, error.message);
    t.true(error.message.includes(byte), error.message);
  }
});

test('bytes come back as they are, or are refused', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), (given) => {
      let text: string | undefined;
      try {
        text = decodeText(given, 'list');
      } catch (error) {
        return error instanceof FormatError && error.problem.line >= 1 && error.problem.column >= 1;
      }
      const start = Buffer.from(given.subarray(0, 3)).toString('hex');
      const mark = start === 'efbbbf' ? 3 : 0;
      return /^(fffe|feff)/.test(start) || Buffer.from(text).equals(Buffer.from(given.subarray(mark)));
    }),
    runs(41, 3000),
  );
  t.pass();
});
