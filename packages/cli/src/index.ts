export { main } from './main.ts';
export type { ExitStatus } from './exit-status.ts';
