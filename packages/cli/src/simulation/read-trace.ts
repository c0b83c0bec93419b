import { MutiraoError } from '@mutirao/api/errors';
import { plural } from '@mutirao/core/shared';
import { parseSwf, listProcessors, selectRequests, type SelectedRequests, type SwfTrace } from '@mutirao/formats';

import { readPacked } from './read-file.ts';

/** The widest machine that is simulated. */
export const processorsMax = 1_000_000;

/** A log, the machine that it is replayed on, and its requests. */
export interface TraceFile extends SelectedRequests {
  readonly file: string;
  readonly trace: SwfTrace;
  readonly processors: number;
}

/** How a log is read. */
export interface TraceReading {
  /** As the user named it. */
  readonly file: string;
  readonly path: string;
  /** Processors of the machine; what the log's header says when left out. */
  readonly processors: number | undefined;
  readonly killsAtRequestedTime?: boolean;
}

/**
 * Reads a log in the Standard Workload Format, gzipped or not.
 *
 * @throws {MutiraoError} MUT_FILE_NOT_FOUND; MUT_BAD_REQUEST when the machine's size is not known or too large;
 * MUT_TRACE_EMPTY without a request
 * that fits. @throws {FormatError} MUT_SWF_SYNTAX when it is not a log.
 */
export function readTrace(reading: TraceReading): TraceFile {
  const { file } = reading;
  const trace = parseSwf(readPacked(file, reading.path, 'MUT_SWF_SYNTAX'), file);
  const processors = reading.processors ?? listProcessors(trace);
  if (processors === undefined) {
    if (trace.records.length === 0) throw new MutiraoError('MUT_TRACE_EMPTY', `${file} holds no record`);
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${file} does not say how many processors its machine has; expected --procs`,
    );
  }
  if (processors > processorsMax)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${file} says that its machine has ${processors} processors; expected --procs with at most ${processorsMax}`,
    );
  const selected = selectRequests(trace.records, {
    processors,
    killsAtRequestedTime: reading.killsAtRequestedTime === true,
  });
  const read = { file, trace, processors, ...selected };
  if (selected.requests.length === 0)
    throw new MutiraoError('MUT_TRACE_EMPTY', `${file} holds no request to replay: ${describeTrace(read)}`);
  return read;
}

/** Says in one line what was made of the lines of a log; kinds that did not occur are left out. */
export function describeTrace({
  trace,
  dropped,
  requests,
  processors,
  overrunCount,
  noRequestedTimeCount,
}: TraceFile): string {
  const { lines, longCount, outOfOrderCount } = trace;
  const machine = plural(processors, 'processor');
  const kinds: readonly (readonly [count: number, noun: string, kind: string])[] = [
    [lines.short, 'line', 'with fewer than 18 fields dropped'],
    [lines.nonNumeric, 'line', 'with a field that is not a number dropped'],
    [dropped.noSubmitTime, 'record', 'without submission time dropped'],
    [dropped.noRunTime, 'record', 'without run time dropped'],
    [dropped.noProcessors, 'record', 'without processors dropped'],
    [dropped.tooWide, 'record', `wider than ${machine} dropped`],
    [dropped.tooLong, 'record', 'with a time beyond 3,000 years dropped'],
    [longCount, 'record', 'with more than 18 fields, the rest of which is not read'],
    [outOfOrderCount, 'record', 'out of order, sorted by submission'],
    [overrunCount, 'request', 'that ran longer than requested'],
    [noRequestedTimeCount, 'request', 'without requested time'],
  ];
  const reported = kinds.filter(([count]) => count > 0).map(([count, noun, kind]) => `${plural(count, noun)} ${kind}`);
  return [`${plural(requests.length, 'request')} of ${plural(lines.record, 'record')} on ${machine}`, ...reported].join(
    '; ',
  );
}

/** What was made of the lines of a log, for JSON. */
export function traceJson({
  trace,
  dropped,
  requests,
  processors,
  overrunCount,
  noRequestedTimeCount,
  file,
}: TraceFile): unknown {
  const { lines, longCount, outOfOrderCount } = trace;
  return {
    file,
    processors,
    request_count: requests.length,
    record_count: lines.record,
    comment_count: lines.comment,
    blank_count: lines.blank,
    short_dropped_count: lines.short,
    non_numeric_dropped_count: lines.nonNumeric,
    no_submit_time_dropped_count: dropped.noSubmitTime,
    no_run_time_dropped_count: dropped.noRunTime,
    no_processors_dropped_count: dropped.noProcessors,
    too_wide_dropped_count: dropped.tooWide,
    too_long_dropped_count: dropped.tooLong,
    long_count: longCount,
    out_of_order_count: outOfOrderCount,
    overrun_count: overrunCount,
    no_requested_time_count: noRequestedTimeCount,
  };
}
