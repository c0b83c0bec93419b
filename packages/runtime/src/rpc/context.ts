import type { Instant, UserId } from '@mutirao/core/shared';

/** Who calls, and for how long an answer is of use. */
export interface CallContext {
  readonly userId: UserId;
  /** The credential that the call came with. */
  readonly credential: string;
  /** Address of the caller with its port; `socket` at a socket of the file system. */
  readonly from: string;
  /** When the caller stops waiting; undefined when it waits for ever. */
  readonly deadline: Instant | undefined;
  /** Aborted when the caller is gone or has cancelled. */
  readonly signal: AbortSignal;
  /** Aborted when the server begins to drain: calls that only wait for something should end now. */
  readonly stopping: AbortSignal;
  /** Sends these values ahead of the answer, so that the caller can go by them while it still sends. Once at most. */
  begin(values: Readonly<Record<string, string>>): void;
}
