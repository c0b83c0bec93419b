import test from 'ava';
import fc from 'fast-check';
import {
  detectFormat,
  FormatError,
  parseArray,
  parseDuration,
  parseJdf,
  parseSelector,
  parseSize,
  printDuration,
  printJdf,
  printSelector,
} from '@mutirao/formats';
import { runs } from '@mutirao/testkit';

const place = { file: 'a.jdf', directory: '/home/ana/my {} jobs' };

const pieces = [
  'job',
  'job:',
  'task',
  'task:',
  'label',
  'label:',
  'requirements',
  'requirements:',
  'init',
  'init:',
  'remote',
  'remote:',
  'final',
  'final:',
  'check:',
  'annotations:',
  'none',
  'put',
  'store',
  'get',
  'if',
  'then',
  'else',
  'endif',
  ' ',
  ' ',
  '\n',
  '\n',
  '\t',
  '\r\n',
  '#',
  '"',
  '\\',
  '\\"',
  '(',
  ')',
  '&&',
  '||',
  '!',
  '==',
  '<',
  'os',
  'linux',
  'a',
  '../b',
  '/c',
  '$TASK',
  '$PLAYPEN',
  '$STORAGE/x',
  '{}',
  '{',
  '=',
  ';',
  ':',
  'é',
  '\0',
  '\u2028',
];

const anyNonsense = fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => `job:\n${parts.join('')}`);

const anyWord = fc.stringMatching(/^[a-z$#{}\\"'|;:=()!&<>/._ -]{1,12}$/);
const anyPath = anyWord.map(
  (word) =>
    `"${word
      .replace(/["\\]/g, '\\$&')
      .replace(/\$(STORAGE|PLAYPEN)/g, '')
      .replace(/\.{2,}/g, '.')}x"`,
);
/** Nothing between quotation marks is nothing, too. */
const anyLine = anyWord.map((word) => (/^("\s*")?$|^"\s*"/.test(word.trim()) ? 'work' : word.trim()));
const anyCondition = fc.constantFrom('os == linux', 'mem > 4 || gpu', '! ( a == "b c" )', 'in_path java');
const anyMove = (verbs: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...verbs), anyPath, fc.constantFrom('', '$PLAYPEN/', '$STORAGE/', '/'), anyPath)
    .map(([verb, from, root, to]) =>
      verb === 'get' ? `get "${root}${from.slice(1)} ${to}` : `${verb} ${from} "${root}${to.slice(1)}`,
    );
const anyBlock = (verbs: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        anyMove(verbs),
        fc
          .tuple(anyCondition, anyMove(verbs), fc.option(anyMove(verbs)))
          .map(
            ([condition, first, second]) =>
              `if ${condition} then\n${first}${second === null ? '' : `\nelse\n${second}`}\nendif`,
          ),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((lines) => lines.join('\n'));
const anyTask = fc
  .tuple(
    fc.option(anyBlock(['put', 'store'])),
    anyLine,
    fc.option(anyBlock(['get'])),
    fc.option(anyLine),
    fc.option(anyCondition),
  )
  .map(([init, remote, final, check, requirements]) =>
    [
      'task:',
      requirements === null ? '' : `requirements: ${requirements}`,
      init === null ? '' : `init:\n${init}`,
      `remote: ${remote}`,
      final === null ? '' : `final:\n${final}`,
      check === null ? '' : `check: ${check}`,
    ].join('\n'),
  );
const anyJob = fc
  .tuple(anyLine, fc.array(anyTask, { minLength: 1, maxLength: 4 }))
  .map(([label, tasks]) => `job:\nlabel: ${label}\n${tasks.join('\n')}\n`);

test('a job that is printed reads back as the same job', (t) => {
  let readCount = 0;
  fc.assert(
    fc.property(anyJob, (text) => {
      const { job } = parseJdf(text, place);
      readCount++;
      t.deepEqual(parseJdf(printJdf(job), place).job, job);
    }),
    runs(31, 400),
  );
  t.true(readCount >= 400);
});

function isReadOrRefused(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch (error) {
    return error instanceof FormatError && error.problem.column >= 1;
  }
}

test('nonsense is either read or refused with a place', (t) => {
  fc.assert(
    fc.property(fc.oneof(anyNonsense, fc.string()), (text) => isReadOrRefused(() => parseJdf(text, place))),
    runs(32, 5000),
  );
  t.pass();
});

test('a job that loses or doubles a piece is either read or refused with a place', (t) => {
  fc.assert(
    fc.property(anyJob, fc.nat(), fc.nat(30), fc.boolean(), (text, at, length, doubles) => {
      const start = at % text.length;
      const piece = text.slice(start, start + length);
      const broken = text.slice(0, start) + (doubles ? piece + piece : '') + text.slice(start + length);
      return isReadOrRefused(() => parseJdf(broken, place));
    }),
    runs(33, 2000),
  );
  t.pass();
});

test('every path of a job that is read stays inside its root', (t) => {
  fc.assert(
    fc.property(anyNonsense, (text) => {
      try {
        const {
          job: { groups },
        } = parseJdf(text, place);
        return groups.every(({ inputs, outputs }) =>
          [...inputs, ...outputs].every(({ path }) => !path.startsWith('/') && !path.split('/').includes('..')),
        );
      } catch {
        return true;
      }
    }),
    runs(34, 3000),
  );
  t.pass();
});

test('values are read or refused, and printed ones read back', (t) => {
  const anyValue = fc.oneof(fc.string({ maxLength: 12 }), fc.stringMatching(/^[0-9_.:,\-dhms KMGTiBal]{0,12}$/));
  fc.assert(
    fc.property(anyValue, (text) =>
      [parseDuration, parseSize, parseSelector, parseArray].every((parse) => isReadOrRefused(() => parse(text))),
    ),
    runs(35, 3000),
  );
  fc.assert(
    fc.property(fc.nat(10 ** 12), (duration) => parseDuration(printDuration(duration)) === duration),
    runs(36, 100),
  );
  const anyRange = fc
    .tuple(fc.nat(1000), fc.nat(1000), fc.integer({ min: 1, max: 9 }))
    .map(([first, length, step]) => `${first}-${first + length}:${step}`);
  fc.assert(
    fc.property(fc.array(anyRange, { minLength: 1 }), (ranges) => {
      const selector = parseSelector(ranges.join(','));
      const again = parseSelector(printSelector(selector));
      t.deepEqual(printSelector(again), printSelector(selector));
    }),
    runs(37, 100),
  );
});

test('detecting the format of any text never fails', (t) => {
  fc.assert(
    fc.property(fc.oneof(anyNonsense, fc.string()), (text) => typeof detectFormat(text) === 'string'),
    runs(38, 1000),
  );
  t.pass();
});
