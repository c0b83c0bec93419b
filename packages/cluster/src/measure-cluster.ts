import type { ClusterState } from '@mutirao/core/machines/cluster';
import type { Metrics } from '@mutirao/runtime/metrics';

/** The series of an embedded cluster. */
export function measureCluster(metrics: Metrics, state: ClusterState): void {
  metrics.gauge(
    'mutirao_cluster_processors',
    'Processors of the cluster, those of lost nodes included.',
    [],
    (gauge) => {
      gauge.set(state.options.processors);
    },
  );
  metrics.gauge('mutirao_cluster_processors_away', 'Processors of nodes that are not connected.', [], (gauge) => {
    gauge.set(state.processorsAway);
  });
  metrics.gauge('mutirao_cluster_processors_busy', 'Processors allocated to requests.', [], (gauge) => {
    gauge.set(state.processorsBusy);
  });
  metrics.gauge('mutirao_cluster_requests_queued', 'Queued requests.', [], (gauge) => {
    gauge.set(state.plan.waiting.size);
  });
  metrics.gauge('mutirao_cluster_requests_running', 'Running requests.', [], (gauge) => {
    gauge.set(state.plan.running.size);
  });
}
