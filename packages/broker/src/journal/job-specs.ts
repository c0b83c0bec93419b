import { countAllTasks, type BrokerChange, type BrokerJob } from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import { withRevisedInputs } from '@mutirao/core/resumption';
import { invariant, type JobId } from '@mutirao/core/shared';
import type { Journal } from '@mutirao/runtime/journal';

const pageSize = 1000;

/** Finds what a job was submitted with: in its state while it may still run, otherwise in the journal. */
export class JobSpecs {
  readonly #journal: Pick<Journal<BrokerChange>, 'read'>;
  readonly #lately = new Map<JobId, JobSpec>();
  readonly #latelyMax: number;

  constructor(journal: Pick<Journal<BrokerChange>, 'read'>, latelyMax = 16) {
    this.#journal = journal;
    this.#latelyMax = latelyMax;
  }

  /** Cost: one read of the journal, for a job that has finished and was not asked for lately. */
  getSpec(job: BrokerJob): JobSpec {
    const known = job.spec ?? this.#lately.get(job.jobId);
    if (known !== undefined) return known;
    const [first] = this.#journal.read({ after: 0, job: job.jobId, limit: 1 });
    invariant(first?.change.kind === 'JobAccepted', `the first change of job ${job.jobId} is not its acceptance`);
    const spec = withRevisedInputs(this.#withAppended(first.change.spec, job), job.revisedInputs);
    this.#lately.set(job.jobId, spec);
    if (this.#lately.size > this.#latelyMax) this.#lately.delete(this.#lately.keys().next().value as JobId);
    return spec;
  }

  /** A job that was submitted open has what was appended, too. Cost: O(changes of the job) for such a job. */
  #withAppended(spec: JobSpec, { jobId, taskCount }: BrokerJob): JobSpec {
    if (spec.open !== true) return spec;
    const groups = [...spec.groups];
    let count = countAllTasks(groups);
    let after = 0;
    while (count < taskCount) {
      const entries = this.#journal.read({ after, job: jobId, kind: 'TasksAppended', limit: pageSize });
      invariant(entries.length > 0, `job ${jobId} has ${taskCount} tasks, and the journal says of ${count}`);
      for (const { sequence, change } of entries) {
        after = sequence;
        if (change.kind !== 'TasksAppended') continue;
        groups.push(...change.groups);
        count += countAllTasks(change.groups);
      }
    }
    return { ...spec, groups };
  }
}
