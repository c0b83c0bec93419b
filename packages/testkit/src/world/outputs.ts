import { perl, type WorldCase } from './world-case.ts';

const longName = 'n'.repeat(255);
/** Bytes of names, as Latin-1 characters. */
const oddNames = [
  '-rf',
  ' blank ',
  'quote\'"',
  'new\nline',
  'caf\xe9',
  '\xff\xfe',
  '$(echo no)',
  '*',
  '\xc3\xa9',
  '~',
  '\\',
  'tab\t',
  '#',
  '%s',
  '\x01',
  longName,
];

/** Writes `x` into files of these names, in a folder. */
function writeNames(folder: string, names: readonly string[]): string {
  const words = names.map(
    (name) => `"${[...name].map((letter) => `\\x{${letter.charCodeAt(0).toString(16)}}`).join('')}"`,
  );
  return (
    `mkdir ${folder}; ` +
    `${perl(`chdir "${folder}"; for (${words.join(',')}) { utf8::downgrade($_); open my $f, ">", "./$_" or die "$!"; print $f "x" }`)}`
  );
}

/** What tasks bring home, and how it may be named, linked and shaped. */
export const outputCases: readonly WorldCase[] = [
  {
    title: 'names of any bytes come home as they are',
    command: writeNames('res', oddNames),
    outputs: ['res'],
    expected: { status: 'finished', files: Object.fromEntries(oddNames.map((name) => [`res/${name}`, 'x'])) },
  },
  {
    title: "what a link inside the task's folder points to comes home",
    command: 'mkdir sub res; echo data > sub/s; ln -s ../sub/s res/link; ln -s link res/again; echo own > res/own',
    outputs: ['res'],
    expected: { status: 'finished', files: { 'res/link': 'data\n', 'res/again': 'data\n', 'res/own': 'own\n' } },
  },
  {
    title: 'files with two names come home under both',
    command: 'mkdir res; echo data > res/a; ln res/a res/b',
    outputs: ['res'],
    expected: { status: 'finished', files: { 'res/a': 'data\n', 'res/b': 'data\n' } },
  },
  {
    title: 'a hole in a file comes home as zeros',
    command: 'mkdir res; truncate -s 100000 res/hole; printf end >> res/hole',
    outputs: ['res'],
    expected: { status: 'finished', files: { 'res/hole': `${'\0'.repeat(100_000)}end` } },
  },
  {
    title: 'an accepted output does not change afterwards',
    command: '(while :; do echo late >> out; sleep 0.02; done) & echo early > out; sleep 0.01',
    outputs: ['out'],
    expected: { status: 'finished', standardOutput: '' },
  },
  {
    title: 'two thousand small files come home',
    command: 'mkdir res; i=0; while [ $i -lt 2000 ]; do echo $i > res/$i; i=$((i + 1)); done',
    outputs: ['res'],
    expected: {
      status: 'finished',
      files: Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`res/${index}`, `${index}\n`])),
    },
  },
  {
    title: 'an output that is not there fails its task alone',
    command: 'echo done',
    outputs: ['nothing'],
    expected: { status: 'failed', reason: 'MUT_OUTPUT_MISSING', standardOutput: 'done\n' },
  },
  {
    title: 'an output whose name is too long for any file fails its task alone',
    command: 'echo done',
    outputs: ['n'.repeat(300)],
    expected: { status: 'failed' },
  },
  {
    title: 'a pipe as an output fails its task alone, and nobody waits for its reader',
    command: 'mkfifo out',
    outputs: ['out'],
    expected: { status: 'failed' },
  },
  {
    title: "a link out of the task's folder as an output fails its task alone",
    command: 'ln -s /etc/passwd out',
    outputs: ['out'],
    expected: { status: 'failed', reason: 'MUT_PATH_ESCAPES' },
  },
  {
    title: 'a tree deeper than the longest path as an output fails its task alone, or comes home',
    command:
      'mkdir res; ' +
      `${perl('chdir "res"; for (1..2500) { mkdir "d" or die $!; chdir "d" or die $! } open my $f, ">", "f";')}`,
    outputs: ['res'],
    expected: { status: 'failed' },
  },
  {
    title: 'a program reads its inputs under the names that the user gave them',
    command: 'cat "in put" ./-n ./é',
    inputs: { 'in put': 'one\n', '-n': 'two\n', é: 'three\n' },
    expected: { status: 'finished', standardOutput: 'one\ntwo\nthree\n' },
  },
];
