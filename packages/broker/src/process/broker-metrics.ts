import {
  listJobSummaries,
  listMachineRecords,
  type BrokerChange,
  type BrokerInput,
  type BrokerState,
} from '@mutirao/core/machines/broker';
import type { ProviderId } from '@mutirao/core/shared';
import type { Clock } from '@mutirao/runtime/driver';
import type { Metrics } from '@mutirao/runtime/metrics';

import type { LinkCounts } from '../providers/provider-links.ts';

const secondsBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** What an operator of a broker wants to see. */
export class BrokerMetrics implements LinkCounts {
  readonly #placed;
  readonly #leased;
  readonly #started;
  readonly #ended;
  readonly #wait;
  readonly #commits;
  readonly #staged;
  readonly #connections;
  readonly #stale;
  readonly #results;
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.#placed = metrics.counter(
      'mutirao_broker_replicas_placed_total',
      'Replicas (runs of tasks) sent to machines.',
    );
    this.#leased = metrics.counter(
      'mutirao_broker_leases_total',
      'Leases granted to providers; each replaces the one before.',
    );
    this.#started = metrics.counter(
      'mutirao_broker_replicas_started_total',
      'Replicas that machines reported as running; very short ones end before they are reported.',
    );
    this.#ended = metrics.counter('mutirao_broker_replicas_ended_total', 'Replicas that ended, by outcome.', [
      'disposition',
    ]);
    this.#wait = metrics.histogram(
      'mutirao_broker_dispatch_seconds',
      'Time from sending a replica to its start on the machine; one replica of each report is observed.',
      secondsBuckets,
    );
    this.#commits = metrics.histogram(
      'mutirao_broker_journal_commit_seconds',
      'Time to commit one batch of changes to the journal.',
      secondsBuckets,
    );
    this.#staged = metrics.counter(
      'mutirao_broker_staged_bytes_total',
      'File bytes sent to machines (out) and brought home (in).',
      ['direction'],
    );
    this.#connections = metrics.counter(
      'mutirao_broker_provider_connections_total',
      'Connections made, by provider; all but the first are reconnects.',
      ['provider'],
    );
    this.#stale = metrics.counter('mutirao_broker_stale_inputs_total', 'Reports of replicas that had already ended.');
    this.#results = metrics.counter(
      'mutirao_broker_results_total',
      'Results whose outputs were brought home and checked: accepted, or the error code of the refusal.',
      ['outcome'],
    );
  }

  /** Adds the series that are read from the state. */
  watch(state: BrokerState, parts: { readonly clock: Clock; inboxLength(): number; watcherCount(): number }): void {
    const metrics = this.#metrics;
    metrics.gauge('mutirao_broker_inbox_length', 'Messages and commands waiting to be processed.', [], (gauge) => {
      gauge.set(parts.inboxLength());
    });
    metrics.gauge('mutirao_broker_watchers', 'Open calls that wait for or watch a job.', [], (gauge) => {
      gauge.set(parts.watcherCount());
    });
    metrics.gauge('mutirao_broker_tasks', 'Tasks of all jobs, by state.', ['state'], (gauge) => {
      for (const [name, count] of countTasks(state)) gauge.set({ state: name }, count);
    });
    metrics.gauge('mutirao_broker_jobs_open', 'Jobs that have not ended.', [], (gauge) => {
      gauge.set(state.openJobs.size);
    });
    metrics.gauge('mutirao_broker_machines', 'Machines, by status.', ['status'], (gauge) => {
      gauge.reset();
      for (const { status } of listMachineRecords(state, parts.clock.now())) gauge.inc({ status });
    });
    metrics.gauge('mutirao_broker_requests', 'Allocation requests, by status.', ['status'], (gauge) => {
      gauge.reset();
      for (const { status } of state.requests.values()) gauge.inc({ status });
    });
    metrics.gauge('mutirao_broker_providers_connected', 'Connected providers.', [], (gauge) => {
      gauge.set([...state.providers.values()].filter((provider) => provider.isConnected).length);
    });
  }

  /** Counts an input before the machine takes it. */
  receive(input: BrokerInput, state: BrokerState): void {
    if (input.kind === 'ResultAccepted') this.#results.inc({ outcome: 'accepted' });
    if (input.kind === 'ResultRefused') this.#results.inc({ outcome: input.reason });
    if (input.kind !== 'MachineReported') return;
    let staleCount = 0;
    for (const { replicaId } of input.report.ended) {
      if (!state.replicas.has(replicaId)) staleCount += 1;
    }
    if (staleCount > 0) this.#stale.inc(staleCount);
  }

  /** Counts a lease that left for its provider. */
  leased(): void {
    this.#leased.inc();
  }

  /** Counts a change that is in the journal. */
  count(change: BrokerChange): void {
    if (change.kind === 'ReplicasStarted') this.#started.inc(change.started.length);
    if (change.kind !== 'ReplicasEnded') return;
    const dispositions = new Map<string, number>();
    for (const { disposition } of change.endings)
      dispositions.set(disposition, (dispositions.get(disposition) ?? 0) + 1);
    for (const [disposition, count] of dispositions) this.#ended.inc({ disposition }, count);
    const first = change.endings[0];
    if (first !== undefined && first.startedAt > 0)
      this.#wait.observe(Math.max(0, first.startedAt - first.dispatchedAt) / 1000);
  }

  sent(replicaCount: number): void {
    this.#placed.inc(replicaCount);
  }

  committed(seconds: number): void {
    this.#commits.observe(seconds);
  }

  connected(providerId: ProviderId): void {
    this.#connections.inc({ provider: providerId });
  }

  staged(direction: 'in' | 'out', bytes: number): void {
    this.#staged.inc({ direction }, bytes);
  }
}

/** Cost: O(jobs). */
function countTasks(state: BrokerState): Map<string, number> {
  const counts = new Map([
    ['ready', 0],
    ['running', 0],
    ['finished', 0],
    ['failed', 0],
    ['cancelled', 0],
  ]);
  for (const userId of new Set([...state.jobs.values()].map((job) => job.userId))) {
    for (const summary of listJobSummaries(state, userId, { beforeJobId: 0, sizeMax: state.jobs.size })) {
      for (const name of ['ready', 'running', 'finished', 'failed', 'cancelled'] as const)
        counts.set(name, (counts.get(name) ?? 0) + summary[`${name}Count`]);
    }
  }
  return counts;
}
