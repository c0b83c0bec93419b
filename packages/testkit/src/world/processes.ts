import { perl, type WorldCase } from './world-case.ts';

const mebibyte = 1024 * 1024;
/** On a busy machine a task may run long enough to meet its own leftover; it never meets another task's. */
const ownOutput = /^own-VALUE\n(?:GHOST-VALUE\n)?$/;

/** Programs that start, leave, signal or stop processes in ways that surprise a batch system. */
export const processCases: readonly WorldCase[] = [
  {
    title: 'what a task leaves in the background writes into no other output',
    command: '(sleep 0.4; echo GHOST-{}; echo GHOST-{} >&2) & echo own-{}; echo err-{} >&2; sleep 0.05',
    count: 16,
    expected: { status: 'finished', standardOutput: ownOutput, standardError: /^err-VALUE\n(?:GHOST-VALUE\n)?$/ },
  },
  {
    title: 'a process in a session of its own writes into no other output',
    command: 'setsid sh -c "sleep 0.4; echo GHOST-{}" & echo own-{}; sleep 0.05',
    count: 8,
    expected: { status: 'finished', standardOutput: ownOutput },
  },
  {
    title: 'a daemon that forked twice is ended with its task',
    command:
      `${perl('use POSIX; exit if fork; setsid; exit if fork; chdir "/"; sleep 1; print "GHOST-{}\\n"; sleep 1000;')} ` +
      '& wait; echo own-{}',
    count: 4,
    expected: { status: 'finished', standardOutput: ownOutput },
  },
  {
    title: 'a process that writes another title over its own is ended with its task',
    command: `${perl('exit if fork; $0 = "x" x 4000; sleep 1; print "GHOST-{}\\n"; sleep 1000;')}; echo own-{}`,
    count: 4,
    expected: { status: 'finished', standardOutput: ownOutput },
  },
  {
    title: 'a task may leave children that nobody waits for',
    command: perl('for (1..50) { exit 0 unless fork } select undef, undef, undef, 0.1; print "parent\\n";'),
    expected: { status: 'finished', standardOutput: 'parent\n' },
  },
  {
    title: 'an exit status of 137 is one',
    command: 'exit 137',
    expected: { status: 'failed', exitStatus: 137 },
  },
  {
    title: 'a task that kills itself fails, and its machine goes on',
    command: 'echo before; kill -9 $$',
    expected: { status: 'failed', reason: 'MUT_COMMAND_FAILED', standardOutput: 'before\n' },
  },
  {
    title: 'a task that signals its whole group fails alone',
    command: 'echo before; kill -TERM 0; sleep 0.2; echo after',
    expected: { status: 'failed', standardOutput: /^before\n/ },
  },
  {
    title: 'a task that kills its whole group fails alone',
    command: 'echo before; kill -KILL 0; sleep 5',
    expected: { status: 'failed', standardOutput: 'before\n' },
  },
  {
    title: 'a task that stops itself is ended at its time limit',
    command: 'echo before; kill -STOP $$; echo after',
    runTimeMax: 1000,
    expected: { status: 'failed', reason: 'MUT_RUN_TIME_MAX', standardOutput: 'before\n' },
  },
  {
    title: 'a task that stops what started it keeps its processor no longer than it runs',
    command: 'kill -STOP $PPID; echo own',
    count: 4,
    expected: { status: 'finished', standardOutput: 'own\n' },
  },
  {
    title: 'a task that ignores every signal is ended at its time limit',
    command:
      'trap "" HUP INT TERM USR1 USR2; ' +
      `${perl('$SIG{$_} = "IGNORE" for grep { !/KILL|STOP/ } keys %SIG; print "on\\n"; close STDOUT; sleep 1000;')}`,
    runTimeMax: 1000,
    expected: { status: 'failed', reason: 'MUT_RUN_TIME_MAX', standardOutput: 'on\n' },
  },
  {
    title: 'memory that forked children share counts once',
    command: perl(
      'my $x = "x" x (64 * 1024 * 1024); for (1..6) { unless (fork) { select undef, undef, undef, 2.5; exit } } ' +
        '1 while wait > 0; print "done\\n";',
    ),
    memoryMax: 200 * mebibyte,
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'a task that takes more memory than its limit fails with that reason',
    command: perl('my @x; for (1..400) { push @x, "x" x (1024 * 1024) } sleep 60;'),
    memoryMax: 100 * mebibyte,
    expected: { status: 'failed', reason: 'MUT_MEMORY_MAX' },
  },
  {
    title: 'limits that a task sets for itself bind nobody else',
    command: 'ulimit -n 4; ulimit -f 0; ulimit -c 0; umask 0777; echo done',
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'a task may wipe its environment and its search path',
    command: 'PATH=/nowhere; unset HOME; env=$(/usr/bin/env -i /bin/sh -c "echo inner"); echo "$env"',
    expected: { status: 'finished', standardOutput: 'inner\n' },
  },
];
