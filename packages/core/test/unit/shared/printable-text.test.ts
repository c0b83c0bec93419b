import test from 'ava';
import { isPrintable, showJson, showPrinted, showText } from '../../../src/shared/index.ts';

test('what controls a terminal, ends a line or turns the direction of text is shown as an escape', (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
    ['\u001b]52;c;bHM=\u001b\\', '\\x1b]52;c;bHM=\\x1b\\'],
    ['a\nb\tc\r', 'a\\nb\\tc\\r'],
    ['\u009b2J', '\\x9b2J'],
    ['\u007f\0', '\\x7f\\x00'],
    ['\u202egpj.exe', '\\u202egpj.exe'],
    ['\u2066\u2069\u200f\u061c', '\\u2066\\u2069\\u200f\\u061c'],
    ['\u2028\u2029', '\\u2028\\u2029'],
  ];
  for (const [text, shown] of cases) {
    t.is(showText(text), shown);
    t.false(isPrintable(text));
    t.true(isPrintable(shown));
  }
});

test('other text stays as it is, of whichever script', (t) => {
  for (const text of ['', 'lab/m1', 'C:\\x1b', 'Zoë, 東京, עברית, العربية', '👩\u200d🔬', 'na\u0308ive', '\ud800']) {
    t.is(showText(text), text);
    t.is(showPrinted(text), text);
    t.true(isPrintable(text));
  }
});

test('what a program printed keeps its lines and colors on a terminal, and nothing else that controls it', (t) => {
  t.is(showPrinted('\u001b[1;31mred\u001b[0m\tx\r\n'), '\u001b[1;31mred\u001b[0m\tx\r\n');
  t.is(
    showPrinted('\u001b[2J\u001b]52;c;eA==\u0007\u001b[?25l\u009b31m\u001b['),
    '\\x1b[2J\\x1b]52;c;eA==\\x07\\x1b[?25l\\x9b31m\\x1b[',
  );
});

test('JSON stays the same document', (t) => {
  const value = { 'na\u202eme': '\u009b\u007f\u2028\u001b\n "quoted" \\', list: ['\u2066'] };
  const shown = showJson(JSON.stringify(value, undefined, 2));
  t.deepEqual(JSON.parse(shown), value);
  t.true(isPrintable(shown.replaceAll('\n', '')));
});
