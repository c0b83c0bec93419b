import { perl, type WorldCase } from './world-case.ts';

/** What tasks do to the folder that they run in, and to those around it. */
export const folderCases: readonly WorldCase[] = [
  {
    title: 'a tree that was made read-only, as Go makes its module cache, is removed',
    command: 'mkdir -p go/pkg/mod/x@v1; echo code > go/pkg/mod/x@v1/f; chmod -R a-w go; echo done',
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'a task may take all rights from its own folder',
    command: 'mkdir -p a/b; echo x > a/b/c; chmod 000 a/b a; chmod {}00 .; echo done',
    count: 8,
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'a task may make its own folder read-only',
    command: 'echo x > kept; chmod 555 .; echo done',
    count: 4,
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'a task may remove the folder that it runs in',
    command: 'here=$(pwd -P); cd /; rm -rf "$here"; echo done',
    count: 2,
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'a task may put a file where its folder was',
    command: 'here=$(pwd -P); cd /; rm -rf "$here"; echo x > "$here"; echo done',
    count: 2,
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: "what a link in place of a task's folder points to is left alone",
    command:
      'here=$(pwd -P); mkdir "$here.kept"; echo precious > "$here.kept/file"; cd /; rm -rf "$here"; ln -s ' +
      '"$here.kept" "$here"; cat "$here/file"; sleep 0.1; cat "$here.kept/file"',
    expected: { status: 'finished', standardOutput: 'precious\nprecious\n' },
  },
  {
    title: 'a task may remove the storage of its user, and the next one finds one',
    command: 'rm -rf "$STORAGE"; echo done',
    count: 2,
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'storage is there for each task, whatever others did to it',
    command: 'test -d "$STORAGE" && echo x > "$STORAGE/mine-{}" && cat "$STORAGE/mine-{}"',
    expected: { status: 'finished', standardOutput: 'x\n' },
  },
  {
    title: 'a tree far deeper than the longest path is removed',
    command: `${perl('for (1..3000) { mkdir "d" or die $!; chdir "d" or die $! }')}; echo done`,
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'pipes, sockets and holes in a folder hurt nobody',
    command:
      'mkfifo pipe; ' +
      `${perl('use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0); bind($s, sockaddr_un("socket")) or die $!;')}; ` +
      'truncate -s 100G hole; ln -s loop loop; ln -s / root; echo done',
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
  {
    title: 'a task may leave a process that fills its folder while it is removed',
    command:
      `${perl('exit if fork; for (my $i = 0; ; $i++) { mkdir "x$i"; open my $f, ">", "x$i/f" }')}; sleep 0.05; ` +
      'echo done',
    count: 2,
    expected: { status: 'finished', standardOutput: 'done\n' },
  },
];
