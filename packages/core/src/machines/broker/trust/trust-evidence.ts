import type { Cause } from '../../../reasons/index.ts';
import type { Instant, JobId, MachineId, TaskIndex } from '../../../shared/index.ts';

/** What speaks against a machine. */
export interface TrustEvidence {
  /**
   * `outvoted`: others agreed on another result; `mismatch`: bytes were not those that it announced; `word`: a user
   * said so; `attribute`: it states what cannot be part of a path in which a job uses it; `report`: it reported what
   * cannot be, or what was not requested.
   */
  readonly kind: 'outvoted' | 'mismatch' | 'word' | 'attribute' | 'report';
  readonly at: Instant;
  /** 0 where no task is meant. */
  readonly jobId: JobId;
  readonly taskIndex: TaskIndex;
  /** The machine's result, and the accepted one; empty if there is none. */
  readonly digest: string;
  readonly acceptedDigest: string;
  /** Names of the machines that disagreed with it. */
  readonly against: readonly MachineId[];
  readonly detail: Cause;
}

/** A machine's record of trust, under all its names. */
export interface TrustRecord {
  readonly identity: string;
  /** Its last name. */
  machineId: MachineId;
  /** Results that another machine confirmed, since its trust record was reset, if it was. */
  passes: number;
  /** Since when it gets nothing more; 0 while it is trusted. */
  quarantinedAt: Instant;
  /** The oldest go where there are many. */
  evidence: readonly TrustEvidence[];
  /** Evidence from before no longer counts; 0 for never. */
  trustResetAt: Instant;
}
