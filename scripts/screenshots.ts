// A grid of two clusters and two machines, a bag of 1,200 tasks of which some fail, and a workflow that is opened in
// the editor and submitted from it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
const mutirao = (...args: readonly string[]): string =>
  execFileSync(process.execPath, [`${root}packages/cli/bin/mutirao.js`, ...args], {
    cwd: work,
    env: environment,
    encoding: 'utf8',
  });
const chain = (name: string, before: string, seconds: number): string =>
  `  ${name}: {command: 'sleep ${seconds}', time: ${seconds}s${before === '' ? '' : `, after: [${before}]`}}`;
const workflow = [
  'name: survey',
  'tasks:',
  chain('fetch', '', 2),
  ...[1, 2, 3, 4, 5].flatMap((field) => [
    chain(`clean-${field}`, 'fetch', 2 + field),
    chain(`fit-${field}`, `clean-${field}`, 3 + (field % 3)),
  ]),
  chain('compare', 'fit-1, fit-2, fit-3', 4),
  chain('report', 'compare, fit-4, fit-5', 2),
  '',
].join('\n');

/** Reads a mesh, writes a field; a few rates do not converge, and one takes its time. */
const sweep =
  'sleep 0.$(({} * 7 % 9)); if [ {} -eq 77 ]; then sleep 4; fi; if [ $(({} % 97)) -eq 0 ]; then echo "rate {} ' +
  'does not converge" >&2; exit 2; fi; head -c 300000 mesh.dat > field.dat';

const browser = await startBrowser();
try {
  mutirao('up', '--clusters', '16,8', '--machines', '2', '--detach');
  writeFileSync(join(work, 'mesh.dat'), Buffer.alloc(4_000_000, 'mesh'));
  mutirao(
    'job',
    'submit',
    '--label',
    'parameter sweep',
    '--array',
    '1-1200',
    '--put',
    'mesh.dat',
    '--get',
    'field.dat:field-{}.dat',
    '--',
    'sh',
    '-c',
    sweep,
  );
  const [url = ''] = /http:\S+/.exec(mutirao('web')) ?? [];
  const { page } = await openPage(browser, url, { viewport: { width: 1280, height: 860 } });
  const keep = (name: string): Promise<unknown> => page.screenshot({ path: `${root}docs/images/page-${name}.png` });
  await page.getByText('parameter sweep').waitFor();
  await page.locator('section', { hasText: 'Tasks finished' }).locator('canvas').waitFor();
  await page.waitForTimeout(6000);
  await keep('now');
  await page.getByRole('link', { name: 'Workflow' }).click();
  await page
    .getByLabel('Workflow file')
    .setInputFiles({ name: 'survey.yaml', mimeType: 'text/plain', buffer: Buffer.from(workflow) });
  await page.locator('.react-flow__node[data-id="report"]').waitFor();
  await page.getByRole('tab', { name: 'Schedule' }).click();
  await page.getByText('Ends after').waitFor();
  await page.getByRole('button', { name: 'Submit …' }).click();
  await page.getByLabel(/^Folder/).fill(work);
  await page.getByRole('button', { name: 'Submit', exact: true }).click();
  await page.getByText(/[2-9] of 13 tasks finished/).waitFor();
  await keep('workflow');
  await until(() => /"status": ?"(failed|finished)"/.test(mutirao('job', 'show', '1', '--json')), 'the end of the bag');
  await page.goto(`${new URL(url).origin}/jobs/1`);
  await page.getByText('exit status 2').first().waitFor();
  await page.setViewportSize({ width: 1280, height: 1120 });
  await page.waitForTimeout(1500);
  await keep('job');
  mutirao('job', 'report', '1', '--out', 'report.html');
  const { page: report } = await openPage(browser, `file://${join(work, 'report.html')}`, {
    viewport: { width: 1280, height: 1120 },
    colorScheme: 'dark',
  });
  await report.locator('figure canvas').first().waitFor();
  await report.evaluate('document.querySelector("h2").scrollIntoView()');
  await report.waitForTimeout(1500);
  await report.screenshot({ path: `${root}docs/images/report.png` });
} finally {
  await browser.close();
  mutirao('down');
  rmSync(home, { recursive: true, force: true });
}
