// A grid of two clusters and two machines, a bag of 400 tasks of which some fail, and a workflow that is opened in the editor and submitted from it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@mutirao/testkit';
import { openPage, startBrowser } from '@mutirao/testkit/page';

const root = fileURLToPath(new URL('../', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'mutirao-screenshots-'));
const work = join(home, 'work');
mkdirSync(work);
const environment = { ...process.env, MUTIRAO_HOME: join(home, 'grid') };
const mutirao = (...args: readonly string[]): string => execFileSync(process.execPath, [`${root}packages/cli/bin/mutirao.js`, ...args], { cwd: work, env: environment, encoding: 'utf8' });
const chain = (name: string, before: string, seconds: number): string => `  ${name}: {command: 'sleep ${seconds}', time: ${seconds}s${before === '' ? '' : `, after: [${before}]`}}`;
const workflow = ['name: survey', 'tasks:', chain('fetch', '', 2), ...[1, 2, 3, 4, 5].flatMap((field) => [chain(`clean-${field}`, 'fetch', 2 + field), chain(`fit-${field}`, `clean-${field}`, 3 + (field % 3))]), chain('compare', 'fit-1, fit-2, fit-3', 4), chain('report', 'compare, fit-4, fit-5', 2), ''].join('\n');

const browser = await startBrowser();
try {
  mutirao('up', '--clusters', '16,8', '--machines', '2', '--detach');
  mutirao('job', 'submit', '--label', 'parameter sweep', '--array', '1-400', '--', 'sh', '-c', 'sleep 0.$(({} * 7 % 9)); if [ $(({} % 97)) -eq 0 ]; then echo "rate {} does not converge" >&2; exit 2; fi');
  const [url = ''] = /http:\S+/.exec(mutirao('web')) ?? [];
  const { page } = await openPage(browser, url.replace('/#', '/workflow#'), { viewport: { width: 1280, height: 860 } });
  const keep = (name: string): Promise<unknown> => page.screenshot({ path: `${root}docs/images/page-${name}.png` });
  await page.getByLabel('Workflow file').setInputFiles({ name: 'survey.yaml', mimeType: 'text/plain', buffer: Buffer.from(workflow) });
  await page.locator('.react-flow__node[data-id="report"]').waitFor();
  await page.getByRole('tab', { name: 'Schedule' }).click();
  await page.getByText('Ends after').waitFor();
  await page.getByRole('button', { name: 'Submit …' }).click();
  await page.getByLabel(/^Folder/).fill(work);
  await page.getByRole('button', { name: 'Submit', exact: true }).click();
  await page.getByText(/[2-9] of 13 tasks finished/).waitFor();
  await keep('workflow');
  await page.getByRole('link', { name: 'Now' }).click();
  await page.getByText('parameter sweep').waitFor();
  await page.waitForTimeout(1500);
  await keep('now');
  await until(() => /"status": ?"(failed|finished)"/.test(mutirao('job', 'show', '1', '--json')), 'the end of the bag');
  await page.goto(`${new URL(url).origin}/jobs/1`);
  await page.getByText('exit status 2').first().waitFor();
  await keep('job');
} finally {
  await browser.close();
  mutirao('down');
  rmSync(home, { recursive: true, force: true });
}
