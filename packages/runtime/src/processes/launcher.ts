import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants as systemConstants } from 'node:os';
import path from 'node:path';
import { invariant } from '@mutirao/core/shared';
import { mendFolder } from '../files/make-folder.ts';
import { AccountScript, listOfAccount } from './account-script.ts';
import { firstWords, sandboxVariable } from './bubblewrap.ts';
import { shellStatus } from './exit.ts';
import { FifoLines } from './fifo-lines.ts';
import { killGroup, killProcess } from './kill-group.ts';
import { makeFifos } from './make-fifos.ts';
import type { PipeStock } from './pipe-stock.ts';
import { readProcess } from './process-table.ts';
import { quoteWord } from './shell-words.ts';
import { signalSandboxed } from './signal-sandboxed.ts';
import { findTaskLimits } from './soft-limits.ts';
import { withoutStrays } from './stray-descriptors.ts';
import { listDescendants, readChildren, type SubreaperPrefix } from './subreaper.ts';
import type { TaskAccount } from './task-account.ts';
import { killScope, listScope, makeScope, type TaskScope, type TaskScopes } from './task-scopes.ts';
import type { StreamTail } from './kept-stream.ts';
import { openStreams, type TaskStreams } from './task-stream.ts';

/** A task for a launcher. `command`, `environment` and `exports` are shell syntax already. */
export interface LaunchTask {
  /** The folder it runs in, plain. */
  readonly folder: string;
  /** The task's own line, for where the command is too long. */
  readonly line: string;
  /** The line as a simple command, from `renderCommand`. */
  readonly command: string;
  /** Assignments for this task alone, from `renderAssignments`. */
  readonly environment: string;
  /** Assignments that stay exported until others come; meant to change seldom. */
  readonly exports: string;
  /** Bytes that are kept of each of its two streams; 512 KiB when left out. */
  readonly keptMax?: number;
  /** It leaves files that are read when it has ended: until then nothing that it started may be left. */
  readonly leavesFiles?: boolean;
  /** Redirections of a shell, for a task that has more files open than its two streams. */
  readonly redirections?: string;
  /** Words, from `sandboxLine`, that start the task in a sandbox; left out for a task without one. */
  readonly sandbox?: string;
  /** Words that keep the process whose number follows, and what it starts, to some processors; left out for any. */
  readonly pin?: string;
  /**
   * A script that becomes the task in another account, and writes to its standard input just before; left out for a
   * task of our own account.
   */
  readonly account?: string;
}

/**
 * Standard output and error of a task that ended. Of a long one head and tail are kept, with a line between them that
 * says how much is missing.
 */
export interface TaskOutput {
  readonly standardOutput: Uint8Array;
  readonly standardError: Uint8Array;
  /** Bytes it wrote to both, kept or not. */
  readonly writtenBytes: number;
  /** Whether something of either stream is missing. */
  readonly isCut: boolean;
}

/** What a task has written to its two streams so far; nothing to keep, since it is another task's later. */
export interface TaskTail {
  readonly standardOutput: StreamTail;
  readonly standardError: StreamTail;
}

/** How a task ended. */
export interface TaskExit {
  /** As a shell reports it; -1 when the task's folder could not be entered. */
  readonly status: number;
  /** The signal that is known to have ended it; a status above 128 alone does not prove one. */
  readonly signal: number | undefined;
  /** Why it could not be started, where that is known. */
  readonly trouble?: string;
  /** Processor time of all that it started, in milliseconds; left out where it ran too short to be measured. */
  readonly processorMs?: number;
}

/** What a launcher needs from those who keep it. */
export interface LauncherOptions {
  readonly index: number;
  readonly shell: string;
  /** Makes it the parent of what its tasks leave behind; undefined where the host has no way. */
  readonly subreaper: SubreaperPrefix | undefined;
  /** Undefined where no user manager makes scopes. */
  readonly scopes: TaskScopes | undefined;
  /** Undefined where no task is of another account. */
  readonly account: TaskAccount | undefined;
  /** An existing folder for its files; holds the FIFO `in-INDEX` already. */
  readonly folder: string;
  /** For the streams of its tasks. */
  readonly pipes: PipeStock;
  readonly environment: Readonly<Record<string, string>>;
  /** Where it writes a line `INDEX SEQUENCE STATUS` at the end of each task. */
  readonly status: Socket;
  /** The shell ended; only a signal or its task can have done that. What was left of its group has been killed. */
  onExit(launcher: Launcher, exit: LauncherExit): void;
}

/** The end of a launcher's shell. */
export interface LauncherExit extends TaskExit {
  /** Its group; undefined when the shell could not be started. */
  readonly pgid: number | undefined;
  readonly scope: TaskScope | undefined;
  /** Number of the task that it ran, 0 for none. */
  readonly sequence: number;
}

const { signals } = systemConstants;

/** Longest line given through the FIFO, in bytes, which takes 64 KiB without waiting for its reader. */
const lineMax = 32 * 1024;
/** Milliseconds after its launch. */
const firstLook = 5;
/** A task that runs for longer is read as it writes. */
const followAfter = 80;
const outputKeptMax = 512 * 1024;
const scratch = Buffer.allocUnsafe(4096);

/**
 * A resident shell, leader of its own process group, that runs one task at a time.
 *
 * Lines come to it through a FIFO as its script: a shell runs each as soon as it is complete, and the shell's own
 * descriptors are closed to what it starts. A task is a simple command, for which dash uses vfork; with a fork of this
 * process in its stead, tasks of a few milliseconds would take twice as long. Output goes to two pipes, which the shell
 * opens for each task: the end of file shows when nothing that the task started has them open any more.
 */
export class Launcher {
  readonly index: number;
  /** Number of the task that runs, 0 for none. */
  sequence = 0;
  /** When the task that runs was launched, in ticks of 10 ms after boot; kept by those who keep the launcher. */
  launchedTicks = 0;
  /** Of its shell; undefined where no user manager makes scopes. */
  scope: TaskScope | undefined;
  /** Whether its task, or its last one, is of another account. */
  isOfAccount = false;
  private readonly accountScript: AccountScript;
  private readonly options: LauncherOptions;
  /** Made for the first task that needs them. */
  private streams: TaskStreams | undefined;
  /** What the shell itself says on standard error: in bash also that a signal ended a task. No task writes there. */
  private readonly notes: number;
  private notesRead = 0;
  /** Of the shell, where it is a subreaper. */
  private children = -1;
  private leavesFiles = false;
  private isSandboxed = false;
  /** By `performance.now()`. */
  private launchedAt = 0;
  /** Age at which its pipes are looked at next, while they are not read as they fill. */
  private lookAt = 0;
  private isFollowed = false;
  /** Processor time of earlier tasks; undefined while that of the task that runs has not been looked at. */
  private waitedBefore: number | undefined;
  private lines: FifoLines | undefined;
  private child: ChildProcess | undefined;
  private exported = '';
  /** What its shell was last pinned by. */
  private pinned = '';

  constructor(options: LauncherOptions) {
    this.options = options;
    this.index = options.index;
    this.accountScript = new AccountScript(this.file('account'));
    this.notes = openSync(this.file('notes'), 'a+', 0o600);
    this.start();
  }

  /** Its process group; undefined when it is not running. */
  get pgid(): number | undefined {
    return this.child?.pid;
  }

  /** Whether it has a shell, or is about to have. */
  get isStarted(): boolean {
    return this.child !== undefined;
  }

  /** Starts the shell, also again after it ended. */
  start(): void {
    const fifo = this.makeFifo();
    this.sequence = 0;
    this.exported = '';
    this.pinned = '';
    // Both ways: opening waits for nobody, and the reader's end of file comes only when we are gone.
    this.lines = new FifoLines(openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK));
    const { shell, subreaper = [], scopes, folder, environment, status } = this.options;
    this.scope = scopes === undefined ? undefined : makeScope(scopes);
    const limits = findTaskLimits();
    const [program = shell, ...args] = [...(this.scope?.prefix ?? []), ...subreaper, ...limits.prefix, shell, fifo];
    const child = spawn(program, args, {
      detached: true,
      cwd: folder,
      env: { ...environment },
      stdio: withoutStrays(['ignore', status, this.notes]),
    });
    this.child = child;
    child.once('error', () => {
      this.ended(child, { status: 127, signal: undefined });
    });
    child.once('exit', (code, signal) => {
      this.ended(child, { status: shellStatus(code, signal), signal: signal === null ? undefined : signals[signal] });
    });
    this.children = this.options.subreaper === undefined ? -1 : openChildren(child.pid);
    // A polite signal to the group is for the task; a caught signal is back to its default in what the shell starts.
    this.lines.write(`trap : TERM\n${limits.line}`);
  }

  /**
   * Starts a task. @param sequence not used before at any launcher of the same status channel. @throws Error of the
   * file system; then it is as before.
   */
  launch(sequence: number, task: LaunchTask): void {
    invariant(this.sequence === 0, `launcher ${this.index} runs a task already`);
    this.streams ??= openStreams(this.options.pipes);
    if (task.account !== undefined) this.accountScript.write(task.account);
    const lines = this.compose(task, sequence, this.streams);
    invariant(this.lines, `launcher ${this.index} has no shell`);
    this.lines.write(lines);
    this.launchedAt = performance.now();
    this.lookAt = firstLook;
    this.isFollowed = false;
    this.waitedBefore = undefined;
    this.leavesFiles = task.leavesFiles ?? false;
    this.isSandboxed = task.sandbox !== undefined;
    this.isOfAccount = task.account !== undefined;
    for (const stream of this.streams) stream.begin(task.keptMax ?? outputKeptMax);
    // Only now: where there was no room for a script nothing runs, and the launcher is free for the next task.
    this.sequence = sequence;
    this.exported = task.exports;
    this.pinned = task.pin ?? this.pinned;
  }

  /**
   * Sends a signal to the task and all it started in this group. SIGKILL ends the launcher too, and what left the
   * group; for a task of another account it ends the task only.
   */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pgid } = this;
    if (pgid === undefined || this.signalApart(pgid, signal)) return;
    // Before the shell is gone: their parent then is somebody else.
    const outside = signal === 'SIGKILL' && (this.isSubreaper || this.isSandboxed) ? listDescendants(pgid) : [];
    killGroup(pgid, signal);
    for (const pid of outside) killProcess(pid, signal);
  }

  /**
   * Signals a task that is apart from us. A shell out of the reach of its task's account goes on: it adopts what is
   * left, and reports the end.
   */
  private signalApart(pgid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
    if (signal === 'SIGKILL' && this.scope !== undefined && killScope(this.scope)) return true;
    if (!this.isOfAccount)
      return signal === 'SIGTERM' && this.isSandboxed && signalSandboxed(readChildren(pgid) ?? [], signal);
    const inside = listOfAccount(pgid, signal);
    void this.options.account?.kill(inside, signal);
    return inside.length > 0;
  }

  /** Lets its shell go on if a task has stopped it: it would not report the task's end, and run no other task. */
  resume(): void {
    if (this.pgid !== undefined) killProcess(this.pgid, 'SIGCONT');
  }

  /**
   * Reads what the task that runs writes while it writes, once it has written anything or runs for some time: a short
   * and silent task is not worth the cost.
   *
   * Whether to look again. @param now by `performance.now()`.
   */
  look(now: number): boolean {
    if (this.isFollowed || this.streams === undefined) return false;
    const age = now - this.launchedAt;
    if (age < this.lookAt) return true;
    // The shell counts a task when that has ended: until then the count is that of earlier ones.
    this.waitedBefore ??= this.readWaited();
    const isDue = age > followAfter || this.streams.some((stream) => stream.hasBytes());
    this.lookAt = isDue ? age : 2 * age;
    this.isFollowed = isDue && this.streams.map((stream) => stream.follow()).every((follows) => follows);
    return !this.isFollowed;
  }

  /**
   * Processor time of what its task has started and the shell has waited for, in milliseconds; undefined for a task that
   * was too short to be looked at.
   */
  processorMs(): number | undefined {
    const waited = this.waitedBefore === undefined ? undefined : this.readWaited();
    return waited === undefined || this.waitedBefore === undefined ? undefined : waited - this.waitedBefore;
  }

  /** Bytes that the task has written to both streams so far, but for what is still in a pipe. */
  outputBytes(): number {
    return this.streams === undefined ? 0 : this.streams[0].writtenBytes + this.streams[1].writtenBytes;
  }

  /** What its task has written so far; undefined where it runs none. */
  tail(): TaskTail | undefined {
    if (this.sequence === 0 || this.streams === undefined) return undefined;
    const [out, err] = this.streams;
    return { standardOutput: out.tail, standardError: err.tail };
  }

  /**
   * The live processes that its last task left behind; undefined where they do not all descend from its shell, or it
   * has another task. Cost: a few files for each of them.
   */
  listLeft(): number[] | undefined {
    const { pgid } = this;
    if (pgid === undefined || this.sequence !== 0) return undefined;
    const found = this.listScope() ?? (this.isSubreaper ? listDescendants(pgid) : undefined);
    return found?.filter((pid) => readProcess(pid) !== undefined);
  }

  /** Whether its shell is the parent of what its tasks leave behind. */
  get isSubreaper(): boolean {
    return this.children >= 0;
  }

  /**
   * Reads what the task that ended last wrote. Whether that is all: nothing that it started is left, as far as that can
   * be known cheaply, and nothing has its streams open.
   */
  drain(): boolean {
    let isClosed = true;
    for (const stream of this.streams ?? []) isClosed = stream.drain() && isClosed;
    if (this.children >= 0) return isClosed && !this.hasChildren();
    return isClosed && (this.listScope()?.length === 0 || (this.scope === undefined && !this.leavesFiles));
  }

  /** What the task that ended last wrote, after `drain`. */
  readOutput(): TaskOutput {
    return readStreams(this.streams);
  }

  /** What its task writes from now on belongs to a new part of it: that is kept apart from what it wrote before. */
  beginPart(keptMax: number): void {
    for (const stream of this.streams ?? []) {
      stream.drain();
      stream.begin(keptMax);
    }
    this.launchedAt = performance.now();
    this.lookAt = firstLook;
    this.isFollowed = false;
  }

  /**
   * Gives up the streams of its last task, which something may still hold: the next task gets others. The receiver
   * closes them.
   */
  takeStreams(): TaskStreams | undefined {
    const { streams } = this;
    this.streams = undefined;
    return streams;
  }

  /**
   * Distinguishes a signal from an exit status with a shell that reports signals itself, as bash does, and a sandbox
   * that could not be set up from a task that failed. Reads what the shell and bubblewrap wrote since the last call.
   */
  readExit(status: number): TaskExit {
    if (status === 0) return { status, signal: undefined };
    if (this.isOfAccount && !this.accountScript.hasBegun()) return { status: -1, signal: undefined, trouble: '' };
    let said = '';
    for (let count = -1; count !== 0; ) {
      count = readSync(this.notes, scratch, 0, scratch.length, this.notesRead);
      this.notesRead += count;
      if (said.length < scratch.length) said += scratch.toString('latin1', 0, count);
    }
    // No task can write there, so none can pass its own failure off as the machine's.
    if (this.isSandboxed && /^bwrap: /m.test(said))
      return { status: -1, signal: undefined, trouble: said.trim().slice(0, 300) };
    return { status, signal: status > 128 && isAboutSignal(said, this.file('in')) ? status - 128 : undefined };
  }

  /** Kills the group and lets go of all files. */
  close(): void {
    this.child?.removeAllListeners('exit');
    this.signal('SIGKILL');
    if (this.isOfAccount && this.pgid !== undefined) killGroup(this.pgid, 'SIGKILL');
    this.child = undefined;
    this.closeShellFiles();
    closeSync(this.notes);
    for (const stream of this.takeStreams() ?? []) stream.close();
  }

  private ended(child: ChildProcess, exit: TaskExit): void {
    if (this.child !== child) return;
    const { sequence, scope } = this;
    this.signal('SIGKILL');
    this.child = undefined;
    this.sequence = 0;
    this.closeShellFiles();
    this.options.onExit(this, { ...exit, pgid: child.pid, scope, sequence });
  }

  private closeShellFiles(): void {
    this.lines?.close();
    this.lines = undefined;
    if (this.children >= 0) closeSync(this.children);
    this.children = -1;
  }

  private hasChildren(): boolean {
    try {
      return readSync(this.children, scratch, 0, 1, 0) > 0;
    } catch {
      return true; // The shell is gone; its own end follows.
    }
  }

  /** A task or a cleaner of old files may have removed it, or the whole folder. */
  private makeFifo(): string {
    const fifo = this.file('in');
    if (!existsSync(fifo)) mendFolder(this.options.folder);
    if (!existsSync(fifo)) makeFifos([fifo]);
    return fifo;
  }

  private file(name: string): string {
    return path.join(this.options.folder, `${name}-${this.options.index}`);
  }

  private compose(task: LaunchTask, sequence: number, streams: TaskStreams): string {
    let lines = this.line(task, sequence, streams);
    if (Buffer.byteLength(lines) > lineMax) lines = this.line(this.shorten(task), sequence, streams);
    if (task.exports !== this.exported) lines = `export ${task.exports}\n${lines}`;
    // Whatever comes of it, the task runs. Tasks of one processor pin the shell of their slot once.
    if (task.pin !== undefined && task.pin !== this.pinned) lines = `${task.pin} $$ >/dev/null 2>&1\n${lines}`;
    return lines;
  }

  private line(task: LaunchTask, sequence: number, [out, err]: TaskStreams): string {
    const id = `${this.index} ${sequence}`;
    const { sandbox, environment, account, redirections } = task;
    const command = redirections === undefined ? task.command : `${task.command} ${redirections}`;
    const word = account === undefined ? undefined : this.options.account?.line;
    if (word !== undefined)
      return (
        `if cd /;then ${word} 0<>${quoteWord(this.accountScript.file)} >${out.word} 2>${err.word};echo ${id} ` +
        `$?;else echo ${id} -1;fi\n`
      );
    // What bubblewrap says goes where the shell's own words go, and the task's standard error is descriptor 9 until the
    // task begins.
    const run =
      sandbox === undefined
        ? `${environment} ${command} >${out.word} 2>${err.word}`
        : `${sandboxVariable}=${quoteWord(environment)} ${sandbox} ` +
          `${firstWords(this.file('in')).map(quoteWord).join(' ')} ${command} >${out.word} 9>${err.word}`;
    return `if cd ${quoteWord(task.folder)};then ${run};echo ${id} $?;else echo ${id} -1;fi\n`;
  }

  private readWaited(): number | undefined {
    return this.pgid === undefined ? undefined : readProcess(this.pgid)?.waitedMs;
  }

  private listScope(): number[] | undefined {
    return this.scope === undefined ? undefined : listScope(this.scope)?.filter((pid) => pid !== this.pgid);
  }

  /** Puts a long line into a file: a FIFO holds 64 KiB and an argument 128. */
  private shorten(task: LaunchTask): LaunchTask {
    const script = this.file('script');
    mendFolder(this.options.folder);
    const exports = task.environment === '' ? '' : `export ${task.environment}\n`;
    writeFileSync(script, `${exports}${task.line}\n`, { mode: 0o600 });
    const word = quoteWord(script);
    return {
      ...task,
      environment: '',
      command: `/bin/sh ${word}`,
      ...(task.sandbox === undefined ? {} : { sandbox: `${task.sandbox} --ro-bind ${word} ${word}` }),
    };
  }
}

/** What is kept of a task's streams, after they were drained. */
export function readStreams(streams: TaskStreams | undefined): TaskOutput {
  if (streams === undefined) return noOutput;
  const [out, err] = streams;
  return {
    standardOutput: out.bytes(),
    standardError: err.bytes(),
    writtenBytes: out.writtenBytes + err.writtenBytes,
    isCut: out.isCut || err.isCut,
  };
}

const noBytes = new Uint8Array(0);
const noOutput: TaskOutput = { standardOutput: noBytes, standardError: noBytes, writtenBytes: 0, isCut: false };

/**
 * Whether a shell has said how a signal ended a task: in the words of the system's language, after the name of its
 * script. Where the language is not installed, it and the program that starts it complain of that as well.
 */
function isAboutSignal(said: string, script: string): boolean {
  return said.split('\n').some((line) => line.startsWith(script) && !line.includes('setlocale'));
}

function openChildren(pid: number | undefined): number {
  try {
    return pid === undefined ? -1 : openSync(`/proc/${pid}/task/${pid}/children`, 'r');
  } catch {
    return -1;
  }
}
