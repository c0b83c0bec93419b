import { perl, type WorldCase } from './world-case.ts';

/** What people start as programs, and how programs end. */
export const programCases: readonly WorldCase[] = [
  {
    title: 'a script without a first line for the system runs in a shell',
    command: './script one',
    inputs: { script: { content: 'echo "got $1"\n', mode: 0o755 } },
    expected: { status: 'finished', standardOutput: 'got one\n' },
  },
  {
    title: 'a script whose lines end as on Windows fails alone, and says why',
    command: './script',
    inputs: { script: { content: '#!/bin/sh\r\necho hi\r\n', mode: 0o755 } },
    expected: { status: 'failed', exitStatus: 127, standardError: /not found|No such file|bad interpreter/ },
  },
  {
    title: 'a script whose interpreter is not there fails alone, and says why',
    command: './script',
    inputs: { script: { content: '#!/nowhere/python9\nprint(1)\n', mode: 0o755 } },
    expected: { status: 'failed', exitStatus: 127, standardError: /not found|No such file|bad interpreter/ },
  },
  {
    title: 'a file without the right to run fails alone with 126',
    command: './script',
    inputs: { script: { content: '#!/bin/sh\necho hi\n', mode: 0o644 } },
    expected: { status: 'failed', exitStatus: 126, standardError: /ermission denied/ },
  },
  {
    title: 'a folder in place of a program fails alone with 126',
    command: './sub',
    inputs: { 'sub/file': { content: 'x' } },
    expected: { status: 'failed', exitStatus: 126 },
  },
  {
    title: 'a program that is not there fails alone with 127',
    command: './gone',
    expected: { status: 'failed', exitStatus: 127 },
  },
  {
    title: 'a file of random bytes in place of a program fails alone',
    command: './binary',
    inputs: { binary: { content: '\u0001\u0002\u0000\u0003rubbish', mode: 0o755 } },
    expected: { status: 'failed' },
  },
  {
    title: 'an empty file as a program finishes as in a shell',
    command: './empty',
    inputs: { empty: { content: '', mode: 0o755 } },
    expected: { status: 'finished', standardOutput: '' },
  },
  {
    title: 'a program with the bit of another account runs',
    command: 'cp /bin/echo own; chmod 4755 own; ./own hi',
    expected: { status: 'finished', standardOutput: 'hi\n' },
  },
  {
    title: 'thirty thousand arguments arrive',
    command: 'set -- $(seq 1 30000); /bin/echo "$@" | wc -w',
    expected: { status: 'finished', standardOutput: /^\s*30000\n$/ },
  },
  {
    title: 'a command of 100 KB runs',
    command: `: ${'x'.repeat(100_000)}; echo done`,
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'a command of many lines runs them all',
    command: 'if true\nthen\n  echo one # a comment\nfi\ncat <<END\ntwo\nEND\necho three',
    expected: { status: 'finished', standardOutput: 'one\ntwo\nthree\n' },
  },
  {
    title: 'a file that grows beyond its limit ends its writer alone',
    command: 'ulimit -f 1; head -c 100000 /dev/zero > large; echo "ended with $?"',
    expected: { status: 'finished', standardOutput: 'ended with 153\n' },
  },
  {
    title: 'a task that uses up its time of the processor fails with that signal',
    command: 'ulimit -S -t 1; exec perl -e "1 while 1"',
    expected: { status: 'failed', exitStatus: 152 },
  },
  {
    title: 'a task that breaks into foreign memory fails with that signal',
    command: 'ulimit -c 0; kill -SEGV $$',
    expected: { status: 'failed', exitStatus: 139 },
  },
  {
    title: 'a task that ends by a signal of real time fails with it',
    command: perl('kill 34, $$; sleep 5'),
    expected: { status: 'failed', exitStatus: 162 },
  },
  {
    title: 'an exit status beyond one byte is cut as in a shell',
    command: perl('exit 256 + 3'),
    expected: { status: 'failed', exitStatus: 3 },
  },
  {
    title: 'a task that sets a small limit on memory for itself fails by it alone',
    command: `ulimit -v 100000; ${perl('my $x = "x" x 300_000_000; print "no\\n"')}`,
    expected: { status: 'failed', standardOutput: '' },
  },
  {
    title: 'a task that waits for itself in a pipe is ended at its time limit',
    command: 'mkfifo p; cat p > p',
    runTimeMax: 1500,
    expected: { status: 'failed', reason: 'MUT_RUN_TIME_MAX' },
  },
  {
    title: 'a task whose child holds its output ends when it ends itself',
    command: 'nohup sleep 600 & sleep 600 & echo own',
    runTimeMax: 60_000,
    expected: { status: 'finished', standardOutput: 'own\n' },
  },
  {
    title: 'a task that kills what started it fails alone',
    command: 'echo own; kill -9 $PPID; sleep 0.1',
    count: 2,
    expected: { status: 'failed', standardOutput: 'own\n' },
  },
  {
    title: 'a command with an unclosed quote fails alone',
    command: 'echo "unclosed',
    expected: { status: 'failed', exitStatus: 2 },
  },
  {
    title: 'a task that replaces itself by another program ends with the status of that',
    command: 'exec sh -c "exit 5"',
    expected: { status: 'failed', exitStatus: 5 },
  },
  {
    title: 'a task may change to its parent folders and back',
    command: 'here=$PWD; cd ..; cd /; cd "$here"; test "$PWD" = "$(pwd -P)" && echo same',
    expected: { status: 'finished', standardOutput: 'same\n' },
  },
];
