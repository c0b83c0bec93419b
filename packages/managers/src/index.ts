export type { AllocationOrder, ResourceManager } from './resource-manager.ts';
