import test from 'ava';
import fc from 'fast-check';
import { readJdf, type JdfReading } from '@mutirao/formats';
import { runs } from '@mutirao/testkit';

// Mistakes in a job file are reported with their true place: all of them, and nothing else.

function read(text: string): JdfReading {
  return readJdf(text, { file: 'a.jdf', directory: '/home/ana' });
}

const anyPath = fc.constantFrom('a', '/etc/b', '"c d"', '$STORAGE/e', '$PLAYPEN', 'f/');
const anyCondition = fc.constantFrom('os == linux', 'mem > 4 || gpu', '! ( a == "b c" )', '(x)');
const anyMoves = (verb: string): fc.Arbitrary<string[]> =>
  fc
    .array(
      fc.oneof(
        fc.tuple(anyPath, anyPath).map(([from, to]) => [`${verb} ${from} ${to}`]),
        fc
          .tuple(anyCondition, fc.boolean())
          .map(([condition, isSplit]) => [
            `if ${condition}${isSplit ? '' : ' then'}`,
            ...(isSplit ? ['then'] : []),
            `${verb} a b`,
            'else',
            `  ${verb} c d # here`,
            'endif',
          ]),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((lines) => lines.flat());

/** A task in pieces that may stand in any order. */
const anyTask = fc
  .tuple(
    anyMoves('put'),
    anyMoves('get'),
    anyCondition,
    fc.constantFrom('work $TASK', '"my prog" # x', 'echo "a: b" > c'),
  )
  .chain(([init, final, requirements, remote]) =>
    fc.shuffledSubarray(
      [
        ['init:', ...init],
        ['final :', ...final],
        [`requirements: ${requirements}`],
        ['check: test -s a'],
        [`remote: ${remote}`],
      ],
      { minLength: 5 },
    ),
  )
  .map((pieces) => ['task:', ...pieces.flat()]);

/** Mistakes of one line each, that can stand at the end of a task that lacks what they stand for. */
const mistakes: readonly (readonly [without: RegExp | undefined, lines: readonly string[], fault: number])[] = [
  [/^remote/, ['remot: a'], 0],
  [/^remote/, ['remote:'], 0],
  [/^remote/, ['remote a'], 0],
  [/^remote/, ['REMTOE a b'], 0],
  [/^check/, ['chekc: a'], 0],
  [undefined, ['check: again'], 0],
  [undefined, ['label: late'], 0],
  [undefined, ['site-selection: none'], 0],
  [/^requirements/, ['requirements: a = = b'], 0],
  [/^requirements/, ['requirement: a == b'], 0],
  [undefined, ['some words of no use', 'and more of them'], 0],
];

const anyJob = fc.array(fc.tuple(anyTask, fc.option(fc.constantFrom(...mistakes))), { minLength: 1, maxLength: 8 });

test('each mistake is reported at its line, and nothing else is', (t) => {
  let mistakeCount = 0;
  fc.assert(
    fc.property(anyJob, (tasks) => {
      const lines = ['job:'];
      const wanted: number[] = [];
      for (const [task, mistake] of tasks) {
        lines.push(...task.filter((line) => mistake?.[0]?.test(line) !== true));
        if (mistake === null) continue;
        wanted.push(lines.length + 1 + mistake[2]);
        lines.push(...mistake[1]);
      }
      mistakeCount += wanted.length;
      t.deepEqual(
        read(lines.join('\n')).faults.map(({ problem }) => problem.line),
        wanted,
        lines.join('\n'),
      );
    }),
    runs(41, 1000),
  );
  t.true(mistakeCount > 1000);
});

/** Mistakes in the lines of a block, which do not end it. */
const brokenMoves = [
  'putt a b',
  'put a',
  'put a b c',
  'put a ../b',
  'get a b',
  'put "a b',
  'put a x/$STORAGE',
  'endfi',
  'then',
  'put "" x',
];

test('each wrong line of a block is reported, and the lines around it are read', (t) => {
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(
          fc.constantFrom('put a b', 'store c d', 'if a == b then\nput a b\nendif'),
          fc.option(fc.constantFrom(...brokenMoves)),
        ),
        { minLength: 1, maxLength: 8 },
      ),
      (moves) => {
        const lines = ['job:', 'task:', 'remote: a', 'init:'];
        const wanted: number[] = [];
        for (const [move, broken] of moves) {
          lines.push(...move.split('\n'));
          if (broken === null) continue;
          lines.push(broken);
          wanted.push(lines.length);
        }
        t.deepEqual(
          read(lines.join('\n')).faults.map(({ problem }) => problem.line),
          wanted,
          lines.join('\n'),
        );
      },
    ),
    runs(42, 500),
  );
});

/** Whether the reported faults lie within the text: each at a place of its own, in order, and not empty. */
function isTrue(text: string, { job, faults, warnings }: JdfReading): boolean {
  const lines = text
    .replaceAll('\r', '')
    .replace(/^\uFEFF/, '')
    .split('\n');
  const isThere = ({ line, column }: { line: number; column: number }): boolean =>
    line >= 1 && line <= lines.length && column >= 1 && column <= (lines[line - 1]?.length ?? 0) + 1;
  const places = faults.map(({ problem: { line, column } }) => line * 1e6 + column);
  return (
    (job === undefined) === faults.length > 0 &&
    faults.every(({ problem }) => isThere(problem) && problem.found !== '' && problem.expected !== '') &&
    warnings.every(isThere) &&
    places.every((value, index) => index === 0 || value > (places[index - 1] ?? 0))
  );
}

const anyEdit = fc.record({
  at: fc.nat(),
  length: fc.nat(20),
  put: fc.constantFrom(
    '',
    '\n',
    ' ',
    ':',
    '"',
    '#',
    'if',
    'then',
    'endif',
    'task:',
    'job:',
    'init:',
    'none',
    'remote',
    '\r',
    '=',
    '(',
    '\u2028',
    '\0',
  ),
});

test('a job file that is broken anyhow is read to its end, and each error has its place', (t) => {
  let brokenCount = 0;
  fc.assert(
    fc.property(
      fc.array(anyTask, { minLength: 1, maxLength: 4 }),
      fc.array(anyEdit, { minLength: 1, maxLength: 6 }),
      (tasks, edits) => {
        const whole = ['job:', 'label: x', 'site-selection: min-ct:0.5', ...tasks.flat(), ''].join('\n');
        t.deepEqual(read(whole).faults, []);
        const broken = edits.reduce(
          (text, { at, length, put }) =>
            text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + length),
          whole,
        );
        const reading = read(broken);
        if (reading.job === undefined) brokenCount++;
        return isTrue(broken, reading);
      },
    ),
    runs(43, 2000),
  );
  t.true(brokenCount > 1000);
});

test('nonsense is read to its end, and each error has its place', (t) => {
  const anyPiece = fc.constantFrom(
    'job:',
    'task:',
    'task',
    'init:',
    'final:',
    'remote:',
    'remote: a',
    'put',
    'get',
    'if',
    'then',
    'else',
    'endif',
    'none',
    'a',
    '../b',
    'os == linux',
    ' ',
    '\n',
    '\n',
    '#',
    '"',
    '\\',
    '(',
    '\r\n',
    'é',
    '🙂',
    '\u2028',
    'label:',
    'annotations:',
    'site-selection:',
    'num_procs == 2',
  );
  fc.assert(
    fc.property(
      fc.array(anyPiece, { maxLength: 80 }).map((pieces) => pieces.join(' ')),
      (text) => isTrue(text, read(text)),
    ),
    runs(44, 3000),
  );
  t.pass();
});
