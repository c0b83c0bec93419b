// Plants one-line bugs in a copy of the sources, one at a time, and checks that the layer of tests meant to kill each does kill it.
// The list is test/planted-bugs.json: { file, find, replace, layer, tests: [patterns] }. `find` must stand exactly once in `file`,
// and the patterns in the folder of the layer.
// Usage: node scripts/planted-bugs.mjs [--only SUBSTRING] [--layer LAYER] [--check]. --check only reads the list. Prints how many bugs each layer killed and
// "N passed, N failed" last; a bug that survives is a failure.
import { spawn } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../', import.meta.url));
const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, layer: { type: 'string', default: '' }, check: { type: 'boolean', default: false } } });
const bugs = JSON.parse(readFileSync(`${root}test/planted-bugs.json`, 'utf8'));

/** Where the tests of each layer stand. Those of a process are of its handlers and drivers; of its machine, they stand in core. */
const layerFolders = {
  unit: /^packages\/(?!(agent|broker|cluster|provider|reservations)\/)[^/*]+\/test\/unit\//,
  paper: /^packages\/[^/*]+\/test\/paper\//,
  interaction: /^packages\/core\/test\/interactions\//,
  property: /^packages\/[^/*]+\/test\/properties\//,
  swarm: /^packages\/sim\/test\/swarm\//,
  handler: /^packages\/(agent|broker|cluster|provider|reservations)\/test\/unit\//,
  adapter: /^packages\/managers\/test\//,
  'end to end': /^test\//,
};

/** Why an entry of the list cannot be tried; undefined when it can. */
function findFault({ find, layer, tests }, sound) {
  const folder = layerFolders[layer];
  if (folder === undefined) return `there is no layer "${layer}"; want one of ${Object.keys(layerFolders).join(', ')}`;
  const stranger = tests.find((pattern) => !folder.test(pattern));
  if (stranger !== undefined || tests.length === 0) return `${stranger ?? 'nothing'} is no test of the layer "${layer}"`;
  const empty = tests.find((pattern) => globSync(pattern, { cwd: root }).length === 0);
  if (empty !== undefined) return `${empty} names no test`;
  const count = sound.split(find).length - 1;
  return count === 1 ? undefined : `the line to change stands ${count} times`;
}

if (values.check) {
  const faults = bugs.flatMap((bug) => {
    const fault = findFault(bug, readFileSync(root + bug.file, 'utf8'));
    return fault === undefined ? [] : [`FAIL ${bug.file}: ${bug.find.trim()}: ${fault}`];
  });
  for (const fault of faults) console.log(fault);
  console.log(`${bugs.length - faults.length} passed, ${faults.length} failed`);
  process.exit(faults.length === 0 ? 0 : 1);
}

/** A copy of the sources whose own packages resolve to the copy, with everybody else's packages shared. */
async function copySources() {
  const copy = mkdtempSync(join(tmpdir(), 'mutirao-bugs-'));
  for (const folder of ['packages', 'proto', 'test', 'scripts', 'docs', 'examples/managers']) cpSync(root + folder, join(copy, folder), { recursive: true });
  for (const file of ['package.json', 'tsconfig.json', 'tsconfig.base.json', 'ava.config.js']) cpSync(root + file, join(copy, file));
  mkdirSync(join(copy, 'node_modules/@mutirao'), { recursive: true });
  for (const name of readdirSync(`${root}node_modules`)) {
    if (name !== '@mutirao') symlinkSync(`${root}node_modules/${name}`, join(copy, 'node_modules', name));
  }
  for (const name of readdirSync(`${root}packages`)) symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules/@mutirao', name));
  return copy;
}

let lastOutput = '';

/** Whether the tests fail, or do not end in time; whatever they started is gone afterwards. */
function testsFail(copy, tests, timeMax) {
  return new Promise((resolve) => {
    // The copy's modules are compiled once for all runs: a third of a second of processor time for each file of tests.
    const env = { ...process.env, NODE_COMPILE_CACHE: join(copy, '.cache/compiled') };
    const ava = spawn(process.execPath, [join(copy, 'node_modules/ava/entrypoints/cli.js'), '--fail-fast', ...tests], { cwd: copy, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const pieces = [];
    for (const stream of [ava.stdout, ava.stderr]) stream.on('data', (piece) => pieces.push(piece));
    const timer = setTimeout(() => {
      pieces.push(`They did not end within ${timeMax / 1000} s.`);
      process.kill(-ava.pid, 'SIGKILL');
    }, timeMax);
    ava.on('exit', (status) => {
      clearTimeout(timer);
      try {
        process.kill(-ava.pid, 'SIGKILL');
      } catch { /* Nothing was left. */ }
      lastOutput = pieces.join('');
      resolve(status !== 0);
    });
  });
}

let passed = 0;
let failed = 0;
const killed = new Map();
const copy = await copySources();
try {
  const chosen = bugs.filter((bug) => `${bug.file} ${bug.replace}`.includes(values.only) && (values.layer === '' || bug.layer === values.layer));
  const everything = [...new Set(chosen.flatMap((bug) => bug.tests))];
  const begun = Date.now();
  if (await testsFail(copy, everything, 300_000 + 15_000 * everything.length)) {
    console.log(`FAIL the tests fail without any bug:\n${lastOutput.slice(-2000)}`);
    failed += 1;
  }
  // A test that a bug sends round and round for ever has seen it; one that is only slow, on a busy machine, has not.
  const timeMax = Math.max(120_000, Math.min(2 * (Date.now() - begun), 900_000));
  for (const bug of chosen) {
    const path = join(copy, bug.file);
    const sound = readFileSync(path, 'utf8');
    const where = `${bug.file}: ${bug.find.trim()} -> ${bug.replace.trim()}`;
    const fault = findFault(bug, sound);
    if (fault !== undefined) {
      console.log(`FAIL ${where}: ${fault}`);
      failed += 1;
      continue;
    }
    writeFileSync(path, sound.replace(bug.find, () => bug.replace));
    if (await testsFail(copy, bug.tests, timeMax)) {
      console.log(`ok   ${bug.layer}: ${where}`);
      passed += 1;
      killed.set(bug.layer, (killed.get(bug.layer) ?? 0) + 1);
    } else {
      console.log(`FAIL survived the layer "${bug.layer}": ${where} (${bug.tests.join(' ')})`);
      failed += 1;
    }
    writeFileSync(path, sound);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
for (const layer of Object.keys(layerFolders)) if (killed.has(layer)) console.log(`killed by the layer "${layer}": ${killed.get(layer)}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
