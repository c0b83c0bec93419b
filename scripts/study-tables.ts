/**
 * Writes each table of a study's report as a CSV file, named by the heading above it.
 *
 * Usage: node scripts/study-tables.ts REPORT.md FOLDER
 * The report is the page that `mutirao sim study NAME --out DIR` writes. CSV files of FOLDER that the report does not
 * have any more are deleted. Pages of docs/studies link to these folders.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { extractTables } from './proofreading/markdown-tables.ts';

const [report, folder] = process.argv.slice(2);
if (report === undefined || folder === undefined) {
  console.error('study-tables: found fewer than two arguments; expected REPORT.md FOLDER');
  process.exit(2);
}
const tables = extractTables(readFileSync(report, 'utf8'));
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) if (name.endsWith('.csv')) rmSync(join(folder, name));
for (const { name, csv } of tables) writeFileSync(join(folder, `${name}.csv`), csv);
console.log(`${tables.length} tables in ${folder}`);
