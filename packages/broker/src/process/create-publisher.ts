import { randomInt } from 'node:crypto';

import type { BrokerChange } from '@mutirao/core/machines/broker';
import { systemTimers } from '@mutirao/runtime/driver';
import type { ConnectEvents } from '@mutirao/runtime/events';
import type { Journal } from '@mutirao/runtime/journal';
import type { Logger } from '@mutirao/runtime/log';
import type { Metrics } from '@mutirao/runtime/metrics';

import { EventBacklog } from '../events/backlog.ts';
import { EventPublisher } from '../events/event-publisher.ts';

/** The part of a broker's setup that publishing needs. */
export interface PublisherSetup {
  readonly connectEvents?: ConnectEvents | undefined;
  readonly brokerId: string;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Names, in the journal, of how far all is published and of the run of sequences that it is in. */
const placeName = 'events_published';
const runName = 'events_run';

/** What publishes the journal's events, with its series; undefined where they are not to be published. */
export function createPublisher({ connectEvents, brokerId, log, metrics }: PublisherSetup, journal: Journal<BrokerChange>): EventPublisher | undefined {
  if (connectEvents === undefined) return undefined;
  const published = metrics.counter('mutirao_broker_events_published_total', 'Events that NATS has kept; repeats count again.');
  const publisher = new EventPublisher({
    backlog: new EventBacklog(journal, eventSource(brokerId, journal), journal.findNumber(placeName) ?? 0),
    connect: connectEvents, timers: systemTimers, random: Math.random,
    counts: { published: (count) => { published.inc(count); } },
    keepPlace: (sequence) => { journal.keepNumber(placeName, sequence); },
    onTrouble: (error) => {
      if (error === undefined) log.info({}, 'events are published again');
      else log.warn({ err: error }, 'events are not published until NATS is back');
    },
  });
  metrics.gauge('mutirao_broker_events_lag', 'Changes in the journal whose events are not published yet.', [], (gauge) => { gauge.set(publisher.lag); });
  metrics.gauge('mutirao_broker_events_connected', 'Whether NATS is connected.', [], (gauge) => { gauge.set(publisher.isConnected ? 1 : 0); });
  return publisher;
}

/**
 * The CloudEvents source of a journal.
 *
 * A host that lost its power may have lost the last changes after they were published; their sequences come again with other
 * contents, and so under another source.
 */
export function eventSource(brokerId: string, journal: Pick<Journal<BrokerChange>, 'findNumber' | 'keepNumber' | 'isHostNew'>): string {
  const known = journal.isHostNew ? undefined : journal.findNumber(runName);
  const run = known ?? randomInt(2 ** 47);
  if (known === undefined) journal.keepNumber(runName, run);
  return `/mutirao/brokers/${brokerId}/${run.toString(36)}`;
}
