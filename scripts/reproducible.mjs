// Runs worlds of `mutirao sim swarm` twice, each time in a process of its own, and compares all their turns byte for
// byte.
// Usage: node scripts/reproducible.mjs SEED [COUNT]. Prints "N passed, N failed" last.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const mutirao = fileURLToPath(new URL('../packages/cli/bin/mutirao.js', import.meta.url));
const [first, count = 20] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'mutirao-reproducible-'));

function trace(seed, name) {
  const path = join(folder, name);
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      mutirao,
      'sim',
      'swarm',
      '--seeds',
      '1',
      '--from',
      String(seed),
      '--shrink',
      '0',
      '--out',
      folder,
      '--trace',
      path,
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0 && status !== 1) throw new Error(`seed ${seed} ended with status ${status}: ${stderr}`);
  return readFileSync(path);
}

let passed = 0;
let failed = 0;
for (let seed = first; seed < first + count; seed += 1) {
  const [one, other] = [trace(seed, 'one'), trace(seed, 'other')];
  const isSame = one.length > 0 && one.equals(other);
  if (isSame) passed += 1;
  else failed += 1;
  console.log(
    `${isSame ? 'ok  ' : 'FAIL'} seed ${seed}: ${one.length} bytes of ` +
      `turns${isSame ? '' : ` and ${other.length} in another process, which differ`}`,
  );
}
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
