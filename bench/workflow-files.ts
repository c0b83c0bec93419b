/**
 * Reads published workflow files as `job submit` does, and counts what can run: those below MUTIRAO_DATA/workflows, or
 * below the folders and files that are named.
 *
 * Usage: node bench/workflow-files.ts [--list] [FOLDER|FILE ...]
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { makeWorkflow } from '@mutirao/core/workflow';
import { FormatError } from '@mutirao/formats';
import {
  convertWorkflow,
  getDraft,
  makeWorkflowJob,
  parseWorkflow,
  type WorkflowDocument,
} from '@mutirao/formats/workflow';

const { values, positionals } = parseArgs({
  options: { list: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const data = process.env['MUTIRAO_DATA'];
const places =
  positionals.length > 0
    ? positionals
    : data === undefined
      ? []
      : ['wfinstances', 'dax'].map((name) => join(data, 'workflows', name));
if (places.length === 0) {
  console.error(
    'Name folders or files, or set MUTIRAO_DATA to the folder of the public data (docs/studies/workflow-instances.md).',
  );
  process.exit(3);
}

const files = places
  .flatMap((place) =>
    statSync(place).isDirectory()
      ? readdirSync(place, { recursive: true }).map((name) => join(place, String(name)))
      : [place],
  )
  .filter((path) => /\.(?:json|dax|xml)(?:\.gz)?$/.test(path))
  .sort();
const refusals = new Map<string, string[]>();
let taskCount = 0;
let withCommands = 0;
let unwritableCount = 0;

/** Whether the schema of WfFormat allows the names of its files. */
function isWritable(document: WorkflowDocument): boolean {
  try {
    convertWorkflow(document, 'wfformat-1.6');
    return true;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return false;
  }
}

for (const path of files) {
  try {
    const bytes = readFileSync(path);
    const document = parseWorkflow((path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString(), path);
    makeWorkflow(getDraft(document));
    makeWorkflowJob(document, { directory: '/', taskCommand: ':', replacesCommands: true });
    taskCount += document.tasks.length;
    if (document.tasks.every(({ command }) => command !== '')) withCommands += 1;
    if (!isWritable(document)) unwritableCount += 1;
    if (values.list) console.log(`read ${path}${document.warnings.map((warning) => `\n  ${warning}`).join('')}`);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    refusals.set(error.code, [...(refusals.get(error.code) ?? []), error.message]);
  }
}
const refusedCount = [...refusals.values()].reduce((sum, messages) => sum + messages.length, 0);
console.log(
  `${files.length} files: ${files.length - refusedCount} can run, with ${taskCount} tasks; ${withCommands} have ` +
    `a command for each task, ${unwritableCount} have names that WfFormat does not allow; ${refusedCount} refused`,
);
for (const [code, messages] of refusals)
  console.log(`${code} ${messages.length}\n${messages.map((message) => `  ${message}`).join('\n')}`);
