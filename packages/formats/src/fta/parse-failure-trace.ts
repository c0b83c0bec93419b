import type { Instant } from '@mutirao/core/shared';
import { FormatError, showFound } from '../format-error.ts';

/** When a node was not available, in the order of time. */
export interface NodeFailures {
  /** The node's own, as the trace names it. */
  readonly nodeId: string;
  readonly downs: readonly { readonly start: Instant; readonly end: Instant }[];
}

/** The failures of a machine park. */
export interface FailureTrace {
  /** Nodes that failed at least once, in the order in which the trace first names them. */
  readonly nodes: readonly NodeFailures[];
  /** Lines that are neither comments nor events. */
  readonly malformedCount: number;
}

const fieldCount = 8;
const unavailable = '0';

/**
 * Reads a trace of the Failure Trace Archive: event id, component, node, platform, node name, event type (0 not
 * available, 1
 * available), start and stop in Unix seconds, separated by blanks. Lines that make no sense are counted.
 *
 * @param file as the user named it. @throws {FormatError} when no line is an event. Cost: linear.
 */
export function parseFailureTrace(text: string, file: string): FailureTrace {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const events = lines.map(readEvent).filter((event) => event !== undefined);
  if (events.length === 0) {
    throw new FormatError({
      code: 'MUT_BAD_REQUEST',
      subject: file,
      line: 1,
      column: 1,
      found: showFound(text.split('\n', 1)[0] ?? ''),
      expected: 'a failure trace, with an event of eight fields a line',
    });
  }
  const downs = Map.groupBy(
    events.filter(({ isDown }) => isDown),
    ({ nodeId }) => nodeId,
  );
  const nodes = Array.from(downs, ([nodeId, intervals]) => ({
    nodeId,
    downs: intervals.map(({ start, end }) => ({ start, end })).sort((one, other) => one.start - other.start),
  }));
  return { nodes, malformedCount: lines.length - events.length };
}

interface TraceEvent {
  readonly nodeId: string;
  readonly isDown: boolean;
  readonly start: Instant;
  readonly end: Instant;
}

/** Undefined for a line that makes no sense. */
function readEvent(line: string): TraceEvent | undefined {
  const fields = line.split(/\s+/);
  const [, component = '', node = '', , , type = '', from = '', until = ''] = fields;
  const [start, end] = [1000 * Number(from), 1000 * Number(until)];
  if (fields.length < fieldCount || !/^[01]$/.test(type) || !(start <= end)) return undefined;
  return { nodeId: `${component}.${node}`, isDown: type === unavailable, start, end };
}
