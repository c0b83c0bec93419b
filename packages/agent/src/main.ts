import { enableCompileCache } from 'node:module';

/** The agent process: argv without node and script. */
export async function main(argv: readonly string[]): Promise<void> {
  // Many agents start at once when an allocation does; compiled code is shared among them.
  enableCompileCache();
  const { agentProgram } = await import('./program.ts');
  await agentProgram(argv);
}

if (import.meta.main) await main(process.argv.slice(2));
