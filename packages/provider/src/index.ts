export { startProvider, type ProviderSetup, type RunningProvider } from './start-provider.ts';
