// The page in a real Chromium over a grid that is made up: when it shows something, what it weighs, whether it stays fluid while thousands of tasks finish, and what edits of a large workflow take.
// node bench/web-page.ts [--tasks N] [--machines N] [--pace TASKS_PER_SECOND] [--drawn TASKS_OF_THE_WORKFLOW] [--rounds N]
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { until } from '@mutirao/testkit';
import { buildPageIfStale, openPage, pageFolder, startBrowser, startPretendGateway } from '@mutirao/testkit/page';
import { atLeast, below, plain, report, type Figure } from './harness.ts';

const { values } = parseArgs({ options: { tasks: { type: 'string', default: '100000' }, machines: { type: 'string', default: '1000' }, pace: { type: 'string', default: '5000' }, drawn: { type: 'string', default: '2000' }, rounds: { type: 'string', default: '5' } } });
const rounds = Number(values.rounds);

const medianOf = (numbers: readonly number[]): number => numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.NaN;

/** Notes when the first job and the first picture of machines have been painted, from the beginning of the navigation on. */
const watchFirstPaint = `new MutationObserver((_, watcher) => {
  if (document.querySelector('.job-name') === null || document.querySelector('.site canvas') === null) return;
  watcher.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.firstPaint = performance.now(); }));
}).observe(document, { childList: true, subtree: true });`;

async function measureFirstPaint(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript(watchFirstPaint);
  const page = await context.newPage();
  await page.goto(url);
  let milliseconds: unknown;
  // Asked by the debugger: the page's own policy evaluates nothing.
  await until(async () => typeof (milliseconds = await page.evaluate('window.firstPaint')) === 'number', 'the first picture');
  await context.close();
  return Number(milliseconds);
}

/** Frames per second over some seconds, and the longest time between two. */
async function measureFrames(page: Page, seconds: number): Promise<{ readonly perSecond: number; readonly longestMs: number }> {
  return await page.evaluate(`new Promise((resolve) => {
    const times = [];
    const frame = (now) => { times.push(now); if (now - times[0] < ${seconds * 1000}) requestAnimationFrame(frame); else resolve({ perSecond: (times.length - 1) / ((times.at(-1) - times[0]) / 1000), longestMs: Math.max(...times.slice(1).map((time, index) => time - times[index])) }); };
    requestAnimationFrame(frame);
  })`);
}

/** What is loaded before the first view is there. */
function compressedBytes(): { readonly first: number; readonly all: number } {
  const assets = readdirSync(join(pageFolder, 'assets')).filter((name) => /\.(js|css)$/.test(name)).map((name) => ({ name, bytes: gzipSync(readFileSync(join(pageFolder, 'assets', name)), { level: 9 }).length }));
  const main = readFileSync(join(pageFolder, 'assets/main.js'), 'utf8');
  const isFirst = (name: string): boolean => name.startsWith('main.') || new RegExp(`(?:from|import)"\\./${name.replaceAll('.', '\\.')}"`).test(main);
  const sum = (some: readonly { readonly bytes: number }[]): number => some.reduce((total, { bytes }) => total + bytes, statSync(join(pageFolder, 'index.html')).size);
  return { first: sum(assets.filter(({ name }) => isFirst(name))), all: sum(assets) };
}

/** A workflow of levels of 40 tasks, each waiting for two of the level above. */
function drawnWorkflow(count: number): string {
  const wide = 40;
  const tasks = Array.from({ length: count }, (_, index) => ({ id: `t${index}`, work: 1000 + (index * 7919) % 9000, x: (index % wide) * 200, y: Math.floor(index / wide) * 130 }));
  const edges = tasks.slice(wide).flatMap((_, index) => [{ from: `t${index}`, to: `t${index + wide}` }, { from: `t${index - (index % wide) + ((index + 1) % wide)}`, to: `t${index + wide}` }]);
  return JSON.stringify({ format: 'mutirao-workflow-1', name: 'large', tasks, edges });
}

/** From a press, by the browser's own clock, to the next picture; the work of one action, however the frames fall. */
async function measureActions(page: Page): Promise<Map<string, number[]>> {
  await page.evaluate(`window.taken = []; new PerformanceObserver((list) => { for (const { name, duration, startTime } of list.getEntries()) window.taken.push({ name, duration, startTime }); }).observe({ type: 'event', durationThreshold: 16, buffered: false });`);
  const results = new Map<string, number[]>();
  const act = async (name: string, action: () => Promise<void>): Promise<void> => {
    await page.evaluate('window.taken.length = 0');
    await action();
    await page.waitForTimeout(400);
    const taken = await page.evaluate('window.taken') as { readonly duration: number }[];
    results.set(name, [...results.get(name) ?? [], Math.max(16, ...taken.map(({ duration }) => duration))]);
  };
  for (let round = 0; round < rounds; round += 1) {
    await act('add a task', () => page.getByRole('button', { name: 'Add task' }).click());
    await act('undo', () => page.getByRole('button', { name: 'Undo' }).click());
    await act('redo', () => page.getByRole('button', { name: 'Redo' }).click());
    await act('add an edge', async () => { await page.getByLabel('Task to wait for').fill(`t${round * 41}`); await page.getByRole('button', { name: 'Add', exact: true }).click(); });
    await act('rename', async () => { await page.getByLabel('Name', { exact: true }).fill(`renamed-${round}`); await page.getByLabel('Name', { exact: true }).press('Enter'); });
    await act('remove', () => page.getByRole('button', { name: 'Remove', exact: true }).click());
  }
  return results;
}

async function measureEditor(browser: Browser, url: string): Promise<Figure[]> {
  const { page } = await openPage(browser, url.replace('/#', '/workflow#'));
  await page.getByLabel('Workflow file').setInputFiles({ name: 'large.workflow.json', mimeType: 'application/json', buffer: Buffer.from(drawnWorkflow(Number(values.drawn))) });
  await page.locator('.task-node').first().waitFor();
  await page.waitForTimeout(1500);
  const actions = await measureActions(page);
  await page.context().close();
  return [...actions].map(([name, taken]) => below(`${values.drawn} tasks drawn: ${name}, to the next picture, median of ${rounds}`, medianOf(taken), 'ms', 50));
}

buildPageIfStale();
const gateway = await startPretendGateway({ folder: pageFolder, taskCount: Number(values.tasks), machineCount: Number(values.machines), finishedPerSecond: Number(values.pace) });
const browser = await startBrowser();
const figures: Figure[] = [plain('load of the machine before', loadavg()[0] ?? 0, '')];
const { first, all } = compressedBytes();
figures.push(below('compressed, before the first view is there', first / 1000, 'kB', 500), plain('compressed, all views', all / 1000, 'kB'));
const paints: number[] = [];
for (let round = 0; round < rounds; round += 1) paints.push(await measureFirstPaint(browser, gateway.url));
figures.push(below(`first useful paint, ${values.tasks} tasks and ${values.machines} machines, median of ${rounds}`, medianOf(paints), 'ms', 1500));
const { page } = await openPage(browser, gateway.url);
await page.waitForSelector('.site canvas');
const frames = await measureFrames(page, 10);
figures.push(atLeast(`frames while ${values.pace} tasks/s finish`, frames.perSecond, '/s', 30), plain('the longest time between two of them', frames.longestMs, 'ms'));
await page.context().close();
figures.push(...await measureEditor(browser, gateway.url));
report('web-page', figures);
await browser.close();
await gateway.close();
