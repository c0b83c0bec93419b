export { CommandsManager, type CommandsOptions } from './commands/commands-manager.ts';
export { readManagerFile, type ManagerTemplates } from './commands/manager-file.ts';
export { EmbeddedCluster, type EmbeddedClusterOptions } from './embedded-cluster.ts';
export type { AllocationOrder, ResourceManager } from './resource-manager.ts';
export type { SiteReservationListing, SiteReservations } from './site-reservations.ts';
export { SlurmManager, type SlurmOptions } from './slurm/slurm-manager.ts';
