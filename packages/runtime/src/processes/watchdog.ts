import { spawn, type ChildProcess } from 'node:child_process';

/**
 * Reads lines `+GROUP` and `-GROUP`; at the end of its input it kills the groups that are left. The end comes when the process
 * that holds the other end of the pipe dies, however it dies. Signals meant for that process do not end it.
 */
const script = `
trap '' HUP INT QUIT TERM PIPE
groups=' '
while read -r line; do
  group=\${line#?}
  case $line in
    +*) groups="$groups$group " ;;
    -*) case $groups in *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;; esac ;;
  esac
done
for group in $groups; do kill -9 "-$group"; done
`;

/**
 * Ends process groups when we die, also by kill -9: a small shell in a session of its own that reads a pipe from us.
 *
 * Guard a group before it does anything; release it when it is empty, since numbers are used again.
 */
export class Watchdog {
  private child: ChildProcess | undefined;
  private readonly groups = new Set<number>();
  private closed = false;

  constructor() {
    this.child = this.start();
  }

  /** The watching process; undefined when it could not be started. */
  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Has the group killed when we die. Written to the pipe before it returns, unless the pipe is full. */
  guard(pgid: number): void {
    this.groups.add(pgid);
    this.child?.stdin?.write(`+${pgid}\n`);
  }

  /** Forgets a group. */
  release(pgid: number): void {
    if (this.groups.delete(pgid)) this.child?.stdin?.write(`-${pgid}\n`);
  }

  /** Kills all guarded groups now and ends the watching process. */
  close(): void {
    this.closed = true;
    this.child?.stdin?.end();
  }

  private start(): ChildProcess {
    const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], cwd: '/' });
    child.on('error', () => undefined); // Not started: `exit` does not follow, and groups are then unguarded.
    child.stdin.on('error', () => undefined);
    child.once('exit', () => { this.replace(); });
    child.unref();
    const pipe = child.stdin;
    if ('unref' in pipe && typeof pipe.unref === 'function') pipe.unref();
    return child;
  }

  /** Somebody killed it: another one takes over the groups. */
  private replace(): void {
    if (this.closed) return;
    this.child = this.start();
    for (const pgid of this.groups) this.child.stdin?.write(`+${pgid}\n`);
  }
}
