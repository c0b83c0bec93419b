import type { BrokerEvent } from '@mutirao/core/machines/broker';
import type { Instant, TaskIndex } from '@mutirao/core/shared';
import { JobEvent as JobEventWire } from '../generated/mutirao/event/v1/event.ts';
import { encodeJobEvent } from '../codecs/broker.ts';
import { eventAbout, eventSubject } from './subjects.ts';

/** A message as it is published: a CloudEvent in binary content mode with protobuf data. */
export interface EventMessage {
  readonly subject: string;
  /** Names the event among all events of all brokers; a server that sees it again drops the repeat. */
  readonly messageId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A `mutirao.event.v1.JobEvent`. */
  readonly data: Uint8Array;
}

/** One line of a journal, as events. */
export interface ReportedChange {
  readonly sequence: number;
  readonly at: Instant;
  readonly events: readonly BrokerEvent[];
}

/** Task indexes that one message carries: it stays far below any server's limit of a message's size. */
const taskIndexesMax = 4096;
/** A message that would be larger goes without the facts of its machine or its request. */
const dataBytesMax = 256 * 1024;
/** Letters of a reason that a message carries. */
const reasonLengthMax = 4096;

/**
 * The messages of one change, in order.
 *
 * The CloudEvents id of the first is the journal's sequence, `17`; further ones are `17.1`, `17.2`, ... Pure: a change
 * gives the same messages, byte for byte, at any time, so that repeats share source and id.
 *
 * @param source the CloudEvents source: one for each broker and each run of its journal in which no sequence is used
 * twice.
 */
export function encodeEvents(source: string, { sequence, at, events }: ReportedChange): EventMessage[] {
  return events.flatMap(splitTasks).map((event, part) => {
    const id = part === 0 ? String(sequence) : `${sequence}.${part}`;
    return {
      subject: eventSubject(event),
      messageId: `${source}#${id}`,
      headers: {
        'ce-specversion': '1.0',
        'ce-id': id,
        'ce-source': source,
        'ce-type': `mutirao.${event.type}`,
        'ce-subject': getHeader(eventAbout(event)),
        'ce-time': new Date(at).toISOString(),
        'ce-datacontenttype': 'application/protobuf',
        'content-type': 'application/protobuf',
      },
      data: encodeData(sequence, at, event),
    };
  });
}

function encodeData(sequence: number, at: Instant, event: BrokerEvent): Uint8Array {
  const whole = encodeJobEvent(sequence, at, event);
  const reported = { ...whole, reason: whole.reason.slice(0, reasonLengthMax) };
  const data = JobEventWire.encode(reported).finish();
  if (data.length <= dataBytesMax) return data;
  return JobEventWire.encode({ ...reported, facts: undefined, request: undefined }).finish();
}

/** A header holds printable ASCII; the event itself has the id as it is. */
function getHeader(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '_');
}

/** The event itself, or several that share its tasks out where they are many. */
function splitTasks(event: BrokerEvent): BrokerEvent[] {
  if (event.taskIndexes.length <= taskIndexesMax) return [event];
  const parts: (readonly TaskIndex[])[] = [];
  for (let from = 0; from < event.taskIndexes.length; from += taskIndexesMax)
    parts.push(event.taskIndexes.slice(from, from + taskIndexesMax));
  return parts.map((taskIndexes) => ({ ...event, taskIndexes }));
}
