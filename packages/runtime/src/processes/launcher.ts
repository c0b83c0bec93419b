import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import { invariant } from '@mutirao/core/shared';
import { shellStatus } from './exit.ts';
import { FifoLines } from './fifo-lines.ts';
import { killGroup } from './kill-group.ts';
import { quoteWord } from './shell-words.ts';

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
}

/** Standard output and error of a task that ended, each cut at a bound. */
export interface TaskOutput {
  readonly standardOutput: Uint8Array;
  readonly standardError: Uint8Array;
  /** Bytes it wrote to both, kept or not. */
  readonly writtenBytes: number;
}

/** What a launcher needs from those who keep it. */
export interface LauncherOptions {
  readonly index: number;
  readonly shell: string;
  /** An existing folder for its files; holds the FIFO `in-INDEX` already. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Where it writes a line `INDEX SEQUENCE STATUS` at the end of each task. */
  readonly status: Socket;
  /** The shell ended; only a signal or its task can have done that. What was left of its group has been killed. */
  onExit(launcher: Launcher, exit: LauncherExit): void;
}

/** The end of a launcher's shell. */
export interface LauncherExit {
  /** As a shell reports it. */
  readonly status: number;
  /** Its group; undefined when the shell could not be started. */
  readonly pgid: number | undefined;
  /** Number of the task that it ran, 0 for none. */
  readonly sequence: number;
}

/** Longest line given through the FIFO, in bytes, which takes 64 KiB without waiting for its reader. */
const lineMax = 32 * 1024;
const empty = new Uint8Array(0);

/**
 * A resident shell, leader of its own process group, that runs one task at a time.
 *
 * Lines come to it through a FIFO as its script: a shell runs each as soon as it is complete, and the shell's own descriptors are closed to
 * what it starts. A task is a simple command, for which dash uses vfork; with a fork of this process in its stead, tasks of a few
 * milliseconds would take twice as long. Output goes to two files that each task begins anew.
 */
export class Launcher {
  readonly index: number;
  /** Number of the task that runs, 0 for none. */
  sequence = 0;
  /** When the task that runs was launched, in ticks of 10 ms after boot; kept by those who keep the launcher. */
  launchedTicks = 0;
  private readonly options: LauncherOptions;
  private readonly outputFiles: readonly [number, number];
  private readonly redirection: string;
  private lines: FifoLines | undefined;
  private child: ChildProcess | undefined;
  private exported = '';

  constructor(options: LauncherOptions) {
    this.options = options;
    this.index = options.index;
    const [out, err] = [this.file('out'), this.file('err')];
    this.outputFiles = [openSync(out, 'w+', 0o600), openSync(err, 'w+', 0o600)];
    this.redirection = `>${quoteWord(out)} 2>${quoteWord(err)}`;
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
    const fifo = this.file('in');
    this.sequence = 0;
    this.exported = '';
    // Both ways: opening waits for nobody, and the reader's end of file comes only when we are gone.
    this.lines = new FifoLines(openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK));
    const child = spawn(this.options.shell, [fifo], {
      detached: true, cwd: this.options.folder, env: { ...this.options.environment }, stdio: ['ignore', this.options.status, 'ignore'],
    });
    this.child = child;
    child.once('error', () => { this.ended(child, 127); });
    child.once('exit', (code, signal) => { this.ended(child, shellStatus(code, signal)); });
    // A polite signal to the group is for the task; a caught signal is back to its default in what the shell starts.
    this.lines.write('trap : TERM\n');
  }

  /** Starts a task. @param sequence not used before at any launcher of the same status channel. @throws Error of the file system; then it is as before. */
  launch(sequence: number, task: LaunchTask): void {
    invariant(this.sequence === 0, `launcher ${this.index} runs a task already`);
    let line = this.line(task, sequence);
    if (Buffer.byteLength(line) > lineMax) line = this.line(this.shorten(task), sequence);
    if (task.exports !== this.exported) line = `export ${task.exports}\n${line}`;
    invariant(this.lines, `launcher ${this.index} has no shell`);
    this.lines.write(line);
    // Only now: where there was no room for a script nothing runs, and the launcher is free for the next task.
    this.sequence = sequence;
    this.exported = task.exports;
  }

  /** Sends a signal to the task and all it started in this group. SIGKILL ends the launcher too. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.pgid !== undefined) killGroup(this.pgid, signal);
  }

  /** Bytes that the task has written to both streams so far. */
  outputBytes(): number {
    return fstatSync(this.outputFiles[0]).size + fstatSync(this.outputFiles[1]).size;
  }

  /** What the task that ended last wrote, at most `bytesMax` of each stream. */
  readOutput(bytesMax: number): TaskOutput {
    const standardOutput = readFile(this.outputFiles[0], bytesMax);
    const standardError = readFile(this.outputFiles[1], bytesMax);
    return {
      standardOutput: standardOutput.bytes, standardError: standardError.bytes,
      writtenBytes: standardOutput.size + standardError.size,
    };
  }

  /** Kills the group and lets go of all files. */
  close(): void {
    this.child?.removeAllListeners('exit');
    this.signal('SIGKILL');
    this.child = undefined;
    for (const file of this.outputFiles) closeSync(file);
    this.lines?.close();
    this.lines = undefined;
  }

  private ended(child: ChildProcess, status: number): void {
    if (this.child !== child) return;
    const exit = { status, pgid: child.pid, sequence: this.sequence };
    this.signal('SIGKILL');
    this.child = undefined;
    this.sequence = 0;
    this.lines?.close(); // What it had not read is gone with that.
    this.lines = undefined;
    this.options.onExit(this, exit);
  }

  private file(name: string): string {
    return path.join(this.options.folder, `${name}-${this.options.index}`);
  }

  private line(task: LaunchTask, sequence: number): string {
    const id = `${this.index} ${sequence}`;
    return `if cd ${quoteWord(task.folder)};then ${task.environment} ${task.command} ${this.redirection};echo ${id} $?;else echo ${id} -1;fi\n`;
  }

  /** Puts a long line into a file: a FIFO holds 64 KiB and an argument 128. */
  private shorten(task: LaunchTask): LaunchTask {
    const script = this.file('script');
    const exports = task.environment === '' ? '' : `export ${task.environment}\n`;
    writeFileSync(script, `${exports}${task.line}\n`, { mode: 0o600 });
    return { ...task, environment: '', command: `/bin/sh ${quoteWord(script)}` };
  }
}

function readFile(file: number, bytesMax: number): { bytes: Uint8Array; size: number } {
  const { size } = fstatSync(file);
  if (size === 0) return { bytes: empty, size };
  const bytes = new Uint8Array(Math.min(size, bytesMax));
  const count = bytes.length === 0 ? 0 : readSync(file, bytes, 0, bytes.length, 0);
  return { bytes: bytes.subarray(0, count), size };
}
