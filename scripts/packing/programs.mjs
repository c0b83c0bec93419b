// Bundles the command line and each process into .cache/programs, unless what is there is newer than every source: a
// module of a bundle
// starts in a third of the processor time of the five hundred that it is made of. Without a bundle, or with a stale
// one, the sources run.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledProgram } from '../../packages/runtime/src/processes/bundled-program.ts';
import { bundleInPlace } from './bundle.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const programs = {
  remove: 'packages/runtime/src/processes/remove-folder.ts',
  ...Object.fromEntries(
    ['cli', 'agent', 'broker', 'cluster', 'provider', 'reservations', 'web'].map((name) => [
      name,
      `packages/${name}/src/main.ts`,
    ]),
  ),
};

/** Starts a bundle with the code that Node compiled of it last time. */
function starterOf(name) {
  return `const { enableCompileCache, flushCompileCache } = require('node:module');
const { join } = require('node:path');
enableCompileCache(join(__dirname, '../../node_modules/.cache/mutirao'));
const { main } = require('./bundles/${name}.cjs');
module.exports = { main };
if (require.main === module) void main(process.argv.slice(2)).finally(flushCompileCache);
`;
}

async function makePrograms(folder) {
  // Named before anything is read: what changes meanwhile is newer than it.
  writeFileSync(join(folder, 'built'), '');
  mkdirSync(join(folder, 'bundles'));
  for (const [name, entry] of Object.entries(programs)) {
    await bundleInPlace(entry, join(folder, 'bundles', `${name}.cjs`), 3);
    writeFileSync(join(folder, `${name}.cjs`), starterOf(name));
  }
}

if (bundledProgram('cli') === undefined) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const draft = mkdtempSync(join(root, '.cache/programs-'));
  try {
    await makePrograms(draft);
    // Other accounts may run what this one set up, as far as they may read the checkout.
    chmodSync(draft, 0o777 & ~process.umask());
    // A set of bundles changes as a whole; who starts between the two steps takes the sources.
    const place = join(root, '.cache/programs');
    if (existsSync(place)) renameSync(place, join(draft, 'old'));
    renameSync(draft, place);
    rmSync(join(place, 'old'), { recursive: true, force: true });
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
