import type { ProviderState } from '@mutirao/core/machines/provider';
import type { RequestStatus } from '@mutirao/core/messages';
import type { Metrics } from '@mutirao/runtime/metrics';
import { countHeldIdle } from './reservations/describe-held.ts';
import type { SiteContents } from './contents/site-contents.ts';
import type { TaskMeasure } from './relay/measure.ts';
import type { Relay } from './relay/relay.ts';
import type { OutputSpool } from './spool/output-spool.ts';
import type { TransferExchange } from './transfers/transfer-exchange.ts';

/** The parts that are measured. */
export interface MeasuredParts {
  readonly state: ProviderState;
  readonly relay: Relay;
  readonly exchange: TransferExchange;
  readonly outputs: OutputSpool;
  readonly measure: TaskMeasure;
  /** Undefined where none are kept. */
  readonly contents: Pick<SiteContents, 'keptBytes' | 'servedBytes'> | undefined;
}

const statuses: readonly RequestStatus[] = ['submitting', 'queued', 'running', 'ended', 'rejected', 'vanished'];

/** The series of a provider. */
export function measureProvider(
  metrics: Metrics,
  { state, relay, exchange, outputs, measure, contents }: MeasuredParts,
): void {
  metrics.gauge('mutirao_provider_requests', 'Own requests that are remembered, by status.', ['status'], (gauge) => {
    for (const status of statuses)
      gauge.set({ status }, [...state.requests.values()].filter((request) => request.status === status).length);
  });
  metrics.gauge('mutirao_provider_machines', 'GridMachines that are known.', [], (gauge) => {
    gauge.set(state.machines.size);
  });
  metrics.gauge('mutirao_provider_agents', 'Agents that are attached.', [], (gauge) => {
    gauge.set(relay.agentCount);
  });
  metrics.gauge('mutirao_provider_brokers', 'Brokers that are connected.', [], (gauge) => {
    gauge.set(relay.brokerCount);
  });
  metrics.gauge('mutirao_provider_wanted_tasks', 'Pending tasks of all brokers, as they told last.', [], (gauge) => {
    gauge.set([...state.brokers.values()].reduce((sum, broker) => sum + (broker.demand?.pendingTasks ?? 0), 0));
  });
  metrics.gauge(
    'mutirao_provider_held_idle_processors',
    'Processors that run for a reservation and that nobody uses yet.',
    [],
    (gauge) => {
      gauge.set(countHeldIdle(state));
    },
  );
  metrics.gauge('mutirao_provider_refusals', 'Refusals and emptyAllocationStreak requests in a row.', [], (gauge) => {
    gauge.set(state.refusals + state.emptyAllocationStreak);
  });
  metrics.gauge('mutirao_provider_queue_stale', 'Whether the last reading of the queue failed.', [], (gauge) => {
    gauge.set(state.listingFailure === '' ? 0 : 1);
  });
  metrics.gauge('mutirao_provider_replicas_ended', 'Replicas whose ends were relayed since the start.', [], (gauge) => {
    gauge.set(measure.endedCount);
  });
  metrics.gauge(
    'mutirao_provider_messages_dropped',
    'Messages to machines that were gone, since the start.',
    [],
    (gauge) => {
      gauge.set(relay.droppedCount);
    },
  );
  metrics.gauge(
    'mutirao_provider_standby_brokers',
    'Brokers that are away and that the provider stands in for.',
    [],
    (gauge) => {
      gauge.set([...state.brokers.values()].filter(({ standbySince = 0 }) => standbySince > 0).length);
    },
  );
  metrics.gauge('mutirao_provider_spooled_reports', 'Reports that are kept for brokers that are away.', [], (gauge) => {
    gauge.set([...state.kept.values()].reduce((sum, { reports }) => sum + reports.length, 0));
  });
  metrics.gauge(
    'mutirao_provider_spooled_bytes',
    'Bytes of outputs that are kept for brokers that are away.',
    [],
    (gauge) => {
      gauge.set(outputs.bytes);
    },
  );
  metrics.gauge(
    'mutirao_provider_spool_refusals',
    'Outputs that had no room in the spool, since the start; each try counts.',
    [],
    (gauge) => {
      gauge.set(outputs.refusedCount);
    },
  );
  metrics.gauge('mutirao_provider_transfers_open', 'Transfers of contents that wait or run.', [], (gauge) => {
    gauge.set(exchange.openCount);
  });
  metrics.gauge(
    'mutirao_provider_transferred_bytes',
    'Bytes of contents passed through since the start.',
    [],
    (gauge) => {
      gauge.set(exchange.byteCount);
    },
  );
  metrics.gauge(
    'mutirao_provider_contents_kept_bytes',
    'Bytes of contents that are kept for the agents.',
    [],
    (gauge) => {
      gauge.set(contents?.keptBytes ?? 0);
    },
  );
  metrics.gauge(
    'mutirao_provider_contents_served_bytes',
    'Bytes of contents that agents got from those that are kept, since the start.',
    [],
    (gauge) => {
      gauge.set(contents?.servedBytes ?? 0);
    },
  );
}
