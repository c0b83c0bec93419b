import type { Duration, Instant, ProcessorCount } from '@mutirao/core/shared';

/** What a log does not know: every value below 0, as the format itself writes it. */
export const notKnown = -1;

/** One job of a log; a field that the log does not know is `notKnown`. Times are in milliseconds. */
export interface SwfRecord {
  readonly jobId: number;
  /** Counted from the start of the log. */
  readonly submittedAt: Instant;
  readonly waitTime: Duration;
  readonly runTime: Duration;
  readonly allocatedProcessors: ProcessorCount;
  readonly requestedProcessors: ProcessorCount;
  readonly requestedTime: Duration;
  /** 0 failed, 1 completed, 5 cancelled; 2 to 4 are parts of a job that was interrupted. */
  readonly status: number;
  readonly userId: number;
  readonly partitionId: number;
}

/** Lines of a log, by what was made of them; together they are all its lines. */
export interface SwfLineCounts {
  /** Lines that are records, `long` and `outOfOrder` ones included. */
  record: number;
  /** Lines that begin with a semicolon. */
  comment: number;
  blank: number;
  /** Dropped: fewer than 18 fields. */
  short: number;
  /** Dropped: a field among the first 18 is not a number. */
  nonNumeric: number;
}

/** A log that was read. */
export interface SwfTrace {
  /** By submission; records of the same instant in the order of their lines. */
  readonly records: readonly SwfRecord[];
  /** The first value of each `; Key: value` comment. */
  readonly header: ReadonlyMap<string, string>;
  readonly lines: Readonly<SwfLineCounts>;
  /** Records with more than 18 fields; the rest of the line is not read. */
  readonly longCount: number;
  /** Records that came after one with a later submission; they were put where they belong. */
  readonly outOfOrderCount: number;
}

/**
 * Processors of the machine as the log's header says: MaxProcs, else MaxNodes; undefined where neither begins with a
 * whole number.
 */
export function listProcessors({ header }: SwfTrace): ProcessorCount | undefined {
  for (const key of ['MaxProcs', 'MaxNodes']) {
    // `1,152` would be read as 1.
    const [digits = ''] = /^\d+(?![^\s;(])/.exec(header.get(key) ?? '') ?? [];
    if (Number(digits) > 0) return Number(digits);
  }
  return undefined;
}
