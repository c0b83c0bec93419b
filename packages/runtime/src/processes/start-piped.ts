import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { killGroup } from './kill-group.ts';
import { withoutStrays } from './stray-descriptors.ts';
import { signalSandboxed } from './signal-sandboxed.ts';
import { shellStatus, startFailure, type ProcessExit } from './exit.ts';

/** What to start with all three of its streams in our hands. */
export interface StartPipedOptions {
  /** A path, or a name looked up on the PATH of `env`. */
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The command is bubblewrap's: signals are for what runs inside. */
  readonly isSandbox?: boolean;
  /**
   * Called exactly once, never before `startPiped` has returned: the process has ended, and nothing more comes from its
   * streams. Another process that holds them delays it.
   */
  onClosed(exit: ProcessExit): void;
}

/** A process whose streams are pipes to us. */
export interface PipedProcess {
  /** Also the id of its group; undefined when it could not be started. */
  readonly pid: number | undefined;
  readonly standardInput: Writable;
  readonly standardOutput: Readable;
  readonly standardError: Readable;
  /**
   * Signals all of its processes that have not left its group, or all of its sandbox; nothing where it could not be
   * started.
   */
  signal(signal: NodeJS.Signals): void;
}

/** Starts a process that leads a group of its own, and gives its streams as they are: a slow reader holds it up. */
export function startPiped({ command, args, env, cwd, isSandbox = false, onClosed }: StartPipedOptions): PipedProcess {
  const child = spawn(command, args, {
    detached: true,
    stdio: withoutStrays(['pipe', 'pipe', 'pipe']),
    env: { ...env },
    cwd,
  });
  let startError: ProcessExit | undefined;
  child.once('error', (error) => {
    startError = startFailure(error);
    // Without a process there is nothing else to come.
    if (child.pid === undefined) onClosed(startError);
  });
  child.once('close', (code, signal) => {
    if (startError === undefined) onClosed({ status: shellStatus(code, signal), startError: '' });
  });
  // The exit of the process reports any failure.
  for (const stream of child.stdio) stream?.on('error', () => undefined);
  const { pid } = child;
  const signal = (name: NodeJS.Signals): void => {
    if (pid === undefined || (isSandbox && signalSandboxed([pid], name) && name !== 'SIGKILL')) return;
    killGroup(pid, name);
  };
  return { pid, standardInput: child.stdin, standardOutput: child.stdout, standardError: child.stderr, signal };
}
