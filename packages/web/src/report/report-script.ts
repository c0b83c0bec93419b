import { readFileSync } from 'node:fs';
import { getAsset } from 'node:sea';
import { fileURLToPath } from 'node:url';

import { isPacked } from '@mutirao/runtime/processes';

const name = 'report/report.js';

/**
 * The script of reports as the page was built with it; empty where the page was not built, and a report shows pictures
 * only.
 */
export function readReportScript(): string {
  try {
    if (!isPacked) return readFileSync(fileURLToPath(new URL(`../../dist/${name}`, import.meta.url)), 'utf8');
    const held = JSON.parse(getAsset('page', 'utf8')) as Readonly<Record<string, string>>;
    return Buffer.from(held[name] ?? '', 'base64').toString('utf8');
  } catch {
    return '';
  }
}
