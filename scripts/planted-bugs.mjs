// Plants one-line bugs in a copy of the sources, one at a time, and checks that the layer of tests meant to kill each
// does kill it.
// The list is test/planted-bugs.json: { file, symbol, find, replace, layer, tests: [patterns] }. The tokens of `find`
// must occur exactly once in the
// declaration `symbol` of `file` (in all of the file where there is no symbol), and the patterns in the folder of the
// layer.
// Usage: node scripts/planted-bugs.mjs [--only SUBSTRING] [--layer LAYER] [--check] [--rewrite [--renames FILE]]
//   --only     of the file, the line or its replacement
//   --check    only read the list
//   --rewrite follow the sources: apply the renames of FILE, { identifiers: { old: new }, files: { old: new } }, find
//   bugs whose function was moved, and
//              write the symbol of each
// Prints how many bugs each layer killed and "N passed, N failed" last; a bug that survives is a failure, and so is a
// SUBSTRING that matches nothing.
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { enclosingSymbol, findPlaces, plant, readSource, renameBug } from './planted-bugs/anchors.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    layer: { type: 'string', default: '' },
    check: { type: 'boolean', default: false },
    rewrite: { type: 'boolean', default: false },
    renames: { type: 'string' },
  },
});
const list = `${root}test/planted-bugs.json`;
const bugs = JSON.parse(readFileSync(list, 'utf8'));

const sources = new Map();
/** A source file of this tree; without text where there is no such file. */
function sourceAt(file) {
  if (!sources.has(file))
    sources.set(file, readSource(file, existsSync(root + file) ? readFileSync(root + file, 'utf8') : ''));
  return sources.get(file);
}

/**
 * Where the tests of each layer stand. Those of a process are of its handlers and drivers; of its machine, they stand
 * in core.
 */
const layerFolders = {
  unit: /^packages\/(?!(agent|broker|cluster|provider|reservations|web)\/)[^/*]+\/test\/unit\//,
  paper: /^packages\/[^/*]+\/test\/paper\//,
  interaction: /^packages\/core\/test\/interactions\//,
  property: /^packages\/[^/*]+\/test\/properties\//,
  swarm: /^packages\/sim\/test\/swarm\//,
  handler: /^packages\/(agent|broker|cluster|provider|reservations|web)\/test\/unit\//,
  adapter: /^packages\/managers\/test\//,
  'end to end': /^test\//,
};

/** Why an entry of the list cannot be tried; undefined when it can. */
function findFault(bug, source) {
  const { layer, tests } = bug;
  const folder = layerFolders[layer];
  if (folder === undefined)
    return `there is no layer "${layer}"; expected one of ${Object.keys(layerFolders).join(', ')}`;
  const foreign = tests.find((pattern) => !folder.test(pattern));
  if (foreign !== undefined || tests.length === 0) return `${foreign ?? 'nothing'} is no test of the layer "${layer}"`;
  const empty = tests.find((pattern) => globSync(pattern, { cwd: root }).length === 0);
  if (empty !== undefined) return `${empty} names no test`;
  const count = findPlaces(source, bug).length;
  return count === 1
    ? undefined
    : `the line to change occurs ${count} times${bug.symbol === undefined ? '' : ` in ${bug.symbol}`}`;
}

/**
 * A bug where it is now: after the renames, and in another symbol or file where its function was moved; unchanged where
 * it is nowhere, or not once.
 */
function follow(bug, renames) {
  const renamed = renameBug(bug, renames);
  const { symbol, ...anywhere } = renamed;
  const places = findPlaces(sourceAt(renamed.file), renamed);
  const candidates =
    places.length === 1
      ? [renamed]
      : [anywhere, ...globSync('packages/*/src/**/*.ts', { cwd: root }).map((file) => ({ ...anywhere, file }))];
  const fitting = candidates.filter((candidate) => findPlaces(sourceAt(candidate.file), candidate).length === 1);
  const found = fitting.find(({ file }) => file === renamed.file) ?? (fitting.length === 1 ? fitting[0] : undefined);
  if (found === undefined) return renamed;
  const source = sourceAt(found.file);
  const { file, find, replace, layer, tests } = found;
  const enclosing = enclosingSymbol(source.symbols, findPlaces(source, found)[0]);
  return { file, ...(enclosing === '' ? {} : { symbol: enclosing }), find, replace, layer, tests };
}

/** Checks the list without running a test, prints what is wrong and ends. */
function check(listed) {
  const faults = listed.flatMap((bug) => {
    const fault = findFault(bug, sourceAt(bug.file));
    return fault === undefined ? [] : [`FAIL ${bug.file}: ${bug.find.trim()}: ${fault}`];
  });
  for (const fault of faults) console.log(fault);
  console.log(`${listed.length - faults.length} passed, ${faults.length} failed`);
  process.exit(faults.length === 0 ? 0 : 1);
}

if (values.rewrite) {
  const renames = values.renames === undefined ? {} : JSON.parse(readFileSync(values.renames, 'utf8'));
  const followed = bugs.map((bug) => follow(bug, renames));
  writeFileSync(list, `${JSON.stringify(followed, undefined, 2)}\n`);
  check(followed);
}
if (values.check) check(bugs);

/** A copy of the sources whose own packages resolve to the copy, with everybody else's packages shared. */
async function copySources() {
  const copy = mkdtempSync(join(tmpdir(), 'mutirao-bugs-'));
  for (const folder of ['packages', 'proto', 'test', 'scripts', 'docs', 'examples'])
    cpSync(root + folder, join(copy, folder), { recursive: true });
  for (const file of ['package.json', 'buf.yaml', 'tsconfig.json', 'tsconfig.base.json', 'ava.config.js'])
    cpSync(root + file, join(copy, file));
  mkdirSync(join(copy, 'node_modules/@mutirao'), { recursive: true });
  for (const name of readdirSync(`${root}node_modules`)) {
    if (name !== '@mutirao') symlinkSync(`${root}node_modules/${name}`, join(copy, 'node_modules', name));
  }
  for (const name of readdirSync(`${root}packages`))
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules/@mutirao', name));
  return copy;
}

let lastOutput = '';

/** A test that a bug sends round and round for ever has seen it. */
const runTimeMax = 120_000;
/** Tests that take longer than that without any bug hang, however slow the machine. */
const soundTimeMax = 16 * runTimeMax;

/**
 * How the tests end: `passed`, `failed`, or `endless` where they do not in time, which AVA is not to call failed;
 * whatever they started is gone afterwards.
 */
function runTests(copy, tests, timeMax) {
  return new Promise((resolve) => {
    // The copy's modules are compiled once for all runs: a third of a second of processor time for each file of tests.
    const env = { ...process.env, NODE_COMPILE_CACHE: join(copy, '.cache/compiled') };
    const ava = spawn(
      process.execPath,
      [join(copy, 'node_modules/ava/entrypoints/cli.js'), '--fail-fast', `--timeout=${2 * timeMax}ms`, ...tests],
      { cwd: copy, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const pieces = [];
    for (const stream of [ava.stdout, ava.stderr]) stream.on('data', (piece) => pieces.push(piece));
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      process.kill(-ava.pid, 'SIGKILL');
    }, timeMax);
    ava.on('exit', (status) => {
      clearTimeout(timer);
      try {
        process.kill(-ava.pid, 'SIGKILL');
      } catch {
        /* Nothing was left. */
      }
      lastOutput = Buffer.concat(pieces).toString();
      resolve(isLate ? 'endless' : status === 0 ? 'passed' : 'failed');
    });
  });
}

/**
 * Whether the tests see a bug. Where they do not end in time they are run without it too: on a slow machine they may
 * take as long then, and have more time.
 */
async function isKilled(copy, bug) {
  const { file, tests } = bug;
  const path = join(copy, file);
  const sound = readFileSync(path, 'utf8');
  const planted = plant(readSource(file, sound), bug);
  for (let timeMax = runTimeMax; timeMax <= soundTimeMax; timeMax *= 2) {
    writeFileSync(path, planted);
    const outcome = await runTests(copy, tests, timeMax);
    writeFileSync(path, sound);
    if (outcome !== 'endless') return outcome === 'failed';
    if ((await runTests(copy, tests, timeMax / 2)) === 'passed') return true;
  }
  return false;
}

let passed = 0;
let failed = 0;
const killed = new Map();
const copy = await copySources();
try {
  const chosen = bugs.filter(
    (bug) =>
      `${bug.file} ${bug.find} ${bug.replace}`.includes(values.only) &&
      (values.layer === '' || bug.layer === values.layer),
  );
  const everything = [...new Set(chosen.flatMap((bug) => bug.tests))];
  // Without a pattern every test there is would be run.
  const outcome =
    everything.length === 0 ? 'none' : await runTests(copy, everything, soundTimeMax + 15_000 * everything.length);
  if (outcome !== 'passed') {
    console.log(
      outcome === 'none'
        ? `FAIL no bug is of "${values.only}" and of the layer "${values.layer}"`
        : `FAIL the tests are ${outcome} without any bug:\n${lastOutput.slice(-2000)}`,
    );
    failed += 1;
  }
  for (const bug of chosen) {
    const where = `${bug.file}: ${bug.find.trim()} -> ${bug.replace.trim()}`;
    const fault = findFault(bug, sourceAt(bug.file));
    if (fault !== undefined) {
      console.log(`FAIL ${where}: ${fault}`);
      failed += 1;
      continue;
    }
    if (await isKilled(copy, bug)) {
      console.log(`ok   ${bug.layer}: ${where}`);
      passed += 1;
      killed.set(bug.layer, (killed.get(bug.layer) ?? 0) + 1);
    } else {
      console.log(`FAIL survived the layer "${bug.layer}": ${where} (${bug.tests.join(' ')})`);
      failed += 1;
    }
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
for (const layer of Object.keys(layerFolders))
  if (killed.has(layer)) console.log(`killed by the layer "${layer}": ${killed.get(layer)}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
