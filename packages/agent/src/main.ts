import { enableCompileCache } from 'node:module';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';

/** Resource managers hand credentials over in the environment of all that an allocation starts. */
const credentialVariable = 'MUTIRAO_CREDENTIAL';

/** The agent process: argv without node and script. */
export async function main(argv: readonly string[]): Promise<void> {
  // Many agents start at once when an allocation does; compiled code is shared among them. Kept in the project, not in
  // a folder where
  // others could plant code for us.
  if (!isSea()) enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/mutirao', import.meta.url)));
  if (process.env[credentialVariable] !== undefined) {
    const { hideVariable } = await import('@mutirao/runtime/processes');
    hideVariable(credentialVariable);
  }
  const { agentProgram } = await import('./program.ts');
  await agentProgram(argv);
}

if (import.meta.main) await main(process.argv.slice(2));
