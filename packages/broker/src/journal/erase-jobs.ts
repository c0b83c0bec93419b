import type { BrokerState } from '@mutirao/core/machines/broker';
import type { Duration, Instant, JobId } from '@mutirao/core/shared';
import type { Clock, Timers } from '@mutirao/runtime/driver';
import type { Journal } from '@mutirao/runtime/journal';

/** What erasing needs. */
export interface EraserOptions {
  readonly journal: Pick<Journal<unknown>, 'database'>;
  readonly state: Pick<BrokerState, 'jobs'>;
  readonly timers: Timers;
  /** Milliseconds that only grow. */
  readonly clock: Clock;
  /** Keeps a snapshot now and returns its sequence: what stands before it is not replayed any more. */
  takeSnapshot(): number;
  onTrouble(error: unknown): void;
}

/** The longest turn; others then have one that is as long. */
const workMax: Duration = 20;
const rowsAtOnce = 500;
const pagesAtOnce = 1000;

/** Rows of a job, a bounded number at a time; `?1` is the job and `?2` the last sequence that may go. */
const deletions = [
  `DELETE FROM replica_outputs WHERE (job, task, replica) IN
     (SELECT job, task, replica FROM replica_outputs WHERE job = ?1 AND ?2 > 0 LIMIT ${rowsAtOnce})`,
  `DELETE FROM replica_batches WHERE (job, wide, task_first, sequence) IN
     (SELECT job, wide, task_first, sequence FROM replica_batches WHERE job = ?1 AND ?2 > 0 LIMIT ${rowsAtOnce})`,
  `DELETE FROM changes WHERE seq IN (SELECT seq FROM changes WHERE job = ?1 AND seq <= ?2 LIMIT ${rowsAtOnce})`,
];

/**
 * Erases forgotten jobs from the journal, little by little while the broker works, and gives their space back to the
 * disk. What a fall interrupts the next broker goes on with.
 */
export class JobEraser {
  readonly #options: EraserOptions;
  #timer: unknown;
  #isStopped = false;
  #work: Generator<undefined, void> | undefined;
  #isAskedAgain = false;

  constructor(options: EraserOptions) {
    this.#options = options;
  }

  /** Whether there is still something to erase. */
  get isBusy(): boolean {
    return this.#work !== undefined;
  }

  /** Looks for jobs that are on record and not in the state any more, and erases them. */
  start(): void {
    this.#isAskedAgain = this.#work !== undefined;
    if (this.#isStopped || this.#work !== undefined) return;
    this.#work = this.#erase();
    this.#timer = this.#options.timers.start(0, this.#goOn);
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.timers.cancel(this.#timer);
  }

  readonly #goOn = (): void => {
    const { clock, timers, onTrouble } = this.#options;
    const until: Instant = clock.now() + workMax;
    try {
      while (this.#work !== undefined && clock.now() < until)
        if (this.#work.next().done === true) this.#work = undefined;
    } catch (error) {
      // A full disk, say: what is left is erased after the next forgotten job, or the next start.
      this.#work = undefined;
      onTrouble(error);
      return;
    }
    if (this.#work !== undefined) this.#timer = timers.start(workMax, this.#goOn);
    else if (this.#isAskedAgain) this.start();
  };

  *#erase(): Generator<undefined, void> {
    const jobIds = this.#listForgotten();
    if (jobIds.length === 0) return;
    const { database } = this.#options.journal;
    const last = this.#options.takeSnapshot();
    const statements = deletions.map((sql) => database.prepare(sql));
    for (const jobId of jobIds)
      for (const statement of statements) {
        yield;
        while (Number(statement.run(jobId, last).changes) === rowsAtOnce) yield;
      }
    const freed = database.prepare('PRAGMA freelist_count');
    const vacuum = `PRAGMA incremental_vacuum(${pagesAtOnce})`;
    for (let left = Infinity; ; ) {
      yield;
      const pages = Number(freed.get()?.['freelist_count'] ?? 0);
      if (pages === 0 || pages >= left) break;
      left = pages;
      database.exec(vacuum);
    }
    yield;
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** Jobs with lines in the journal that the state does not have. Cost: one look into an index for each job. */
  #listForgotten(): JobId[] {
    const next = this.#options.journal.database.prepare('SELECT min(job) AS job FROM changes WHERE job > ?');
    const forgotten: JobId[] = [];
    for (let jobId = 0; ; ) {
      const found = next.get(jobId)?.['job'];
      if (typeof found !== 'number') return forgotten;
      jobId = found;
      if (!this.#options.state.jobs.has(jobId)) forgotten.push(jobId);
    }
  }
}
