import test from 'ava';
import { readFields } from '@mutirao/core/bag';
import {
  combineParameters,
  listValues,
  nameParameters,
  parseParameter,
  parseParameterTable,
  readTable,
} from '@mutirao/formats/parameters';

const values = (text: string): string[] => [...listValues(parseParameter(text).values)];
const table = (text: string, hasHeader = true): Record<string, string[]> =>
  Object.fromEntries(
    parseParameterTable(text, { subject: 'sweep.csv', separator: ',', hasHeader }).map((parameter) => [
      parameter.name,
      [...listValues(parameter.values)],
    ]),
  );

test('ranges of a parameter count up and down, with steps, decimals and zeros before the number', (t) => {
  t.deepEqual(values('a=1..4'), ['1', '2', '3', '4']);
  t.deepEqual(values('a=4..1..2'), ['4', '2']);
  t.deepEqual(values('a=-1..1'), ['-1', '0', '1']);
  t.deepEqual(values('a=0..0.3..0.1'), ['0.0', '0.1', '0.2', '0.3']);
  t.deepEqual(values('a=0.5..-0.5..0.5'), ['0.5', '0.0', '-0.5']);
  t.deepEqual(values('a=08..10'), ['08', '09', '10']);
  t.deepEqual(values('a=1..3,10,x'), ['1', '2', '3', '10', 'x']);
});

test('a range of whole numbers stays three numbers, however long it is', (t) => {
  t.deepEqual(parseParameter('a=1..1000000000').values, { first: 1, count: 1_000_000_000, step: 1 });
});

test('values with commas and quotes are quoted as in a file', (t) => {
  t.deepEqual(values('c="x,y",z,"say ""hi"""'), ['x,y', 'z', 'say "hi"']);
  t.deepEqual(values('c=a=b'), ['a=b']);
  t.deepEqual(values('c=1.txt'), ['1.txt']);
});

test('a parameter that cannot be read is refused with what was expected', (t) => {
  t.throws(() => parseParameter('a'), { message: /expected NAME=VALUES/ });
  t.throws(() => parseParameter('a{}=1'), { message: /found "a\{\}", expected a name/ });
  t.throws(() => parseParameter('a='), { message: /found no value/ });
  t.throws(() => parseParameter('a=x\0'), { message: /found a NUL/ });
  t.throws(() => parseParameter('a=1..5..0'), { message: /found the step 0/ });
  t.throws(() => parseParameter('a=1..9..0.000001'), { message: /found 8000001 values, expected at most 1000000/ });
  t.throws(() => parseParameter('a="x'), { message: /closing "/ });
});

test('a table has quotes, doubled quotes, line ends in cells, CRLF and a byte order mark', (t) => {
  t.deepEqual(table('\uFEFFa,b\r\n1,"x, ""y"""\r\n\r\n2,"two\r\nlines"\r\n'), {
    a: ['1', '2'],
    b: ['x, "y"', 'two\r\nlines'],
  });
  t.deepEqual(table('a,b\r1,2\r3,4'), { a: ['1', '3'], b: ['2', '4'] });
  t.deepEqual(table('a,b\n,\n'), { a: [''], b: [''] });
  t.deepEqual(table('a\n""\n\nx\n""'), { a: ['', 'x', ''] }, 'a cell that is quoted is there, though it is empty');
  t.deepEqual(readTable('a\tb', { subject: 'x', separator: '\t' }), [{ line: 1, cells: ['a', 'b'] }]);
});

test('without a header the columns are numbers', (t) => {
  t.deepEqual(table('x,y\nz,w\n', false), { 1: ['x', 'z'], 2: ['y', 'w'] });
});

test('an error in a table names its line', (t) => {
  t.throws(() => table('a,b\n"1\n1",2\n3\n'), {
    message: 'sweep.csv:4:1: found a row of 1 cell, expected 2, one for each of "a", "b"',
  });
  t.throws(() => table('a,b\n1,"2" x\n'), { message: /sweep.csv:2:6: found " x" behind a quoted cell/ });
  t.throws(() => table('a\n"1\n'), { message: /sweep.csv:2:1: found a quoted cell without its end/ });
  t.throws(() => table('a\n1\0\n'), { message: /sweep.csv:2:2: found a NUL/ });
  t.throws(() => table('a,a\n1,2\n'), { message: /two columns named "a"/ });
  t.throws(() => table('a,\n1,2\n'), { message: /no name for column 2/ });
  t.throws(() => table('a\n'), { message: /only a row of names/ });
  t.throws(() => table(''), { message: /no row/ });
});

test('names in braces become fields of the value; other braces stay', (t) => {
  const named = (text: string): unknown => nameParameters(text, ['a', 'learning rate']);
  t.deepEqual(named('run {a} --lr={learning rate} {} {#}'), { template: 'run {=a} --lr={=learning rate} {} {#}' });
  t.deepEqual(named("awk '{print $1}' ${a} x{2} {{a}} {x,y}"), {
    template: "awk '{print $1}' ${a} x{2} {a} {x,y}",
  });
  t.deepEqual(named('echo {b}'), { unknown: { name: 'b', nearest: 'a' } });
  t.deepEqual(named('echo {{b}}'), { template: 'echo {b}' });
});

test('a single parameter is the value of its task', (t) => {
  t.deepEqual(nameParameters('echo {seed} {}', ['seed']), { template: 'echo {} {}' });
  t.deepEqual(combineParameters([[parseParameter('seed=1..1000000')]]), {
    values: { kind: 'range', first: 1, count: 1_000_000, step: 1 },
  });
});

function rows(axes: Parameters<typeof combineParameters>[0]): unknown {
  const combined = combineParameters(axes);
  if ('fault' in combined) return combined.fault;
  return combined.values.kind === 'list' ? combined.values.values.map((value) => readFields(value)) : combined.values;
}

test('several parameters make every combination, and the first varies slowest', (t) => {
  t.deepEqual(rows([[parseParameter('a=1..2')], [parseParameter('b=x,y')]]), [
    { a: '1', b: 'x' },
    { a: '1', b: 'y' },
    { a: '2', b: 'x' },
    { a: '2', b: 'y' },
  ]);
});

test('parameters of one axis are taken together', (t) => {
  t.deepEqual(rows([[parseParameter('a=1..2'), parseParameter('b=x,y')], [parseParameter('c=z')]]), [
    { a: '1', b: 'x', c: 'z' },
    { a: '2', b: 'y', c: 'z' },
  ]);
});

test('parameters that make no tasks, or too many, are refused with the numbers', (t) => {
  t.regex(String(rows([[parseParameter('a=1..2'), parseParameter('b=x')]])), /a has 2, b has 1; expected equal ones/);
  t.regex(String(rows([[parseParameter('a=1..2000')], [parseParameter('b=1..2000')]])), /2000 x 2000 = 4000000 tasks/);
  t.regex(String(rows([[parseParameter('a=1')], [parseParameter('a=2')]])), /"a" is given twice/);
});
