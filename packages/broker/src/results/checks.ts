import { MutiraoError } from '@mutirao/api/errors';
import type { Reason } from '@mutirao/core/reasons';
import type { Instant, JobId, TaskIndex } from '@mutirao/core/shared';

/** Bounds on checks. */
export interface ChecksOptions {
  /** Checks that run at a time, in addition to the first of each job. */
  readonly most: number;
  now(): Instant;
}

/** Whose result is checked. */
export interface CheckedTask {
  readonly jobId: JobId;
  readonly taskIndex: TaskIndex;
}

interface Check extends CheckedTask {
  readonly abort: AbortController;
  /** When it began; undefined while it waits. */
  since: Instant | undefined;
  begin(): void;
  drop(error: MutiraoError): void;
}

/** Jobs that may each run a check at a time beyond the bound. */
const jobsMax = 64;

/**
 * Shares out the checks that run at home between jobs: each job with results to check runs one at least, whatever those
 * of others do, and the rest goes to the job that runs the fewest.
 */
export class Checks {
  readonly #options: ChecksOptions;
  readonly #running = new Set<Check>();
  readonly #waiting = new Set<Check>();

  constructor(options: ChecksOptions) {
    this.#options = options;
  }

  /**
   * Runs a check when it is its job's turn. `work` ends early when the signal it gets is aborted.
   *
   * @throws {MutiraoError} MUT_CANCELLED when its job was cancelled meanwhile; what `work` throws.
   */
  async run<Result>(task: CheckedTask, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const turn = Promise.withResolvers<void>();
    const check: Check = {
      jobId: task.jobId,
      taskIndex: task.taskIndex,
      abort: new AbortController(),
      since: undefined,
      begin: turn.resolve,
      drop: turn.reject,
    };
    this.#waiting.add(check);
    this.#beginSome();
    try {
      await turn.promise;
      const result = await work(check.abort.signal);
      check.abort.signal.throwIfAborted();
      return result;
    } catch (error) {
      throw check.abort.signal.aborted ? check.abort.signal.reason : error;
    } finally {
      this.#waiting.delete(check);
      this.#running.delete(check);
      this.#beginSome();
    }
  }

  /** Ends the checks of a job, those that run and those that wait. */
  cancel(jobId: JobId): void {
    for (const check of [...this.#waiting, ...this.#running]) {
      if (check.jobId !== jobId) continue;
      end(check, cancelled(check));
    }
  }

  /** Ends all checks: the broker stops. */
  close(): void {
    const error = new MutiraoError('MUT_STOPPING', 'the check was ended since the broker stops');
    for (const check of [...this.#waiting, ...this.#running]) end(check, error);
  }

  /** What goes on for a job, or for one of its tasks; nothing where nothing is checked. */
  describe(jobId: JobId, taskIndex?: TaskIndex): Reason[] {
    const isMeant = (check: Check): boolean =>
      check.jobId === jobId && (taskIndex === undefined || check.taskIndex === taskIndex);
    const running = [...this.#running].filter(isMeant);
    const waitingChecks = [...this.#waiting].filter(isMeant).length;
    const longestMs = this.#options.now() - Math.min(...running.map((check) => check.since ?? Infinity));
    return [
      ...(running.length === 0 ? [] : [{ code: 'checks-running', checks: running.length, longestMs } as const]),
      ...(waitingChecks === 0
        ? []
        : [{ code: 'checks-waiting', checks: waitingChecks, checksMax: this.#options.most } as const]),
    ];
  }

  #beginSome(): void {
    for (let check = this.#choose(); check !== undefined; check = this.#choose()) {
      this.#waiting.delete(check);
      this.#running.add(check);
      check.since = this.#options.now();
      check.begin();
    }
  }

  /** Of jobs that run as few the first in line. */
  #choose(): Check | undefined {
    const running = new Map<JobId, number>();
    for (const { jobId } of this.#running) running.set(jobId, (running.get(jobId) ?? 0) + 1);
    const countOf = ({ jobId }: Check): number => running.get(jobId) ?? 0;
    const [first, ...others] = this.#waiting;
    if (first === undefined) return undefined;
    const best = others.reduce((least, check) => (countOf(check) < countOf(least) ? check : least), first);
    const room = running.has(best.jobId) ? this.#options.most : Math.max(this.#options.most, jobsMax);
    return this.#running.size < room ? best : undefined;
  }
}

function end(check: Check, error: MutiraoError): void {
  check.abort.abort(error);
  check.drop(error);
}

function cancelled({ jobId }: CheckedTask): MutiraoError {
  return new MutiraoError('MUT_CANCELLED', `the check was ended since job ${jobId} was cancelled`);
}
