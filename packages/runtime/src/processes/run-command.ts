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
  /**
   * Words that both streams hold once there is nothing more to wait for: when it does not end by itself a moment after
   * them, the whole group is killed.
   */
  readonly endMark?: string;
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

/** How long a command whose end was seen on its streams may take to end. */
const endGrace = 500;

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
        clearTimeout(endTimer);
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
    let endTimer: NodeJS.Timeout | undefined;
    let marksMissing = 2;
    const noteMark = (): void => {
      marksMissing -= 1;
      if (marksMissing === 0) endTimer = setTimeout(kill, endGrace);
    };
    if (options.endMark !== undefined)
      for (const stream of [started.stdout, started.stderr]) stream.onceIncludes(options.endMark, noteMark);
    options.signal?.addEventListener('abort', kill);
    if (options.signal?.aborted === true) kill();
  });
}
