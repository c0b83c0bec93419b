export type { BrokerClient, ClusterClient, ProviderClient, ReservationClient } from '@mutirao/runtime/clients';
export { entries, type CommandEntry } from './commands/index.ts';
export type { CommandContext } from './context.ts';
export type { ExitStatus } from './exit-status.ts';
export { main } from './main.ts';
export { terminalOutput, type Output } from './output/output.ts';
export { runCommand, type Surroundings } from './program.ts';
