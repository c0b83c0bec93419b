import type { BrokerChange, BrokerJob } from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import { withRevisedInputs } from '@mutirao/core/resumption';
import { invariant, type JobId } from '@mutirao/core/shared';
import type { Journal } from '@mutirao/runtime/journal';

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
    const spec = withRevisedInputs(first.change.spec, job.revisedInputs);
    this.#lately.set(job.jobId, spec);
    if (this.#lately.size > this.#latelyMax) this.#lately.delete(this.#lately.keys().next().value as JobId);
    return spec;
  }
}
