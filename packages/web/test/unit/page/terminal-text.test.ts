import test from 'ava';

import { parseOutput } from '../../../client/src/model/terminal-text.ts';

const said = (text: string): string =>
  parseOutput(text)
    .map((piece) => piece.text)
    .join('');

test('colours of a terminal become classes, and its other commands leave nothing behind', (t) => {
  t.deepEqual(parseOutput('a \u001b[1;31mred\u001b[0m b\u001b[2K\u001b]0;title\u0007c'), [
    { text: 'a ', className: '' },
    { text: 'red', className: 'ansi-red ansi-bold' },
    { text: ' bc', className: '' },
  ]);
  t.deepEqual(parseOutput('\u001b[38;5;31mx\u001b[mY\u001b[94mz'), [
    { text: 'xY', className: '' },
    { text: 'z', className: 'ansi-blue' },
  ]);
});

test('of a line that was written over, the last is shown', (t) => {
  t.is(said('10 %\r50 %\r100 %\nend\r\n'), '100 %\nend\n');
});

test('bytes and markup stay text', (t) => {
  t.is(said('<b>\u0000\u0007x</b>\t\u00e9'), '<b>x</b>\t\u00e9');
});
