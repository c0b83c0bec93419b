export { EmbeddedCluster, type EmbeddedClusterOptions } from './embedded-cluster.ts';
export type { AllocationOrder, ResourceManager } from './resource-manager.ts';
export { SlurmManager, type SlurmOptions } from './slurm/slurm-manager.ts';
