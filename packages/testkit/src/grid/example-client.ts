import { execFile } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder, type WithTeardown } from '../temporary-folder.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** A language that examples/clients has a client in. */
export type ClientLanguage = 'python' | 'go';

/** A client of examples/clients, ready to run. */
export interface ExampleClient {
  /** Where its source is, and the code that was generated. */
  readonly folder: string;
  /** Program and first arguments that start it. */
  readonly command: readonly [string, ...string[]];
}

/**
 * Copies one of examples/clients and proto/, and nothing else of Mutirao, into a folder of the test's own, and
 * generates and builds it there as its README says.
 */
export async function buildExampleClient(t: WithTeardown, language: ClientLanguage): Promise<ExampleClient> {
  const home = temporaryFolder(t);
  const folder = join(home, 'client');
  const made = ['.venv', 'bin', 'mutirao', '__pycache__'].map((name) => join(root, 'examples/clients', language, name));
  cpSync(join(root, 'proto'), join(home, 'proto'), { recursive: true });
  cpSync(join(root, 'examples/clients', language), folder, {
    recursive: true,
    filter: (source) => !made.includes(source),
  });
  if (language === 'python') symlinkSync(join(root, '.cache/python'), join(folder, '.venv'));
  await run('./generate', [join(home, 'proto')], { cwd: folder });
  if (language === 'python') return { folder, command: [join(folder, '.venv/bin/python'), join(folder, 'bag.py')] };
  await run('go', ['build', '-o', 'bin/bag', '.'], { cwd: folder });
  return { folder, command: [join(folder, 'bin/bag')] };
}
