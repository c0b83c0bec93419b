/** A command line of GNU parallel, most of them from its manual, and what it must do. */
export interface ParallelCase {
  readonly title: string;
  /** For bash, in an empty folder. */
  readonly script: string;
  readonly stdout: string;
  readonly status: number;
}

/** What `mutirao parallel` and GNU parallel do alike. */
export const parallelCases: readonly ParallelCase[] = [
  {
    title: 'every combination of two sources, the first slowest',
    script: 'parallel -k echo {1} {2} ::: M L ::: Green Red',
    stdout: 'M Green\nM Red\nL Green\nL Red\n',
    status: 0,
  },
  {
    title: 'linked sources end with the shorter one, and --link repeats it',
    script: 'parallel -k echo {1}{2} ::: a b c :::+ x y; parallel -k --link echo {1}{2} ::: a b c ::: x y',
    stdout: 'ax\nby\nax\nby\ncx\n',
    status: 0,
  },
  {
    title: 'replacement strings of files',
    script: "parallel -k echo {} {.} {/} {//} {/.} {#} ::: A/B.C 'a b/c d.e.f'",
    stdout: 'A/B.C A/B B.C A B 1\na b/c d.e.f a b/c d.e c d.e.f a b c d.e 2\n',
    status: 0,
  },
  {
    title: 'positions from the front and the end, with parts',
    script: 'parallel echo {-1} {2.} {1/} {1//} {1/.} ::: /d/a.b.c ::: x.tar.gz',
    stdout: 'x.tar.gz x.tar a.b.c /d a.b\n',
    status: 0,
  },
  {
    title: 'lines of standard input, from files and from a pipe in NULs',
    script:
      "printf 'a b\\nc\\n' | parallel -k echo; printf 'x\\n' > f; parallel -a f echo; parallel echo :::: f; printf 'p\\0q r\\0' | parallel -0 -k echo",
    stdout: 'a b\nc\nx\nx\np\nq r\n',
    status: 0,
  },
  {
    title: 'lines that are commands',
    script: "printf 'echo 1 | tr 1 2\\nexit 3\\n' | parallel -k",
    stdout: '2\n',
    status: 1,
  },
  {
    title: 'columns, with names in the first line',
    script: "printf 'f1,f2\\nA,B\\nC,D\\n' > t.csv; parallel -k --colsep , --header : echo {f2}-{f1} :::: t.csv",
    stdout: 'B-A\nD-C\n',
    status: 0,
  },
  {
    title: 'several arguments of a job',
    script: "parallel -k -N2 echo '{1}-{2}' ::: a b c; parallel -k -n2 echo ::: a b c; parallel -k -N0 echo hi ::: 1 2",
    stdout: 'a-b\nc-\na b\nc\nhi\nhi\n',
    status: 0,
  },
  {
    title: 'arguments that a shell would read',
    script: "parallel -k echo {} ::: 'it'\"'\"'s' '$HOME' 'a;b' '`id`' '*'",
    stdout: "it's\n$HOME\na;b\n`id`\n*\n",
    status: 0,
  },
  {
    title: 'tags before each line, and functions that bash exports',
    script: 'doit() { echo "Doing $1"; }; export -f doit; SHELL=/bin/bash; parallel -k --tag doit ::: 1 2',
    stdout: '1\tDoing 1\n2\tDoing 2\n',
    status: 0,
  },
  { title: 'the number of failed jobs', script: "parallel 'exit {}' ::: 0 1 2 0 3", stdout: '', status: 3 },
  {
    title: 'an end at the first failure, with its status',
    script: "parallel -j1 --halt now,fail=1 'exit {}' ::: 0 7 1 1 2> /dev/null",
    stdout: '',
    status: 7,
  },
  {
    title: 'a joblog with a job that a limit ended, and its resumption',
    script:
      "parallel -j2 --timeout 1 --joblog log 'sleep {}; exit {}' ::: 0 9 2> /dev/null; cut -f1,7,8 log | sort; " +
      'parallel --joblog log --resume-failed echo again {} ::: 0 9; wc -l < log',
    stdout: '1\t0\t0\n2\t-1\t15\nSeq\tExitval\tSignal\nagain 9\n4\n',
    status: 0,
  },
  {
    title: 'results in folders',
    script:
      "parallel --results out 'echo {1}; echo {2} >&2' ::: a ::: b/c 2> /dev/null; find out -type f | sort; cat out/1/a/2/*/stderr",
    stdout: 'out/1/a/2/b\\_c/seq\nout/1/a/2/b\\_c/stderr\nout/1/a/2/b\\_c/stdout\nb/c\n',
    status: 0,
  },
  {
    title: 'commands that are printed and not run',
    script: "parallel -k --dry-run 'gzip {} > {.}.gz' ::: a.txt 'b c.txt'; ls",
    stdout: "gzip a.txt > a.gz\ngzip 'b c.txt' > 'b c'.gz\n",
    status: 0,
  },
  {
    title: 'a number of its slot for each job',
    script: "parallel -j1 -k echo {%} '$PARALLEL_JOBSLOT' ::: a b",
    stdout: '1 1\n1 1\n',
    status: 0,
  },
];
