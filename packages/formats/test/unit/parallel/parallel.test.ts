import test from 'ava';
import { parseCommand, renderCommand } from '@mutirao/core/bag';
import {
  combineSources,
  hasReplacement,
  isHalted,
  makeJobGroups,
  parseHalt,
  printJobLogEntry,
  readJobLog,
  readParallelWords,
  type ParallelCommand,
} from '@mutirao/formats/parallel';

const usual: ParallelCommand = { words: [], names: [], isQuoted: false, appends: false, slot: '$PARALLEL_JOBSLOT' };

/** The command lines of jobs with these arguments. */
function lines(options: Partial<ParallelCommand>, ...given: readonly (readonly string[])[]): string[] {
  const jobs = given.map((texts, index) => ({ sequence: index + 1, arguments: texts }));
  return makeJobGroups({ ...usual, ...options }, jobs).flatMap(({ command, values }) =>
    values.map((value) => renderCommand(parseCommand(command), value, 0)),
  );
}

test('words are split at the input sources', (t) => {
  t.deepEqual(readParallelWords(['echo', '{1}', ':::', 'a', 'b', ':::+', 'x', '::::', 'f', 'g']), {
    command: ['echo', '{1}'],
    sources: [
      { kind: 'values', isLinked: false, texts: ['a', 'b'] },
      { kind: 'values', isLinked: true, texts: ['x'] },
      { kind: 'file', isLinked: false, texts: ['f'] },
      { kind: 'file', isLinked: false, texts: ['g'] },
    ],
  });
  t.deepEqual(readParallelWords(['echo', '::', 'a']), { command: ['echo', '::', 'a'], sources: [] });
});

test('replacement strings stand for parts of an argument', (t) => {
  t.deepEqual(lines({ words: ['echo', '{} {.} {/} {//} {/.} {#} {%}'] }, ['/d/e/a.b.c']), [
    'echo /d/e/a.b.c /d/e/a.b a.b.c /d/e a.b 1 $PARALLEL_JOBSLOT',
  ]);
  t.deepEqual(lines({ words: ['echo {2.}-{1/}-{-1//}-{-2}-{3}'] }, ['x/y', 'z.tar.gz']), ["echo z.tar-y-.-x/y-''"]);
  t.deepEqual(lines({ words: ['echo {x.} {y} {z}'], names: ['x', 'y'] }, ['a.c', 'b']), ['echo a b {z}']);
});

test('a command with any replacement string gets no arguments appended', (t) => {
  for (const word of ['{}', '{.}', '{1}', '{-2/}', '{#}', '{%}', '{x}'])
    t.true(hasReplacement(['echo', word], ['x']), word);
  for (const word of ['{y}', '{ }', '$1', '{,}']) t.false(hasReplacement(['echo', word], ['x']), word);
});

test('an argument is data, in quotes of any kind and outside them', (t) => {
  t.deepEqual(lines({ words: ['echo {} "{}"', "'{}'"] }, ["it's $(id)"]), [
    `echo 'it'\\''s $(id)' "it's \\$(id)" 'it'\\''s $(id)'`,
  ]);
  t.deepEqual(lines({ words: ['echo', '$HOME', '{}'], isQuoted: true }, ['a b']), ["echo '$HOME' 'a b'"]);
});

test('braces that are not a replacement string stay', (t) => {
  t.deepEqual(lines({ words: ["awk '{print $1}' {{}} {{{}}} ${x} {}}"] }, ['f']), [
    "awk '{print $1}' '{f}' '{{f}}' ${x} f}",
  ]);
});

test('several arguments of one job stand one after the other, and an incomplete job has fewer', (t) => {
  t.deepEqual(lines({ words: ['echo {1}-{2} {}'] }, ['a', 'b'], ['c']), ['echo a-b a b', "echo c-'' c"]);
  t.deepEqual(lines({ words: ['echo'], appends: true }, ['a b', 'c']), ["echo 'a b' c"]);
  t.deepEqual(lines({ words: [] }, ['echo 1 | cat']), ["eval 'echo 1 | cat'"]);
});

test('sources make every combination, linked ones go together', (t) => {
  const source = (texts: string, isLinked = false) => ({ rows: [...texts].map((text) => [text]), isLinked });
  const joined = (...args: Parameters<typeof combineSources>) => combineSources(...args)?.map((row) => row.join(''));
  const options = { link: false, countMax: 100 };
  t.deepEqual(joined([source('ab'), source('xy')], options), ['ax', 'ay', 'bx', 'by']);
  t.deepEqual(joined([source('abc'), source('xy', true), source('1')], options), ['ax1', 'by1']);
  t.deepEqual(joined([source('abc'), source('xy')], { link: true, countMax: 9 }), ['ax', 'by', 'cx']);
  t.is(combineSources([source('abc'), source('xyz')], { link: false, countMax: 8 }), undefined);
  t.deepEqual(joined([source('ab'), source('')], options), []);
});

test('a joblog is read back, and the last line of a job counts', (t) => {
  const entry = { host: ':', startedAt: 1_700_000_000_123, runTime: 1500, sent: 0, received: 2, signal: 0 };
  const first = printJobLogEntry({ ...entry, sequence: 1, exitStatus: 3, command: 'echo a' });
  t.is(first, '1\t:\t1700000000.123\t     1.500\t0\t2\t3\t0\techo a');
  const again = printJobLogEntry({ ...entry, sequence: 1, exitStatus: 0, command: 'echo a' });
  const log = readJobLog(`Seq\tHost\n${first}\n${again}\n2\t:\t17`);
  t.deepEqual([...log], [[1, { hasFailed: false, command: 'echo a' }]]);
});

test('--halt counts failures, successes or ends, as a number or a share', (t) => {
  t.is(parseHalt('never'), 'never');
  t.deepEqual(parseHalt('2'), parseHalt('now,fail=1'));
  for (const wrong of ['now', 'now,fail', 'soon,fail=0', 'now,fail=101%', 'later,fail=1'])
    t.is(parseHalt(wrong), undefined, wrong);
  const share = parseHalt('soon,fail=10%');
  if (share === undefined || share === 'never') return t.fail();
  t.false(isHalted(share, { failed: 2, succeeded: 0, total: 10 }));
  t.true(isHalted(share, { failed: 3, succeeded: 0, total: 10 }));
});
