// Makes a table of a sweep's results. Runs at home: node collect.mjs FOLDER
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A Markdown table, one row per result, ordered by the rates. */
export function makeTable(results) {
  const ordered = [...results].sort(
    (left, right) => left.contactRate - right.contactRate || left.recoveryRate - right.recoveryRate,
  );
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  const rows = ordered.map((result) => [
    result.contactRate.toFixed(2),
    result.recoveryRate.toFixed(2),
    (result.contactRate / result.recoveryRate).toFixed(1),
    percent(result.peakShare),
    result.peakDay.toFixed(0),
    percent(result.everInfectedShare),
  ]);
  const heads = ['contacts/day', 'recoveries/day', 'R0', 'ill at the peak', 'day of the peak', 'ever ill'];
  return [heads, heads.map(() => '---:'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

if (basename(process.argv[1] ?? '') === 'collect.mjs') {
  const folder = process.argv[2] ?? 'results';
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  process.stdout.write(`${makeTable(files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8'))))}\n`);
}
