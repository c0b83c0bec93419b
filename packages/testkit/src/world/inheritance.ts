import { perl, type WorldCase } from './world-case.ts';

/** What a task finds when it starts: signals, limits, descriptors and folders as from a login shell. */
export const inheritanceCases: readonly WorldCase[] = [
  {
    title: 'a task starts with no signal ignored or blocked',
    command: 'grep -E "Sig(Blk|Ign)" /proc/self/status',
    expected: { status: 'finished', standardOutput: 'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n' },
  },
  {
    title: 'a pipe whose reader has left ends its writer',
    command: '(yes; echo "yes ended with $?" >&2) | head -1',
    expected: { status: 'finished', standardOutput: 'y\n', standardError: 'yes ended with 141\n' },
  },
  {
    title: 'a task starts with its three streams open',
    command: perl(
      'opendir my $d, "/proc/self/fd"; print join(" ", sort { $a <=> $b } grep { /[0-9]/ } readdir $d), "\\n"',
    ),
    expected: { status: 'finished', standardOutput: /^0 1 2 3(?: \d+)*\n$/ },
  },
  {
    title: 'the limit on open files is one that programs expect',
    command: 'test "$(ulimit -Sn)" -le 65536 && test "$(ulimit -Sn)" -ge 256 && echo fine',
    expected: { status: 'finished', standardOutput: 'fine\n' },
  },
  {
    title: 'temporary files have a place',
    command: 'f=$(mktemp) && echo x > "$f" && cat "$f" && rm "$f"',
    expected: { status: 'finished', standardOutput: 'x\n' },
  },
  {
    title: 'the environment of a task has no credential',
    command: 'env | grep -iE "token|secret|credential|password" | cut -d= -f1; echo done',
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'values of the environment may have newlines, quotes and code in them',
    command: 'printf "%s|" "$LINES_OF" "$QUOTED" "$EMPTY"',
    environment: { LINES_OF: 'one\ntwo\n', QUOTED: `'"\`$(echo no)\\`, EMPTY: '' },
    expected: { status: 'finished', standardOutput: `one\ntwo\n|'"\`$(echo no)\\||` },
  },
  {
    title: 'a value of the environment of 100 KB arrives',
    command: 'printf %s "$LARGE" | wc -c',
    environment: { LARGE: 'x'.repeat(100_000) },
    expected: { status: 'finished', standardOutput: /^\s*100000\n$/ },
  },
  {
    title: 'a task may clear locale and terminal',
    command: 'unset LANG LC_ALL TERM; printf "\\303\\251\\n"; tput cols 2>/dev/null; echo done',
    expected: { status: 'finished', standardOutput: /done\n$/ },
  },
  {
    title: 'a task has no controlling terminal, and is not stopped for want of one',
    command: '(cat /dev/tty; stty -a < /dev/tty; echo x > /dev/tty) 2>/dev/null; echo done',
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'a program that wants a terminal can make one',
    command: 'script -qec "test -t 0 && test -t 1 && echo in a terminal" /dev/null < /dev/null',
    expected: { status: 'finished', standardOutput: /in a terminal\r?\n/ },
  },
  {
    title: 'a background job that asks the terminal is not stopped for ever',
    command: perl('use POSIX; setpgid(0, 0); tcsetpgrp(0, getpgrp()); kill "TTOU", $$ if 0; print "done\\n";'),
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
];
