import test from 'ava';
import {
  FormatError,
  makeTaskGroup,
  parseArray,
  parseDuration,
  parseLines,
  parseSelector,
  parseSize,
  printDuration,
  printSelector,
  selectNumbers,
} from '@mutirao/formats';

function findMessage(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof FormatError) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error('it was accepted');
}

const durations: readonly (readonly [string, number])[] = [
  ['0', 0],
  ['0s', 0],
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['2d', 172_800_000],
  ['250ms', 250],
  ['1s1ms', 1001],
  ['00:00:01', 1000],
  ['01:30:00', 5_400_000],
  ['100:00:00', 360_000_000],
  ['1_000s', 1_000_000],
  ['2H', 7_200_000],
  ['0.0001s', 1],
];

for (const [text, duration] of durations) {
  test(`the duration ${text} is ${duration} ms`, (t) => {
    t.is(parseDuration(text), duration);
  });
}

const badDurations: readonly (readonly [string, string])[] = [
  ['', 'duration "", character 1: found the end, expected a number with a unit, as in 90s or 1h30m'],
  ['90', 'duration "90", character 3: found the end, expected one of the units d, h, m, s, ms'],
  ['90x', 'duration "90x", character 3: found "x", expected one of the units d, h, m, s, ms'],
  ['30m1h', 'duration "30m1h", character 5: found "h", expected one of the units s, ms'],
  ['1s2s', 'duration "1s2s", character 4: found "s", expected the unit ms'],
  ['1h 30m', 'duration "1h 30m", character 3: found " 30m", expected a number with a unit, as in 90s or 1h30m'],
  ['-5s', 'duration "-5s", character 1: found "-5s", expected a number with a unit, as in 90s or 1h30m'],
  ['12:30', 'duration "12:30", character 1: found "12:30", expected HH:MM:SS'],
  ['01:60:00', 'duration "01:60:00", character 4: found "60:00", expected minutes from 00 to 59'],
  ['01:00:60', 'duration "01:00:60", character 7: found "60", expected seconds from 00 to 59'],
  ['1__0s', 'duration "1__0s", character 1: found "1__0s", expected a whole number'],
  ['999999999999d', 'duration "999999999999d", character 1: found "999999999999d", expected a shorter duration'],
];

for (const [text, message] of badDurations) {
  test(`the duration "${text}" is refused`, (t) => {
    t.is(
      findMessage(() => parseDuration(text)),
      `MUT_BAD_DURATION ${message}`,
    );
  });
}

test('a duration is printed in its largest units', (t) => {
  t.is(printDuration(5_400_000), '1h30m');
  t.is(printDuration(86_400_001), '1d1ms');
  t.is(printDuration(0), '0s');
});

const sizes: readonly (readonly [string, number])[] = [
  ['0', 0],
  ['4096', 4096],
  ['64K', 65_536],
  ['2GiB', 2 ** 31],
  ['1.5GB', 1_500_000_000],
  ['1_000 MB', 1e9],
  ['512mib', 2 ** 29],
  ['7B', 7],
  ['3KB', 3000],
  ['2TiB', 2 ** 41],
  ['1.5k', 1536],
  ['0.1K', 103],
];

for (const [text, size] of sizes) {
  test(`the size ${text} is ${size} bytes`, (t) => {
    t.is(parseSize(text), size);
  });
}

test('a bad size is refused where it is wrong, with the nearest unit', (t) => {
  t.is(
    findMessage(() => parseSize('GiB')),
    'MUT_BAD_SIZE size "GiB", character 1: found "GiB", expected a number with a unit, as in 64K or 2GiB',
  );
  t.is(
    findMessage(() => parseSize('2GBi')),
    'MUT_BAD_SIZE size "2GBi", character 2: found "GBi", expected one of the units B, KiB, MiB, GiB, TiB, KB, ' +
      'MB, GB, TB, or none; did you mean GiB?',
  );
  t.is(
    findMessage(() => parseSize('-1')),
    'MUT_BAD_SIZE size "-1", character 1: found "-1", expected a number with a unit, as in 64K or 2GiB',
  );
  t.is(
    findMessage(() => parseSize('9000000TiB')),
    'MUT_BAD_SIZE size "9000000TiB", character 1: found "9000000TiB", expected at most 9007199254740991 bytes',
  );
});

test('selectors name numbers, ranges, the last one or all', (t) => {
  t.deepEqual(parseSelector('5'), { kind: 'ranges', ranges: [{ first: 5, count: 1, step: 1 }] });
  t.deepEqual(parseSelector('1-10:2'), { kind: 'ranges', ranges: [{ first: 1, count: 5, step: 2 }] });
  t.deepEqual(parseSelector('1,3,5-8'), {
    kind: 'ranges',
    ranges: [
      { first: 1, count: 1, step: 1 },
      { first: 3, count: 1, step: 1 },
      { first: 5, count: 4, step: 1 },
    ],
  });
  t.deepEqual(parseSelector('1_000-1_001'), { kind: 'ranges', ranges: [{ first: 1000, count: 2, step: 1 }] });
  t.deepEqual(parseSelector('LAST'), { kind: 'last' });
  t.deepEqual(parseSelector('all'), { kind: 'all' });
});

const badSelectors: readonly (readonly [string, string])[] = [
  ['', 'selector "", character 1: found the end, expected a whole number'],
  ['1,,2', 'selector "1,,2", character 3: found ",2", expected a whole number'],
  ['10-1', 'selector "10-1", character 4: found "1", expected a number from 10 on'],
  ['1-5:0', 'selector "1-5:0", character 5: found "0", expected a step of 1 or more'],
  ['1:2', 'selector "1:2", character 2: found ":2", expected "-" and the last number before a step'],
  ['1-2-3', 'selector "1-2-3", character 1: found "1-2-3", expected FIRST-LAST or FIRST-LAST:STEP'],
  ['-3', 'selector "-3", character 1: found "-3", expected a whole number'],
  ['3,x', 'selector "3,x", character 3: found "x", expected a whole number'],
  [
    '99999999999999999',
    'selector "99999999999999999", character 1: found "99999999999999999", expected a number up to 9007199254740991',
  ],
];

for (const [text, message] of badSelectors) {
  test(`the selector "${text}" is refused`, (t) => {
    t.is(
      findMessage(() => parseSelector(text)),
      `MUT_BAD_SELECTOR ${message}`,
    );
  });
}

test('a selector picks numbers of a window, each once, in its order', (t) => {
  const window = { first: 1, last: 10 };
  t.deepEqual(selectNumbers(parseSelector('all'), { first: 3, last: 5 }), [3, 4, 5]);
  t.deepEqual(selectNumbers(parseSelector('last'), window), [10]);
  t.deepEqual(selectNumbers(parseSelector('7,2-4,3'), window), [7, 2, 3, 4]);
  t.deepEqual(selectNumbers(parseSelector('0-9_000_000_000_000:4'), window), [4, 8]);
  t.deepEqual(selectNumbers(parseSelector('all'), { first: 1, last: 0 }), []);
});

test('a selector is printed as it can be read', (t) => {
  t.is(printSelector(parseSelector('1,3-3,5-8,1-10:3')), '1,3,5-8,1-10:3');
  t.is(printSelector(parseSelector('All')), 'all');
});

test('an array of one range stays a range, several are listed', (t) => {
  t.deepEqual(parseArray('1-1000000'), { kind: 'range', first: 1, count: 1_000_000, step: 1 });
  t.deepEqual(parseArray('1-10:4'), { kind: 'range', first: 1, count: 3, step: 4 });
  t.deepEqual(parseArray('9,1-5:2'), { kind: 'list', values: ['9', '1', '3', '5'] });
  t.is(
    findMessage(() => parseArray('all')),
    'MUT_BAD_SELECTOR array "all", character 1: found "all", expected a whole number',
  );
  t.is(
    findMessage(() => parseArray('1,1-99999999')),
    'MUT_BAD_SELECTOR array "1,1-99999999", character 1: found "1,1-99999999", expected at most 10000000 ' +
      'values, or a single range',
  );
});

test('each line is a value, empty ones are left out', (t) => {
  t.deepEqual(parseLines('a b\r\n\n c\nlast'), { kind: 'list', values: ['a b', ' c', 'last'] });
  t.is(
    findMessage(() => parseLines('\n\n', 'in.txt')),
    'MUT_TEMPLATE_NO_VALUE in.txt:1:1: found no line, expected one value per line',
  );
  t.is(
    findMessage(() => parseLines('a\nb\0', 'in.txt')),
    'MUT_BAD_REQUEST in.txt:2:2: found a NUL, expected text',
  );
});

test('a task group is made of words, which the shell will read as they are', (t) => {
  t.deepEqual(makeTaskGroup({ command: ['echo', 'a b', '{}'], values: parseArray('1-3') }), {
    values: { kind: 'range', first: 1, count: 3, step: 1 },
    command: "echo 'a b' {}",
    noOp: false,
    inputs: [],
    outputs: [],
    check: '',
    requirements: '',
  });
  t.is(makeTaskGroup({ command: 'a | b', values: undefined }).command, 'a | b');
});

test('a template without a value is refused, wherever it stands', (t) => {
  const text =
    'MUT_TEMPLATE_NO_VALUE template "echo {}", character 6: found {}, expected values for it, or {{}} for a literal {}';
  t.is(
    findMessage(() => makeTaskGroup({ command: ['echo', '{}'], values: undefined })),
    text,
  );
  const output = { root: 'playpen', path: 'out', localPath: '/o/{}', condition: '' } as const;
  t.regex(
    findMessage(() => makeTaskGroup({ command: 'x', values: undefined, outputs: [output] })),
    /^MUT_TEMPLATE_NO_VALUE template "\/o\/\{\}"/,
  );
  t.notThrows(() => makeTaskGroup({ command: ['echo', '{{}}', '{#}'], values: undefined }));
});

test('an empty command is refused unless nothing has to run', (t) => {
  t.is(
    findMessage(() => makeTaskGroup({ command: [], values: undefined })),
    'MUT_BAD_REQUEST command, character 1: found nothing, expected a command',
  );
  t.notThrows(() => makeTaskGroup({ command: '', values: undefined, noOp: true }));
});
