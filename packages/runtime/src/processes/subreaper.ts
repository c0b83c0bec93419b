import { readFileSync } from 'node:fs';

/** What to put before a command so that it becomes the parent of all its orphaned descendants. */
export type SubreaperPrefix = readonly string[];

/** `prctl` by the numbers of Linux on each processor, which Perl's `syscall` needs. */
const prctlNumbers: Readonly<Partial<Record<NodeJS.Architecture, number>>> = {
  x64: 157,
  arm64: 167,
  riscv64: 167,
  loong64: 167,
  ppc64: 171,
  s390x: 172,
  ia32: 172,
  arm: 172,
};

/**
 * Lists ways to become a subreaper, in the order in which they are worth trying.
 *
 * Node has no `prctl`, but the setting outlasts `exec`: a small program of the host sets it and becomes the command.
 * Each ends with 126 where it cannot.
 */
export function listSubreaperPrefixes(): SubreaperPrefix[] {
  const number = prctlNumbers[process.arch];
  const perl =
    number === undefined
      ? []
      : [
          [
            '/usr/bin/perl',
            '-e',
            `syscall(${number}, 36, 1, 0, 0, 0) == 0 or exit 126; exec { $ARGV[0] } @ARGV; exit 127`,
            '--',
          ],
        ];
  // Python ignores SIGPIPE, and what is ignored stays so.
  const script =
    'import ctypes, os, signal, sys\n' +
    'if ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) != 0: sys.exit(126)\n' +
    'signal.signal(signal.SIGPIPE, signal.SIG_DFL)\nos.execv(sys.argv[1], sys.argv[1:])';
  return [
    ...perl,
    ...['/usr/bin/python3', '/usr/libexec/platform-python'].map((program) => [program, '-I', '-S', '-c', script]),
  ];
}

/** The children of a process, zombies among them; undefined where that cannot be known. */
export function readChildren(pid: number): number[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
      .split(' ')
      .filter((word) => word !== '')
      .map(Number);
  } catch {
    return undefined;
  }
}

/** All descendants of a process that it can still be found by, parents before children. */
export function listDescendants(pid: number): number[] {
  const found = [...(readChildren(pid) ?? [])];
  for (const child of found) found.push(...(readChildren(child) ?? []));
  return found;
}
