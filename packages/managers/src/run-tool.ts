import { MutiraoError } from '@mutirao/api/errors';
import { runCommand, type CommandResult } from '@mutirao/runtime/processes';

/** One call of a resource manager's command. */
export interface ToolCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  /** Milliseconds after which it is killed. */
  readonly deadlineMs: number;
  readonly outputBytesMax: number;
  /** A status above 128 need not mean that it was killed. */
  readonly hasStatusesOfItsOwn?: boolean;
  readonly signal: AbortSignal;
}

/** What a command said when it ran to its end. */
export interface ToolAnswer {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a resource manager's command to its end, however that ends.
 *
 * @throws {MutiraoError} MUT_UNREACHABLE when it could not be started, did not end in time, was killed, or said more
 * than it may: what it did is unknown.
 */
export async function runTool(call: ToolCall): Promise<ToolAnswer> {
  const result = await runCommand(call);
  const trouble = getTrouble(call, result);
  if (trouble !== '') throw new MutiraoError('MUT_UNREACHABLE', `${call.command} ${trouble}`);
  return { status: result.status, stdout: result.stdout.toString('utf8'), stderr: result.stderr.toString('utf8') };
}

function getTrouble(call: ToolCall, result: CommandResult): string {
  if (result.startError !== '') return `cannot be started: ${result.startError}`;
  if (result.isTimedOut) {
    // It may have said what it waits for, as Slurm's do where the controller takes no more jobs.
    const words = result.stderr.toString('utf8').trim();
    return `did not end within ${call.deadlineMs / 1000} s${words === '' ? '' : `: ${listWords(words)}`}`;
  }
  if (call.signal.aborted) return 'was given up, since the provider stops';
  if (result.isTruncated) return `wrote more than ${call.outputBytesMax} bytes`;
  if (call.hasStatusesOfItsOwn === true) return '';
  // A shell reports a signal as 128 + its number; some commands report bad usage as 255.
  return result.status > 128 && result.status <= 128 + 64
    ? `was killed (status ${result.status}); ${listWords(result.stderr.toString('utf8'))}`
    : '';
}

/** The last words of a command, in one line of at most 300 characters; what it says again and again only once. */
export function listWords(output: string): string {
  const words = [
    ...new Set(
      output
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
    ),
  ].join('; ');
  return words === '' ? 'it said nothing' : words.length <= 300 ? words : `...${words.slice(-297)}`;
}
