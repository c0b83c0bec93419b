// Runs AVA over the given files and prints each failure and, last, "N passed, N failed".
// Usage: node scripts/run-tests.mjs [--config FILE] [--timeout TIME] [--also-passed N] [--also-failed N] PATTERN ...
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    timeout: { type: 'string' },
    config: { type: 'string', default: 'ava.config.js' },
    'also-passed': { type: 'string', default: '0' },
    'also-failed': { type: 'string', default: '0' },
  },
});
const root = fileURLToPath(new URL('../', import.meta.url));
const timeout = values.timeout === undefined ? [] : ['--timeout', values.timeout];
// Each file has a process, and each would compile the same modules: a third of a second of processor time a file.
const env = { NODE_COMPILE_CACHE: `${root}.cache/compiled`, ...process.env };
const ava = spawn(
  process.execPath,
  [`${root}node_modules/ava/entrypoints/cli.js`, '--tap', '--config', values.config, ...timeout, ...positionals],
  { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] },
);

let passed = Number(values['also-passed']);
let failed = Number(values['also-failed']);
let inFailure = false;
for await (const line of createInterface({ input: ava.stdout })) {
  const result = /^(not ok|ok) \d+ - (.*)$/.exec(line);
  if (result === null) {
    if (inFailure) console.log(line);
    continue;
  }
  inFailure = result[1] === 'not ok';
  if (inFailure) {
    failed += 1;
    console.log(`FAIL ${result[2]}`);
  } else {
    passed += 1;
  }
}
const status = await new Promise((resolve) => {
  ava.exitCode === null ? ava.on('exit', resolve) : resolve(ava.exitCode);
});
if (status !== 0 && failed === 0) {
  // Its TAP reporter falls over where it should name the tests that it has waited for in vain; its own reporter names
  // them.
  console.log(
    `FAIL ava exited with status ${status} without a failed test; where no test ended for long, npx ava FILES ` +
      'names those that it waited for',
  );
  failed = 1;
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
