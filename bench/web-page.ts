// The page in a real Chromium over a grid that is made up: when it shows something, what it weighs, and whether it
// stays fluid while thousands of tasks finish. What edits of a large workflow take is in web-editor.ts.
// node bench/web-page.ts [--tasks N] [--machines N] [--pace TASKS_PER_SECOND] [--rounds N]
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { until } from '@mutirao/testkit';
import { buildPageIfStale, openPage, pageFolder, startBrowser, startFakeGateway } from '@mutirao/testkit/page';
import { atLeast, below, plain, report, type Figure } from './harness.ts';

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '100000' },
    machines: { type: 'string', default: '1000' },
    pace: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '5' },
  },
});
const rounds = Number(values.rounds);

const getMedian = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.NaN;

/**
 * Notes when the first job and the first picture of machines have been painted, from the beginning of the navigation
 * on.
 */
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
  await until(
    async () => typeof (milliseconds = await page.evaluate('window.firstPaint')) === 'number',
    'the first picture',
  );
  await context.close();
  return Number(milliseconds);
}

/** Frames per second over some seconds, and the longest time between two. */
async function measureFrames(
  page: Page,
  seconds: number,
): Promise<{ readonly perSecond: number; readonly longestMs: number }> {
  return await page.evaluate(`new Promise((resolve) => {
    const times = [];
    const frame = (now) => { times.push(now); if (now - times[0] < ${seconds * 1000}) requestAnimationFrame(frame); else resolve({ perSecond: (times.length - 1) / ((times.at(-1) - times[0]) / 1000), longestMs: Math.max(...times.slice(1).map((time, index) => time - times[index])) }); };
    requestAnimationFrame(frame);
  })`);
}

/**
 * Processor time that the processes of pages have used so far, in seconds: it says what a page costs whatever else runs
 * on the machine.
 */
async function pageSeconds(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

/** What is loaded before the first view is there, and with its charts. */
function compressedBytes(): { readonly first: number; readonly charts: number; readonly all: number } {
  const assets = readdirSync(join(pageFolder, 'assets'))
    .filter((name) => /\.(js|css)$/.test(name))
    .map((name) => ({ name, bytes: gzipSync(readFileSync(join(pageFolder, 'assets', name)), { level: 9 }).length }));
  const main = readFileSync(join(pageFolder, 'assets/main.js'), 'utf8');
  const isFirst = (name: string): boolean =>
    name.startsWith('main.') || new RegExp(`(?:from|import)"\\./${name.replaceAll('.', '\\.')}"`).test(main);
  const sum = (some: readonly { readonly bytes: number }[]): number =>
    some.reduce((total, { bytes }) => total + bytes, statSync(join(pageFolder, 'index.html')).size);
  const isOfCharts = (name: string): boolean => isFirst(name) || name.startsWith('chart-engine-');
  return {
    first: sum(assets.filter(({ name }) => isFirst(name))),
    charts: sum(assets.filter(({ name }) => isOfCharts(name))),
    all: sum(assets),
  };
}

buildPageIfStale();
const gateway = await startFakeGateway({
  folder: pageFolder,
  taskCount: Number(values.tasks),
  machineCount: Number(values.machines),
  finishedPerSecond: Number(values.pace),
});
const browser = await startBrowser();
const figures: Figure[] = [plain('load of the machine before', loadavg()[0] ?? 0, '')];
const { first, charts, all } = compressedBytes();
figures.push(
  below('compressed, before the first view is there', first / 1000, 'kB', 500),
  below('compressed, with the charts of the first view', charts / 1000, 'kB', 500),
  plain('compressed, all views', all / 1000, 'kB'),
);
const paints: number[] = [];
for (let round = 0; round < rounds; round += 1) paints.push(await measureFirstPaint(browser, gateway.url));
figures.push(
  below(
    `first useful paint, ${values.tasks} tasks and ${values.machines} machines, median of ${rounds}`,
    getMedian(paints),
    'ms',
    1500,
  ),
);
const { page } = await openPage(browser, gateway.url);
await page.waitForSelector('.site canvas');
const secondsBefore = await pageSeconds(browser);
const frames = await measureFrames(page, 10);
const share = ((await pageSeconds(browser)) - secondsBefore) / 10;
figures.push(
  atLeast(`frames while ${values.pace} tasks/s finish`, frames.perSecond, '/s', 30),
  plain('the longest time between two of them', frames.longestMs, 'ms'),
  plain('processor time of the page meanwhile, per second', 1000 * share, 'ms'),
);
await page.context().close();
report('web-page', figures);
await browser.close();
await gateway.close();
