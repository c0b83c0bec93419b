import test from 'ava';
import { printCsvRow } from '../../../src/index.ts';
import { readTable } from '../../../src/parameters/index.ts';

test('a row of CSV quotes what needs it, and is read again as it was', (t) => {
  const cells = ['plain', 'a, b', 'say "no"', 'two\r\nlines', ''];
  t.is(printCsvRow(cells), 'plain,"a, b","say ""no""","two\r\nlines",');
  t.deepEqual(readTable(printCsvRow(cells), { subject: 'x', separator: ',' }), [{ line: 1, cells }]);
});

test('a text that a spreadsheet would take as a formula is kept as text, and numbers stay numbers', (t) => {
  for (const formula of ['=1+1', '+cmd|x', '-2+3', '@sum', '\t=1', '-', '-1e'])
    t.is(printCsvRow([formula]), `'${formula}`, formula);
  t.is(printCsvRow(['=a,b']), `"'=a,b"`);
  t.is(printCsvRow([-1.5, true, '-1.5', '+2', '-.5', '-1e-3']), '-1.5,true,-1.5,+2,-.5,-1e-3');
});
