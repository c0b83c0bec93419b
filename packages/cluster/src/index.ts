export { readClusterOptions, type ClusterConfig } from './cluster-options.ts';
export { startCluster, type ClusterSetup, type RunningCluster } from './start-cluster.ts';
