export { CommandsManager, type CommandsOptions } from './commands/commands-manager.ts';
export { readManagerFile, type ManagerTemplates } from './commands/manager-file.ts';
export { EmbeddedCluster, type EmbeddedClusterOptions } from './embedded-cluster.ts';
export { GridEngineManager, type GridEngineOptions } from './grid-engine/grid-engine-manager.ts';
export { OarManager, type OarOptions } from './oar/oar-manager.ts';
export type { AllocationOrder, ResourceManager } from './resource-manager.ts';
export type { SiteReservationListing, SiteReservations } from './site-reservations.ts';
export { SlurmManager, type SlurmOptions } from './slurm/slurm-manager.ts';
