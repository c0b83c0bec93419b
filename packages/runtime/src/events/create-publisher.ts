import { randomInt } from 'node:crypto';

import type { EventMessage } from '@mutirao/api/events';

import { systemTimers } from '../driver/index.ts';
import type { Journal, JournalEntry } from '../journal/index.ts';
import type { Logger } from '../log/index.ts';
import type { Metrics } from '../metrics/index.ts';
import { EventBacklog } from './backlog.ts';
import type { ConnectEvents } from './connection.ts';
import { EventPublisher } from './event-publisher.ts';

/** Whose journal is published, and how. */
export interface PublisherSetup<Change> {
  /** Left out, events go nowhere. */
  readonly connectEvents: ConnectEvents | undefined;
  /** What the CloudEvents sources of this process begin with. */
  readonly source: string;
  /** What the names of the series begin with. */
  readonly series: string;
  readonly log: Logger;
  readonly metrics: Metrics | undefined;
  /** The messages of one line of the journal, in order; the same, byte for byte, at any time. */
  encode(source: string, entry: JournalEntry<Change>): EventMessage[];
}

/** Names, in the journal, of how far all is published and of the run of sequences that it is in. */
const placeName = 'events_published';
const runName = 'events_run';

/** The publisher of the journal's events, with its series; undefined if events are not published. */
export function createPublisher<Change>(
  setup: PublisherSetup<Change>,
  journal: Journal<Change>,
): EventPublisher | undefined {
  const { connectEvents, log, metrics, series } = setup;
  if (connectEvents === undefined) return undefined;
  const source = eventSource(setup.source, journal);
  const publisher = new EventPublisher({
    backlog: new EventBacklog(journal, (entry) => setup.encode(source, entry), journal.findNumber(placeName) ?? 0),
    connect: connectEvents,
    timers: systemTimers,
    random: Math.random,
    counts: {
      published: (count) => {
        published?.inc(count);
      },
    },
    keepPlace: (sequence) => {
      journal.keepNumber(placeName, sequence);
    },
    onTrouble: (error) => {
      if (error === undefined) log.info({}, 'publishing events again');
      else log.warn({ err: error }, 'cannot publish events; waiting for NATS');
    },
  });
  const published = metrics === undefined ? undefined : measurePublisher(metrics, series, publisher);
  return publisher;
}

/** Adds the series of a publisher. @returns the counter of published events */
export function measurePublisher(
  metrics: Metrics,
  series: string,
  publisher: Pick<EventPublisher, 'lag' | 'isConnected'>,
): { inc(count: number): void } {
  const published = metrics.counter(
    `${series}_published_total`,
    'Events that NATS has stored; an event that is published again counts again.',
  );
  metrics.gauge(`${series}_lag`, 'Journal changes whose events have not been published.', [], (gauge) => {
    gauge.set(publisher.lag);
  });
  metrics.gauge(`${series}_connected`, '1 while connected to NATS, else 0.', [], (gauge) => {
    gauge.set(publisher.isConnected ? 1 : 0);
  });
  return published;
}

/**
 * The CloudEvents source of a journal.
 *
 * A host that lost its power may have lost the last changes after they were published; their sequences come again with
 * other contents, and so under another source.
 */
export function eventSource(
  source: string,
  journal: Pick<Journal<unknown>, 'findNumber' | 'keepNumber' | 'isHostNew'>,
): string {
  const known = journal.isHostNew ? undefined : journal.findNumber(runName);
  const run = known ?? randomInt(2 ** 47);
  if (known === undefined) journal.keepNumber(runName, run);
  return `${source}/${run.toString(36)}`;
}
