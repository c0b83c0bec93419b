import { killGroup } from './kill-group.ts';
import { startProcess } from './start-process.ts';

/** A command to run to its end. */
export interface RunCommandOptions {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly input?: string;
  /** A file that is its standard input, or the rest of it behind `input`; it must be there. */
  readonly inputFile?: string;
  /** Milliseconds after which the whole group is killed. */
  readonly deadlineMs: number;
  /** Bytes kept of each stream; 64 KiB when absent. */
  readonly outputBytesMax?: number;
  /** Kills the whole group when aborted. */
  readonly signal?: AbortSignal;
}

/** How a command ended and what it wrote. */
export interface CommandResult {
  /** As a shell reports it; 137 when the deadline or the signal killed it. */
  readonly status: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly isTruncated: boolean;
  /** The deadline passed. */
  readonly isTimedOut: boolean;
  /** Why it could not be started; empty otherwise. */
  readonly startError: string;
}

/**
 * Runs a command in a group of its own; resolves at its end and never rejects. What it leaves behind in its group is
 * killed.
 */
export function runCommand(options: RunCommandOptions): Promise<CommandResult> {
  return new Promise((resolve) => {
    const capture = { kind: 'capture', bytesMax: options.outputBytesMax ?? 64 * 1024 } as const;
    let isTimedOut = false;
    const kill = (): void => {
      if (started.pid !== undefined) killGroup(started.pid, 'SIGKILL');
    };
    const started = startProcess({
      ...options,
      stdout: capture,
      stderr: capture,
      onExit: (exit) => {
        clearTimeout(timer);
        options.signal?.removeEventListener('abort', kill);
        kill();
        const { stdout, stderr } = started;
        resolve({
          ...exit,
          isTimedOut,
          stdout: stdout.bytes(),
          stderr: stderr.bytes(),
          isTruncated: stdout.isTruncated() || stderr.isTruncated(),
        });
      },
    });
    const timer = setTimeout(() => {
      isTimedOut = true;
      kill();
    }, options.deadlineMs);
    options.signal?.addEventListener('abort', kill);
    if (options.signal?.aborted === true) kill();
  });
}
