/**
 * Runs published workflow files on an embedded grid with stand-in commands: each task looks for its inputs, and writes
 * one byte to each of its outputs. Prints one line of JSON for each file, and a count at the end.
 *
 * Usage: node bench/workflow-runs.ts [--processors N] [--minutes N] FOLDER|FILE ...
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { parseWorkflow, type WorkflowDocument } from '@mutirao/formats/workflow';
import { runCommand } from '@mutirao/runtime/processes';
import { Grid } from '@mutirao/testkit';

const { values, positionals } = parseArgs({
  options: { processors: { type: 'string', default: '4' }, minutes: { type: 'string', default: '10' } },
  allowPositionals: true,
});
if (positionals.length === 0) {
  console.error('Name folders or files, for example a clone of https://github.com/wfcommons/WfInstances.');
  process.exit(3);
}
const commandLine = fileURLToPath(new URL('../packages/cli/bin/mutirao.js', import.meta.url));
const standIn =
  'for f in {inputs}; do [ -e "$f" ] || { echo "no input $f" >&2; exit 9; }; done; ' +
  'for f in {outputs}; do case "$f" in */*) mkdir -p "${f%/*}";; esac; printf x >>"$f"; done';

/** Files that are read: some tasks read what is at home before another one writes a file of that name. */
function filesAtHome({ tasks }: WorkflowDocument): string[] {
  return [...new Set(tasks.flatMap(({ inputs }) => inputs.map(({ name, home = name }) => home)))];
}

/** Files that tasks write and no task reads: they come home. */
function filesThatComeHome({ tasks }: WorkflowDocument): string[] {
  const read = new Set(tasks.flatMap(({ inputs }) => inputs.map(({ name }) => name)));
  return [...new Set(tasks.flatMap(({ outputs }) => outputs.map(({ name }) => name)))].filter(
    (name) => !read.has(name),
  );
}

interface Outcome {
  readonly tasks: number;
  /** Empty for one that ran to its end and whose outputs are all there. */
  readonly fault: string;
}

async function runFile(grid: Grid, path: string): Promise<Outcome> {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  const document = parseWorkflow(text, path);
  const tasks = document.tasks.length;
  const folder = mkdtempSync(join(tmpdir(), 'mutirao-workflow-'));
  try {
    const name = basename(path).replace(/\.gz$/, '');
    writeFileSync(join(folder, name), text);
    for (const file of filesAtHome(document)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), 'x');
    }
    const access = ['--home', grid.home, '--broker', grid.broker.address];
    const { status, stderr } = await runCommand({
      command: process.execPath,
      args: [
        commandLine,
        'job',
        'submit',
        name,
        '--task-command',
        standIn,
        '--replace-commands',
        '--shared-places',
        '--wait',
        ...access,
      ],
      cwd: folder,
      deadlineMs: Number(values.minutes) * 60_000,
      outputBytesMax: 1 << 22,
    });
    if (status !== 0) return { tasks, fault: `status ${status}: ${stderr.toString().trim().slice(-600)}` };
    const missing = filesThatComeHome(document).filter((file) => !existsSync(join(folder, file)));
    return { tasks, fault: missing.length === 0 ? '' : `${missing.length} outputs are missing, such as ${missing[0]}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A broker that ended by itself counts against the file that it ran, and serves the next one again. */
async function restartBroker(grid: Grid): Promise<void> {
  const end = await (grid.broker.isRunning ? undefined : grid.broker.unaskedEnd());
  if (end === undefined) return;
  console.error(`the broker ended: ${JSON.stringify(end)}`);
  await grid.broker.start();
}

const files = positionals
  .flatMap((place) =>
    statSync(place).isDirectory()
      ? readdirSync(place, { recursive: true })
          .map((name) => join(place, String(name)))
          .sort()
      : [place],
  )
  .filter((path) => /\.(?:json|dax|xml)(?:\.gz)?$/.test(path));
const grid = await Grid.start({ clusters: [Number(values.processors)] });
let [ran, taskCount, faultCount] = [0, 0, 0];
try {
  for (const path of files) {
    const start = performance.now();
    const { tasks, fault } = await runFile(grid, path).catch((error: unknown) => ({ tasks: 0, fault: String(error) }));
    await restartBroker(grid);
    const seconds = Math.round((performance.now() - start) / 100) / 10;
    console.log(JSON.stringify({ file: basename(path), tasks, seconds, fault }));
    if (fault === '') [ran, taskCount] = [ran + 1, taskCount + tasks];
    else faultCount += 1;
  }
} finally {
  await grid.stop();
}
console.error(`${ran} of ${files.length} files ran to their end, with ${taskCount} tasks; ${faultCount} did not`);
if (faultCount > 0) process.exitCode = 1;
