import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, createReadStream, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { captureStream, type Capture } from './capture.ts';
import { shellStatus, startFailure, type ProcessExit } from './exit.ts';
import { withoutStrays } from './stray-descriptors.ts';

/** Where a stream of a process goes: nowhere, to our own, to a file (appended to), or into memory up to a bound. */
export type OutputTarget =
  | { readonly kind: 'discard' }
  | { readonly kind: 'inherit' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'capture'; readonly bytesMax: number };

/** What to start, and how. */
export interface StartProcessOptions {
  /** A path, or a name looked up on the PATH of `env`. */
  readonly command: string;
  readonly args?: readonly string[];
  /** The whole environment; our own when absent. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /**
   * Leads a process group (and session) of its own, so that `killGroup(pid)` reaches all that it starts. True when
   * absent.
   */
  readonly detached?: boolean;
  /** Discarded when absent. */
  readonly stdout?: OutputTarget;
  /** Discarded when absent. */
  readonly stderr?: OutputTarget;
  /** Written to its standard input, which is then closed; /dev/null when absent. */
  readonly input?: string;
  /**
   * A file that is its standard input, or the rest of it behind `input`. @throws Error from `startProcess` when it
   * cannot be opened.
   */
  readonly inputFile?: string;
  /** It reads our own standard input, in place of `input`. */
  readonly inheritsInput?: boolean;
  /** Its standard input stays open, and empty, until we end, however we end. */
  readonly leash?: boolean;
  /** Called exactly once, never before `startProcess` has returned; also when the process could not be started. */
  onExit(exit: ProcessExit): void;
}

/** A process that was started. */
export interface StartedProcess {
  /** Also the id of its group when detached; undefined when it could not be started. */
  readonly pid: number | undefined;
  /** What was captured so far; empty where nothing is captured. */
  readonly stdout: Capture;
  /** As `stdout`, of standard error. */
  readonly stderr: Capture;
}

/**
 * Starts a process and reports its end once.
 *
 * Captured output is complete at `onExit`, except what descendants that outlive the process write later.
 */
export function startProcess(options: StartProcessOptions): StartedProcess {
  const files: number[] = [];
  const rest = openRest(options);
  const stdio = [source(options, files), target(options.stdout, 1, files), target(options.stderr, 2, files)] as const;
  const child = spawn(options.command, options.args ?? [], {
    detached: options.detached ?? true,
    stdio: withoutStrays(stdio),
    ...(options.env === undefined ? {} : { env: { ...options.env } }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  for (const file of files) closeSync(file);
  const stdout = captureStream(child.stdout, getBytesMax(options.stdout));
  const stderr = captureStream(child.stderr, getBytesMax(options.stderr));
  reportEnd(child, [stdout, stderr], options.onExit);
  if (child.stdin !== null) feed(child.stdin, options, rest);
  return { pid: child.pid, stdout, stderr };
}

/** The file that goes on where `input` ends. */
function openRest({ input, inputFile }: StartProcessOptions): number | undefined {
  return input === undefined || inputFile === undefined ? undefined : openSync(inputFile, 'r');
}

function feed(stdin: Writable, { input, leash }: StartProcessOptions, rest: number | undefined): void {
  stdin.on('error', () => undefined); // It may end without reading its input.
  if (leash === true) (stdin as Socket).unref();
  else if (rest === undefined) stdin.end(input);
  else {
    stdin.write(input ?? '');
    const file = createReadStream('', { fd: rest });
    // A read error ends the input early, as a file that was cut does.
    file.on('error', () => stdin.end());
    stdin.on('close', () => file.destroy());
    file.pipe(stdin);
  }
}

function source(
  { input, inputFile, inheritsInput, leash }: StartProcessOptions,
  files: number[],
): 'ignore' | 'inherit' | 'pipe' | number {
  if (inheritsInput === true) return 'inherit';
  if (input !== undefined || leash === true) return 'pipe';
  if (inputFile === undefined) return 'ignore';
  const file = openSync(inputFile, 'r');
  files.push(file);
  return file;
}

function target(output: OutputTarget | undefined, own: number, files: number[]): 'ignore' | 'pipe' | number {
  switch (output?.kind) {
    case undefined:
    case 'discard':
      return 'ignore';
    case 'inherit':
      return own;
    case 'capture':
      return 'pipe';
    case 'file': {
      const file = openSync(output.path, 'a', 0o600);
      files.push(file);
      return file;
    }
  }
}

function getBytesMax(output: OutputTarget | undefined): number {
  return output?.kind === 'capture' ? output.bytesMax : 0;
}

/**
 * Captured output is complete when nothing has arrived for this time after the process ended; a descendant may hold the
 * pipe open for ever.
 */
const drainIdle = 200;
/**
 * A pipe holds no more than this of what the process itself wrote; and a descendant that writes on must not hold up the
 * end.
 */
const drainBytesMax = 1024 * 1024;
const drainTimeMax = 10_000;

function reportEnd(child: ChildProcess, captures: readonly Capture[], onExit: (exit: ProcessExit) => void): void {
  let reported = false;
  const report = (exit: ProcessExit): void => {
    if (reported) return;
    reported = true;
    for (const capture of captures) capture.stop();
    onExit(exit);
  };
  child.once('error', (error) => {
    if (child.pid === undefined) report(startFailure(error));
  });
  child.once('exit', (code, signal) => {
    const exit: ProcessExit = { status: shellStatus(code, signal), startError: '' };
    const stopWaiting = whenDrained(captures, () => {
      report(exit);
    });
    child.once('close', () => {
      stopWaiting();
      report(exit);
    });
  });
}

/**
 * Calls once nothing more comes. What is ready to be read counts as having come: on a busy host timers are due before
 * it was read. Some programs leave the writing to another process, which may be slow, as a client of a shared ssh
 * connection does.
 */
function whenDrained(captures: readonly Capture[], act: () => void): () => void {
  const received = (): number => captures.reduce((sum, { receivedBytes }) => sum + receivedBytes(), 0);
  const began = { bytes: received(), at: performance.now() };
  let before = began.bytes;
  const check = (): void => {
    const now = received();
    const isOver = now === before || now - began.bytes > drainBytesMax || performance.now() - began.at > drainTimeMax;
    if (isOver) act();
    else wait();
    before = now;
  };
  let timer: NodeJS.Timeout;
  let immediate: NodeJS.Immediate | undefined;
  const wait = (): void => {
    timer = setTimeout(() => {
      immediate = setImmediate(check);
    }, drainIdle);
  };
  wait();
  return () => {
    clearTimeout(timer);
    if (immediate !== undefined) clearImmediate(immediate);
  };
}
