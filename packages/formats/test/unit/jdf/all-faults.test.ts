import test from 'ava';
import { FormatError, parseJdf, readJdf } from '@mutirao/formats';

// All mistakes in a job file are reported at once, and skipped text causes no further errors.

const place = { file: 'a.jdf', directory: '/home/ana/jobs' };

function faults(...lines: string[]): string[] {
  return readJdf(lines.join('\n'), place).faults.map(
    ({ problem: { line, column, found } }) => `${line}:${column} ${found}`,
  );
}

test('each of several mistakes is reported, in the order of the file', (t) => {
  t.deepEqual(
    faults(
      'job:',
      'requirements: os = = linux',
      'site-selcton: min-ct',
      'task:',
      'remot: work',
      'task:',
      'init:',
      '  put a',
      '  putt b c',
      '  put d ../e',
      '  put f g',
      'remote:',
      'task:',
      'final: if os == linux then',
      '  get a b',
      'check: test',
    ),
    [
      '2:20 "="',
      '3:1 "site-selcton"',
      '5:1 "remot"',
      '8:8 the end of the line',
      '9:3 "putt"',
      '10:9 "../e"',
      '12:8 the end of the line',
      '13:1 a task without "remote:"',
      '16:1 "check"',
    ],
  );
});

test('the first is thrown, with the others behind it', (t) => {
  const error = t.throws(() => parseJdf('job:\ntask:\nremote:\ntask:\nremot: a\n', place), { instanceOf: FormatError });
  t.is(error.message, 'a.jdf:3:8: found the end of the line, expected a command on the line of "remote:"');
  t.deepEqual(
    error.further.map(({ message }) => message),
    ['a.jdf:5:1: found "remot", expected a section such as "remote:", "final:" or "task:"; did you mean remote?'],
  );
  t.false(error.isCut);
});

const single: readonly (readonly [what: string, fault: string, ...lines: string[]])[] = [
  [
    'a misspelt section is read as the one that it is near',
    '3:1 "int"',
    'job:',
    'task:',
    'int:',
    'put a b',
    'put c d',
    'remote: work',
  ],
  ['a section without its colon is read all the same', '3:8 "work"', 'job:', 'task:', 'remote work'],
  ['a job without its colon is one', '1:4 the end of the line', 'job', 'task:', 'remote: work'],
  ['a misspelt job is one', '1:1 "jbo"', 'jbo:', 'label: x', 'task:', 'remote: work'],
  ['a file that lacks its first line', '1:1 "label"', 'label: x', 'task:', 'remote: work'],
  ['what comes before the job', '1:1 "hello"', 'hello', 'job:', 'task:', 'remote: work'],
  [
    'a command on two lines',
    '4:1 "echo"',
    'job:',
    'task:',
    'remote: echo a \\',
    'echo b \\',
    'echo c',
    'final: get a b',
  ],
  [
    'a command in the task itself',
    "3:1 a command in the task itself, as in a job file of Arrebol's dialect",
    'job:',
    'task:',
    'python a.py',
    'python b.py',
  ],
  [
    'a verb of the other block does not end it',
    '4:1 "get"',
    'job:',
    'task:',
    'init: put a b',
    'get c d',
    'put e f',
    'remote: work',
  ],
  [
    'an if in an if takes its endif with it',
    '4:1 "if"',
    'job:',
    'task:',
    'final: if os == linux then',
    'if mem > 4 then',
    'get a b',
    'else',
    'get c d',
    'endif',
    'get e f',
    'endif',
    'remote: work',
  ],
  [
    'a misspelt endif ends the block',
    '5:1 "endfi"',
    'job:',
    'task:',
    'final: if os == linux then',
    'get a b',
    'endfi',
    'get c d',
    'remote: work',
  ],
  [
    'a misspelt else begins the other branch',
    '5:1 "esle"',
    'job:',
    'task:',
    'final: if os == linux then',
    'get a b',
    'esle',
    'get c d',
    'endif',
    'remote: work',
  ],
  [
    'a bad condition does not spoil its block',
    '3:16 "="',
    'job:',
    'task:',
    'final: if os = = linux then',
    'get a b',
    'endif',
    'remote: work',
  ],
  [
    'a then that is missing',
    '3:17 the end of the line',
    'job:',
    'task:',
    'final: if a == b',
    'get a b',
    'endif',
    'remote: work',
  ],
  [
    'bad requirements do not make widths differ',
    '3:30 the end',
    'job:',
    'task:',
    'requirements: (num_procs == 2',
    'remote: work',
    'task:',
    'requirements: num_procs == 2',
    'remote: work',
  ],
  [
    'a second job has a label and sections of its own',
    '4:1 a second "job:"',
    'job:',
    'task:',
    'remote: a',
    'job:',
    'label: b',
    'init: put a b',
    'task:',
    'remote: b',
  ],
  ['a misspelt section that is there already', '4:1 "remot"', 'job:', 'task:', 'remote: a', 'remot: b'],
  [
    'a colon behind a misspelt verb',
    '5:1 "putt"',
    'job:',
    'task:',
    'init:',
    'put a b',
    'putt: c d',
    'put e f',
    'remote: work',
  ],
  ['a transfer behind none', '4:1 "put"', 'job:', 'task:', 'init: none', 'put a b', 'put c d', 'remote: work'],
];

for (const [what, fault, ...lines] of single) {
  test(`one mistake is one error: ${what}`, (t) => t.deepEqual(faults(...lines), [fault]));
}

test('each if in an if is one error, however deep, and none takes the end of another', (t) => {
  const deep = Array.from({ length: 5000 }, () => 'if a == b then');
  t.deepEqual(
    faults(
      'job:',
      'task:',
      'final: if os == linux then',
      'if mem > 4 then',
      'if a then',
      'get a b',
      'endif',
      'endif',
      'endif',
      'remote: work',
    ),
    ['4:1 "if"', '5:1 "if"'],
  );
  t.is(
    readJdf(['job:', 'task:', 'remote: a', 'final:', ...deep, 'get a b', ...deep.map(() => 'endif')].join('\n'), place)
      .faults.length,
    1000,
  );
});

test('a mistake is reported even after many others in the file, up to a limit', (t) => {
  const reading = readJdf(`job:\n${'task:\nremote:\n'.repeat(5000)}`, place);
  t.is(reading.faults.length, 1000);
  t.true(reading.isCut);
  t.deepEqual(reading.faults.at(-1)?.problem.line, 2001);
  t.false(readJdf(`job:\n${'task:\nremote:\n'.repeat(999)}`, place).isCut);
});

test('an empty file and one of nonsense have one error each', (t) => {
  t.deepEqual(faults(''), ['1:1 the end of the file']);
  t.deepEqual(faults('so much', 'for that', ''), ['1:1 "so"']);
});

// Site selection.

const placed = (line: string): string => `job:\n${line}\ntask:\nremote: work\n`;

test('a job may say how its tasks are placed', (t) => {
  for (const value of ['none', 'min-ct', 'min-ct:0.5', 'min-wwt:adaptive', 'random:1'])
    t.is(readJdf(placed(`site-selection: ${value}`), place).job?.siteSelection, value);
  t.is(readJdf(placed('SITE-SELECTION :min-ct:0.1 # as last time'), place).job?.siteSelection, 'min-ct:0.1');
  t.false('siteSelection' in (readJdf(placed('label: x'), place).job ?? {}));
});

test('an unknown site selection is refused at its place', (t) => {
  t.deepEqual(
    [
      placed('site-selection: min-ctt:0.5'),
      placed('site-selection: min-ct:1.5'),
      placed('site-selection: min-ct:'),
      placed('site-selection:'),
      placed('site-selection: none:1'),
      placed('site-selection: none\nsite-selection: min-ct'),
      'job:\ntask:\nremote: a\nsite-selection: none\n',
    ].map((text) => readJdf(text, place).faults.map(({ message }) => message)),
    [
      [
        'a.jdf:2:17: found "min-ctt", expected "none" or a strategy such as "min-ct" or "min-ct:0.5"; did you ' +
          'mean min-ct?',
      ],
      ['a.jdf:2:24: found "1.5", expected a number in 0..1 or "adaptive" behind "min-ct:"'],
      ['a.jdf:2:24: found the end, expected a number in 0..1 or "adaptive" behind "min-ct:"'],
      ['a.jdf:2:16: found the end of the line, expected "none" or a strategy such as "min-ct" or "min-ct:0.5"'],
      ['a.jdf:2:17: found "none", expected "none" or a strategy such as "min-ct" or "min-ct:0.5"'],
      ['a.jdf:3:1: found a second "site-selection:", expected one site selection'],
      ['a.jdf:4:1: found "site-selection", expected the site selection before the first task'],
    ],
  );
});
