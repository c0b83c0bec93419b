import { enableCompileCache, flushCompileCache } from 'node:module';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';

/** The broker process: argv without node and script. */
export async function main(argv: readonly string[]): Promise<void> {
  // A broker that is restarted should serve soon. Kept in the project, not in a folder where others could plant code
  // for us.
  if (!isSea()) enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/mutirao', import.meta.url)));
  const { brokerProgram } = await import('./program.ts');
  flushCompileCache();
  await brokerProgram(argv);
}

if (import.meta.main) await main(process.argv.slice(2));
