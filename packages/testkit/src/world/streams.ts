import { perl, type WorldCase } from './world-case.ts';

const allBytes = String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte));

/** Programs that treat their standard streams in ways that terminals and pipes allow. */
export const streamCases: readonly WorldCase[] = [
  {
    title: 'a line printed to /dev/stdout stands between the lines around it',
    command: 'echo one; echo two > /dev/stdout; echo three',
    expected: { status: 'finished', standardOutput: 'one\ntwo\nthree\n' },
  },
  {
    title: 'a program that opens /proc/self/fd/1 for writing loses nothing',
    command: 'echo one; echo two > /proc/self/fd/1; cat /etc/hostname > /dev/null; echo three >> /dev/fd/1',
    expected: { status: 'finished', standardOutput: 'one\ntwo\nthree\n' },
  },
  {
    title: 'tee to /dev/stderr leaves both streams whole',
    command: 'echo first >&2; echo one; echo both | tee /dev/stderr; echo last >&2; echo three',
    expected: { status: 'finished', standardOutput: 'one\nboth\nthree\n', standardError: 'first\nboth\nlast\n' },
  },
  {
    title: 'a Perl program that opens both streams again appends to them',
    command:
      'echo one; ' +
      `${perl('open(my $o, ">", "/dev/stdout") or die $!; print $o "two\\n"; open(my $e, ">", "/dev/stderr") or die $!; print $e "err\\n";')}; ` +
      'echo three; echo end >&2',
    expected: { status: 'finished', standardOutput: 'one\ntwo\nthree\n', standardError: 'err\nend\n' },
  },
  {
    title: 'both streams on one descriptor keep the order of their lines',
    command: 'exec 2>&1; for i in 1 2 3; do echo out$i; echo err$i >&2; done',
    expected: { status: 'finished', standardOutput: 'out1\nerr1\nout2\nerr2\nout3\nerr3\n', standardError: '' },
  },
  {
    title: 'a task that closes its output ends with its own status',
    command: 'exec >&-; exit 3',
    expected: { status: 'failed', exitStatus: 3, standardOutput: '' },
  },
  {
    title: 'a task that closes all its streams finishes',
    command: 'exec 0<&- 1>&- 2>&-; true',
    expected: { status: 'finished', standardOutput: '', standardError: '' },
  },
  {
    title: 'every byte comes home as it was printed',
    command: perl('binmode STDOUT; print map { chr } 0..255;'),
    expected: { status: 'finished', standardOutput: allBytes },
  },
  {
    title: 'a last line without its end comes home as it is',
    command: 'printf abc; printf def >&2',
    expected: { status: 'finished', standardOutput: 'abc', standardError: 'def' },
  },
  {
    title: 'standard input is at its end',
    command: 'cat; echo done',
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'the beginning and the end of a long output are kept',
    command: perl(
      'print "begin\\n"; for my $i (1..400000) { print "line $i\\n" } print "end\\n"; print STDERR "x" x 79, ' +
        '"\\n" for 1..50000; print STDERR "the error\\n"; exit 4;',
    ),
    expected: {
      status: 'failed',
      exitStatus: 4,
      standardOutput: /^begin\nline 1\n[^]*\nline 400000\nend\n$/,
      standardError: /^x{79}\n[^]*\nthe error\n$/,
    },
  },
  {
    title: 'lines of two programs that share a stream are not torn',
    command: perl(
      '$| = 1; for my $who ("a", "b") { next if fork; for (1..200) { syswrite STDOUT, ($who x 63) . "\\n" } ' +
        'exit } wait; wait;',
    ),
    expected: { status: 'finished', standardOutput: /^(?:a{63}\n|b{63}\n){400}$/ },
  },
];
