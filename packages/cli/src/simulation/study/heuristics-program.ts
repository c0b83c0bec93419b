import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Of a digest so much is kept: enough to tell a few versions apart. */
const digits = 16;

/** What decides the requests, and what they are simulated on: folders of sources. */
const requests = folderOf('@mutirao/core/requests');
const deciding: readonly string[] = [
  requests, join(requests, '../profile'), join(requests, '../queue'), join(folderOf('@mutirao/sim/heuristics'), '../../grid'), join(folderOf('@mutirao/sim/heuristics'), '../../resource'),
];
const finishFolder = join(requests, 'finish');

/**
 * Tells versions of the program apart by what its results of a heuristic come from: a digest of the sources that decide and simulate. Those of `finish` count for that heuristic alone, so that
 * what others have come to stands when it changes.
 *
 * @returns hexadecimal digits.
 */
export function programOf(heuristic: string): string {
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
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts')).sort().map((name) => join(folder, name));
}

function folderOf(module: string): string {
  return dirname(fileURLToPath(import.meta.resolve(module)));
}
