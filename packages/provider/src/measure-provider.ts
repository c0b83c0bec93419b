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
export function measureProvider(metrics: Metrics, parts: MeasuredParts): void {
  measureRequests(metrics, parts);
  measureMachines(metrics, parts);
  measureStandby(metrics, parts);
  measureFiles(metrics, parts);
}

/** Requests to the resource manager, and the demand behind them. */
function measureRequests(metrics: Metrics, { state }: MeasuredParts): void {
  metrics.gauge(
    'mutirao_provider_requests',
    'Allocation requests of this provider, by status; ended ones count while they are remembered.',
    ['status'],
    (gauge) => {
      for (const status of statuses)
        gauge.set({ status }, [...state.requests.values()].filter((request) => request.status === status).length);
    },
  );
  metrics.gauge('mutirao_provider_wanted_tasks', 'Pending tasks of all brokers, as last reported.', [], (gauge) => {
    gauge.set([...state.brokers.values()].reduce((sum, broker) => sum + (broker.demand?.pendingTasks ?? 0), 0));
  });
  metrics.gauge(
    'mutirao_provider_held_idle_processors',
    'Processors held idle for a reservation that has not started.',
    [],
    (gauge) => {
      gauge.set(countHeldIdle(state));
    },
  );
  metrics.gauge(
    'mutirao_provider_refusals',
    'Consecutive requests that were refused or ended without an agent.',
    [],
    (gauge) => {
      gauge.set(state.refusals + state.emptyAllocationStreak);
    },
  );
  metrics.gauge(
    'mutirao_provider_queue_stale',
    '1 while the last reading of the queue failed, else 0.',
    [],
    (gauge) => {
      gauge.set(state.listingFailure === '' ? 0 : 1);
    },
  );
}

/** Machines, and what passes between them and the brokers. */
function measureMachines(metrics: Metrics, { state, relay, measure }: MeasuredParts): void {
  metrics.gauge('mutirao_provider_machines', 'Known machines.', [], (gauge) => {
    gauge.set(state.machines.size);
  });
  metrics.gauge('mutirao_provider_agents', 'Connected agents.', [], (gauge) => {
    gauge.set(relay.agentCount);
  });
  metrics.gauge('mutirao_provider_brokers', 'Connected brokers.', [], (gauge) => {
    gauge.set(relay.brokerCount);
  });
  metrics.gauge('mutirao_provider_replicas_ended', 'Replica ends relayed since the process started.', [], (gauge) => {
    gauge.set(measure.endedCount);
  });
  metrics.gauge(
    'mutirao_provider_messages_dropped',
    'Messages to machines that were gone, since the process started.',
    [],
    (gauge) => {
      gauge.set(relay.droppedCount);
    },
  );
}

/** What the provider does for brokers that are disconnected. */
function measureStandby(metrics: Metrics, { state, outputs }: MeasuredParts): void {
  metrics.gauge(
    'mutirao_provider_standby_brokers',
    'Disconnected brokers for which this provider runs leased tasks.',
    [],
    (gauge) => {
      gauge.set([...state.brokers.values()].filter(({ standbySince = 0 }) => standbySince > 0).length);
    },
  );
  metrics.gauge('mutirao_provider_spooled_reports', 'Reports stored for disconnected brokers.', [], (gauge) => {
    gauge.set([...state.kept.values()].reduce((sum, { reports }) => sum + reports.length, 0));
  });
  metrics.gauge('mutirao_provider_spooled_bytes', 'Output bytes stored for disconnected brokers.', [], (gauge) => {
    gauge.set(outputs.bytes);
  });
  metrics.gauge(
    'mutirao_provider_spool_refusals',
    'Outputs refused for lack of room in the spool, since the process started; each try counts.',
    [],
    (gauge) => {
      gauge.set(outputs.refusedCount);
    },
  );
}

/** Transfers and the input cache. */
function measureFiles(metrics: Metrics, { exchange, contents }: MeasuredParts): void {
  metrics.gauge('mutirao_provider_transfers_open', 'File transfers waiting or running.', [], (gauge) => {
    gauge.set(exchange.openCount);
  });
  metrics.gauge('mutirao_provider_transferred_bytes', 'File bytes relayed since the process started.', [], (gauge) => {
    gauge.set(exchange.byteCount);
  });
  metrics.gauge('mutirao_provider_contents_kept_bytes', 'Bytes in the input cache.', [], (gauge) => {
    gauge.set(contents?.keptBytes ?? 0);
  });
  metrics.gauge(
    'mutirao_provider_contents_served_bytes',
    'Bytes served from the input cache since the process started.',
    [],
    (gauge) => {
      gauge.set(contents?.servedBytes ?? 0);
    },
  );
}
