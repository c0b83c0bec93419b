import { createRequire } from 'node:module';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * Starts the system's own Chromium without a window. @throws Error when there is none: `scripts/test-sites` installs
 * it.
 */
export async function startBrowser(): Promise<Browser> {
  const executablePath = programs.find((program) => existsSync(program));
  if (executablePath === undefined)
    throw new Error('there is no Chromium on this host; scripts/test-sites installs it');
  // Containers give it no sandbox of its own; it opens nothing but our page.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** The page in a browser, and what it complained of: errors on its console, and exceptions that nobody caught. */
export interface OpenedPage {
  readonly page: Page;
  readonly complaints: readonly string[];
}

/** Opens an address in a browser of its own; 1280 x 800 and light unless said otherwise. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: 'light',
    acceptDownloads: true,
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  return { page, complaints };
}

/** Keeps a picture of the whole page in `.cache/screenshots`. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(`${root}.cache/screenshots`, { recursive: true });
  await page.screenshot({ path: `${root}.cache/screenshots/${name}.png`, fullPage: true, animations: 'disabled' });
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly target: readonly unknown[] }[];
  }[];
}

/** What axe-core finds on the page that is serious or worse, with the first element of each. */
export async function findSeriousFaults(page: Page): Promise<string[]> {
  // Evaluated by the debugger: the page's own policy would let no such script in.
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const results = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as AxeResults;
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${String(nodes[0]?.target[0])} and ${nodes.length - 1} more`);
}
