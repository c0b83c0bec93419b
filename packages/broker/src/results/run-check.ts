import { MutiraoError } from '@mutirao/api/errors';
import type { Duration } from '@mutirao/core/shared';
import { runCommand } from '@mutirao/runtime/processes';

/** A check to run. */
export interface Check {
  /** A line for the shell. */
  readonly command: string;
  readonly homeDirectory: string;
  /** Added to the broker's own environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly deadline: Duration;
  /** Ends it, with all that it has started in its group. */
  readonly signal: AbortSignal;
}

/**
 * Runs a task's check at home; status 0 accepts the result. Resolves to what it wrote to standard output, 16 KiB at
 * most.
 *
 * @throws {MutiraoError} MUT_CHECK_FAILED with the status and the end of what the check wrote, or when the deadline
 * passed.
 */
export async function runCheck(check: Check): Promise<Uint8Array> {
  const result = await runCommand({
    command: '/bin/sh',
    args: ['-c', check.command],
    cwd: check.homeDirectory,
    env: { ...process.env, ...check.environment },
    deadlineMs: check.deadline,
    signal: check.signal,
    outputBytesMax: 16_384,
  });
  if (result.startError !== '')
    throw new MutiraoError('MUT_CHECK_FAILED', `the check could not be started: ${result.startError}`);
  if (result.isTimedOut)
    throw new MutiraoError('MUT_CHECK_FAILED', `the check took longer than ${check.deadline} ms and was killed`);
  if (result.status === 0) return result.stdout;
  const said = Buffer.concat([result.stdout, result.stderr]).toString('utf8').trim().slice(-500);
  throw new MutiraoError(
    'MUT_CHECK_FAILED',
    `the check ended with status ${result.status}${said === '' ? '' : `: ${said}`}`,
  );
}
