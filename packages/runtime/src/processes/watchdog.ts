import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { removedFolder } from '../files/removed-folder.ts';
import { removalProgram } from './own-program.ts';
import { withoutStrays } from './stray-descriptors.ts';

/** Holds the mark of the watchdog that ends a process. */
export const watchdogVariable = 'MUTIRAO_WATCHDOG';

/** Holds the index of the launcher that a process descends from. */
export const launcherVariable = 'MUTIRAO_LAUNCHER';

/**
 * Reads lines `+GROUP` and `-GROUP`, where a group is a number or the folder of a control group; at the end of its
 * input it kills the groups that are left, with what descends from their leaders, and then what has the mark in its
 * environment, a few times over, since what is being killed may be starting more; what belongs to another account is
 * left to a line of `MUTIRAO_SWEEP`; last it has the folder that it was given removed, by a Mutirao program that stays
 * out of what is mounted there. The end comes when the process that holds the other end of the pipe dies, however it
 * dies. Signals meant for that process do not end it.
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
descend() { for child in $(cat "/proc/$1/task/$1/children"); do echo "$child"; (descend "$child"); done; }
all=
for group in $groups; do
  case $group in /*) echo 1 >"$group/cgroup.kill"; continue ;; esac
  left=$(descend "$group")
  all="$all $left"
  kill -9 "-$group" $left
done
left=$all
[ -z "$MUTIRAO_SWEEP" ] || eval "$MUTIRAO_SWEEP"
for round in 1 2 3 4 5; do
  marked=$(grep -lsaF -- "$1" /proc/[0-9]*/environ)
  [ -n "$marked" ] || break
  for file in $marked; do pid=\${file#/proc/}; kill -9 "\${pid%/environ}"; done
done
[ -z "$2" ] && exit
[ -e "$2" ] || [ -e "$3" ] || exit
shift 3
exec "$@"
`;

/** Another account, in which some of what is watched runs. */
export interface WatchedAccount {
  /**
   * A shell line that runs under that account, kills the processes in `$left` and those with the mark, and removes
   * their files.
   */
  sweepLine(mark: string): string;
}

/**
 * Ends processes when we die, also by kill -9: a small shell in a session of its own that reads a pipe from us.
 *
 * It knows them by their groups, and by `environment` where they left their group.
 *
 * Guard a group before it does anything; release it when it is empty, since numbers are used again.
 */
export class Watchdog {
  /** No other watchdog has it. */
  readonly mark = `${process.pid}-${randomUUID()}`;
  private child: ChildProcess | undefined;
  private readonly groups = new Set<number | string>();
  private readonly folder: string;
  private readonly account: WatchedAccount | undefined;
  private closed = false;

  /** @param folder removed when we die; left out for none. @param account whose processes and folder go as well. */
  constructor(folder = '', account?: WatchedAccount) {
    this.folder = folder;
    this.account = account;
    this.child = this.start();
  }

  /** The watching process; undefined when it could not be started. */
  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** What a process has to be started with for being found, with all that it starts, outside its group. */
  get environment(): Record<string, string> {
    return { [watchdogVariable]: this.mark };
  }

  /**
   * Has the group killed when we die: a process group, or the folder of a control group. Written to the pipe before it
   * returns, unless the pipe is full.
   */
  guard(pgid: number | string): void {
    this.groups.add(pgid);
    this.child?.stdin?.write(`+${pgid}\n`);
  }

  /** Forgets a group. */
  release(pgid: number | string): void {
    if (this.groups.delete(pgid)) this.child?.stdin?.write(`-${pgid}\n`);
  }

  /** Kills all guarded groups and marked processes now, removes the folder, and ends the watching process. */
  close(): void {
    this.closed = true;
    this.child?.stdin?.end();
  }

  private start(): ChildProcess {
    // Where we are marked ourselves, it has to outlive us.
    const env = {
      ...process.env,
      [watchdogVariable]: undefined,
      [launcherVariable]: undefined,
      MUTIRAO_SWEEP: this.account?.sweepLine(this.mark),
    };
    const removal = this.folder === '' ? [] : [removedFolder(this.folder), ...removalProgram(), this.folder];
    const child = spawn('/bin/sh', ['-c', script, 'watchdog', this.mark, this.folder, ...removal], {
      detached: true,
      stdio: withoutStrays(['pipe', 'ignore', 'ignore']),
      cwd: '/',
      env,
    });
    child.on('error', () => undefined); // Not started: `exit` does not follow, and groups are then unguarded.
    child.stdin.on('error', () => undefined);
    child.once('exit', () => {
      this.replace();
    });
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
