import { perl, type WorldCase } from './world-case.ts';

/** Outputs that are links, devices, locked, or named in ways that other systems fold. */
export const oddOutputCases: readonly WorldCase[] = [
  {
    title: 'a link to nothing as an output fails its task alone',
    command: 'ln -s nowhere out',
    outputs: ['out'],
    expected: { status: 'failed', reason: 'MUT_PATH_ESCAPES' },
  },
  {
    title: 'links in a circle as an output fail their task alone',
    command: 'ln -s b a; ln -s a b',
    outputs: ['a'],
    expected: { status: 'failed' },
  },
  {
    title: 'an absolute link within the folder of the task comes home',
    command: 'echo data > real; ln -s "$PWD/real" out',
    outputs: ['out'],
    expected: { status: 'finished', files: { out: 'data\n' } },
  },
  {
    title: 'an endless device as an output fails its task alone, and at once',
    command: 'ln -s /dev/zero out',
    outputs: ['out'],
    expected: { status: 'failed' },
  },
  {
    title: 'an endless device in a folder of outputs fails its task alone, and at once',
    command: 'mkdir res; echo x > res/x; ln -s /dev/zero res/zero',
    outputs: ['res'],
    expected: { status: 'failed' },
  },
  {
    title: 'a device of its own as an output fails its task alone',
    command: 'mknod out c 1 5',
    outputs: ['out'],
    account: 'root',
    expected: { status: 'failed' },
  },
  {
    title: 'a socket as an output fails its task alone',
    command: perl('use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0); bind($s, sockaddr_un("out")) or die $!;'),
    outputs: ['out'],
    expected: { status: 'failed' },
  },
  {
    title: 'a pipe in a folder of outputs fails its task alone',
    command: 'mkdir res; echo x > res/x; mkfifo res/pipe',
    outputs: ['res'],
    expected: { status: 'failed' },
  },
  {
    title: 'an output without any right comes home where the account may read it',
    command: 'echo data > out; chmod 000 out',
    outputs: ['out'],
    account: 'root',
    expected: { status: 'finished' },
  },
  {
    title: 'an output without any right fails its task alone',
    command: 'echo data > out; chmod 000 out',
    outputs: ['out'],
    account: 'ordinary',
    expected: { status: 'failed', reason: 'MUT_OUTPUT_UNREADABLE' },
  },
  {
    title: 'a folder without any right among outputs fails its task alone',
    command: 'mkdir -p res/a; echo data > res/a/f; chmod 000 res/a',
    outputs: ['res'],
    account: 'ordinary',
    expected: { status: 'failed', reason: 'MUT_OUTPUT_UNREADABLE' },
  },
  {
    title: 'a folder without any right among outputs comes home where the account may read it',
    command: 'mkdir -p res/a; echo data > res/a/f; chmod 000 res/a',
    outputs: ['res'],
    account: 'root',
    expected: { status: 'finished', files: { 'res/a/f': 'data\n' } },
  },
  {
    title: 'names that differ in case or composition alone come home each',
    command: 'mkdir res; printf A > res/A; printf a > res/a; printf 1 > "res/\u00e9"; printf 2 > "res/e\u0301"',
    outputs: ['res'],
    expected: {
      status: 'finished',
      files: { 'res/A': 'A', 'res/a': 'a', 'res/\xc3\xa9': '1', 'res/e\xcc\x81': '2' },
    },
  },
  {
    title: 'outputs may be named with a newline, a blank, a dash or a star',
    command: 'echo 1 > "./-o"; echo 2 > "a b"; echo 3 > "c\nd"; echo 4 > "*"; echo 5 > "{x}"',
    outputs: ['-o', 'a b', 'c\nd', '*', '{x}'],
    expected: { status: 'finished', files: { '-o': '1\n', 'a b': '2\n', 'c\nd': '3\n', '*': '4\n', '{x}': '5\n' } },
  },
  {
    title: 'an empty file and a folder with an empty file come home',
    command: ': > out; mkdir -p res/empty; : > res/empty/f',
    outputs: ['out', 'res'],
    expected: { status: 'finished', files: { out: '', 'res/empty/f': '' } },
  },
  {
    title: 'an output that is an input by another name comes home whole',
    command: 'ln in out; echo more >> out',
    inputs: { in: { content: 'data\n' } },
    outputs: ['out'],
    expected: { status: 'finished', files: { out: 'data\nmore\n' } },
  },
  {
    title: 'an output with extended attributes comes home',
    command: `echo data > out; python3 -c 'import os; os.setxattr("out", "user.x", b"y" * 1000)' 2>/dev/null; true`,
    outputs: ['out'],
    expected: { status: 'finished', files: { out: 'data\n' } },
  },
  {
    title: 'an output that is being written to when the task ends comes home as it was hashed',
    command:
      perl('exit 0 unless fork; open my $f, ">", "out"; $f->autoflush(1); for (1..40000) { print $f "line\\n" }') +
      ' & sleep 0.05; test -e out',
    outputs: ['out'],
    count: 4,
    expected: { status: 'finished' },
  },
  {
    title: 'a folder that is its own parent by a link among outputs fails or comes home, and ends',
    command: 'mkdir res; echo x > res/x; ln -s . res/self; ln -s .. res/up',
    outputs: ['res'],
    expected: { status: 'failed' },
  },
  {
    title: 'a hundred nested folders come home',
    command: 'd=res; i=0; while [ $i -lt 100 ]; do d=$d/d; i=$((i+1)); done; mkdir -p $d; echo deep > $d/f',
    outputs: ['res'],
    expected: { status: 'finished', files: { [`res${'/d'.repeat(100)}/f`]: 'deep\n' } },
  },
  {
    title: 'a large hole as an output comes home, and quickly',
    command: 'truncate -s 2G out',
    outputs: ['out'],
    expected: { status: 'finished' },
  },
  {
    title: 'a name of 255 bytes of letters of two bytes comes home',
    command: `: > ${'\u00e9'.repeat(127)}x`,
    outputs: [`${'\u00e9'.repeat(127)}x`],
    expected: { status: 'finished' },
  },
  {
    title: 'a file where a folder was announced with a slash comes home',
    command: 'echo x > out',
    outputs: ['out/'],
    expected: { status: 'finished', files: { 'out/out': 'x\n' } },
  },
];
