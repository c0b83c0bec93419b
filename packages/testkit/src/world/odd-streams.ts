import { perl, type WorldCase } from './world-case.ts';

const line400k = 'x'.repeat(400_000);

/** Streams that are duplicated, taken from elsewhere, filled or left in an odd state. */
export const oddStreamCases: readonly WorldCase[] = [
  {
    title: 'output through a duplicate of a closed stream comes home',
    command: 'exec 3>&1 1>&-; echo three >&3; (echo four >&3) ; exec 1>&3; echo five',
    expected: { status: 'finished', standardOutput: 'three\nfour\nfive\n' },
  },
  {
    // In its own task it does what it does to a pipe in a shell: who writes faster than it is read meets an error.
    title: 'a program that makes its output non-blocking costs the tasks after it nothing',
    command:
      `${perl('use Fcntl; exit unless {} % 2; fcntl(STDOUT, F_SETFL, fcntl(STDOUT, F_GETFL, 0) | O_NONBLOCK) or die;')}; ` +
      'test $(({} % 2)) = 1 && exit; seq 1 60000 | tail -50000',
    count: 6,
    expected: { status: 'finished', standardOutput: /^(?:10001\n[^]*\n60000\n)?$/ },
  },
  {
    title: 'a line of 400 KB without its end comes home',
    command: perl('print "x" x 400_000'),
    expected: { status: 'finished', standardOutput: line400k },
  },
  {
    title: 'of a line of 10 MB both ends are kept',
    command: perl('print "begin", "x" x 10_000_000, "end"'),
    expected: { status: 'finished', standardOutput: /^begin[^]*end$/ },
  },
  {
    title: 'zero bytes come home',
    command: 'printf "a\\0b\\0\\0"; head -c 100 /dev/zero >&2',
    expected: { status: 'finished', standardOutput: 'a\0b\0\0', standardError: '\0'.repeat(100) },
  },
  {
    title: 'what was printed after the task has ended is left out or in its own output',
    command: '(sleep 0.3; echo own-{}) & echo own-{}',
    count: 8,
    expected: { status: 'finished', standardOutput: /^own-VALUE\n(own-VALUE\n)?$/ },
  },
  {
    title: "a task that writes to its parent's streams changes nobody's output",
    command: 'echo sneaky 2>/dev/null > /proc/$PPID/fd/1; echo sneaky 2>/dev/null > /proc/$PPID/fd/2; echo own-{}',
    count: 4,
    expected: { status: 'finished', standardOutput: /^(sneaky\n){0,2}own-VALUE\n$/ },
  },
  {
    title: 'a task that reads the input of its parent takes nothing from it',
    command: 'timeout 0.3 cat /proc/$PPID/fd/0 > /dev/null 2>&1; echo own-{}',
    count: 4,
    expected: { status: 'finished', standardOutput: 'own-VALUE\n'.replace('VALUE', '{}') },
  },
  {
    title: 'a task that closes its error stream and prints there finishes',
    command: 'exec 2>&-; echo lost >&2; echo kept',
    expected: { status: 'finished', standardOutput: 'kept\n' },
  },
  {
    title: 'a stream that was closed and opened again on a file leaves the others',
    command: 'exec 1>&-; exec 1> file; echo into file; cat file >&2',
    expected: { status: 'finished', standardOutput: '', standardError: 'into file\n' },
  },
  {
    title: 'a full device is the error of the program that writes to it',
    command: 'echo x > /dev/full; echo "ended with $?"',
    expected: { status: 'finished', standardOutput: /^ended with [12]\n$/ },
  },
  {
    title: 'reading its own output ends at once or fails',
    command: 'timeout 2 cat <&1 > /dev/null; echo read',
    runTimeMax: 20_000,
    expected: { status: 'finished', standardOutput: 'read\n' },
  },
  {
    title: 'a stream may be cut, moved or sought in without harm to the next task',
    command: perl('truncate(STDOUT, 0); seek(STDOUT, 0, 0); $| = 1; print "own-{}\\n";'),
    count: 4,
    expected: { status: 'finished', standardOutput: 'own-{}\n' },
  },
];
