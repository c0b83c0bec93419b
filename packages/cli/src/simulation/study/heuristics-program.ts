import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { isPacked } from '@mutirao/runtime/processes';

import { programVersion } from '../../version.ts';

/** Characters of a digest that are kept: enough to distinguish a few versions. */
const digits = 16;

/** What decides the requests, and what they are simulated on: folders of sources in a checkout. */
const packages = fileURLToPath(new URL('../../../../', import.meta.url));
const requests = join(packages, 'core/src/requests');
const deciding: readonly string[] = [
  requests,
  ...['core/src/profile', 'core/src/queue', 'sim/src/grid', 'sim/src/resource'].map((folder) => join(packages, folder)),
];
const finishFolder = join(requests, 'finish');

/**
 * Identifies the version of the program that a heuristic's results come from: a digest of the sources that decide
 * and simulate. Those of `finish` count for that heuristic alone, so that results of the others stay when it changes.
 * The executable, which has no sources with it, is distinguished by its version.
 *
 * @returns hexadecimal digits, or a version.
 */
export function getProgram(heuristic: string): string {
  if (isPacked) return programVersion();
  const hash = createHash('sha256');
  for (const folder of deciding) {
    for (const path of sourcesIn(folder)) {
      if (heuristic !== 'finish' && path.startsWith(finishFolder)) continue;
      hash.update(`${relative(requests, path)}\n`).update(readFileSync(path));
    }
  }
  return hash.digest('hex').slice(0, digits);
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => join(folder, name));
}
