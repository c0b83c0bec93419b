import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { shellStatus, startFailure, type ProcessExit } from './exit.ts';

/** What to start with all three of its streams in our hands. */
export interface StartPipedOptions {
  /** A path, or a name looked up on the PATH of `env`. */
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Called exactly once, never before `startPiped` has returned: the process has ended, and nothing more comes from its streams. Whoever else holds them delays it. */
  onClosed(exit: ProcessExit): void;
}

/** A process whose streams are pipes to us. */
export interface PipedProcess {
  /** Also the id of its group; undefined when it could not be started. */
  readonly pid: number | undefined;
  readonly standardInput: Writable;
  readonly standardOutput: Readable;
  readonly standardError: Readable;
}

/** Starts a process that leads a group of its own, and gives its streams as they are: who reads them late holds it up. */
export function startPiped({ command, args, env, cwd, onClosed }: StartPipedOptions): PipedProcess {
  const child = spawn(command, args, { detached: true, stdio: ['pipe', 'pipe', 'pipe'], env: { ...env }, cwd });
  let startError: ProcessExit | undefined;
  child.once('error', (error) => {
    startError = startFailure(error);
    // Without a process there is nothing else to come.
    if (child.pid === undefined) onClosed(startError);
  });
  child.once('close', (code, signal) => { if (startError === undefined) onClosed({ status: shellStatus(code, signal), startError: '' }); });
  for (const stream of child.stdio) stream?.on('error', () => undefined); // The end of the process tells what there is to tell.
  return { pid: child.pid, standardInput: child.stdin, standardOutput: child.stdout, standardError: child.stderr };
}
