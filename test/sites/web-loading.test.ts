// How the page comes up, in a real Chromium over a grid that is made up: how much it loads, and whether what is being
// read moves.
import anyTest, { type TestFn } from 'ava';
import type { Browser } from 'playwright-core';
import { until } from '@mutirao/testkit';
import {
  buildPageIfStale,
  openPage,
  pageFolder,
  startBrowser,
  startFakeGateway,
  type FakeGateway,
} from '@mutirao/testkit/page';

interface Context {
  readonly browser: Browser;
  readonly gateway: FakeGateway;
}
const test = anyTest as TestFn<Context>;
const size = { folder: pageFolder, taskCount: 100_000, machineCount: 1000, finishedPerSecond: 20 };
const kept: { context?: Context } = {};

test.before(async () => {
  buildPageIfStale();
  kept.context = { browser: await startBrowser(), gateway: await startFakeGateway(size) };
});
test.beforeEach((t) => {
  t.context = kept.context!;
});
test.after.always(async () => {
  await kept.context?.browser.close();
  await kept.context?.gateway.close();
});

const views = [
  ['/', '.events li'],
  ['/jobs', 'text=protein-docking'],
  ['/jobs/42', '.gantt-foot'],
  ['/jobs/41', '.task-node'],
  ['/jobs/42#task=42/3', 'text=Standard output'],
  ['/submit', 'text=Preview'],
  ['/workflow', 'text=The workflow is empty'],
] as const;
/** All shifts since the page was opened that no press caused: the sum is what browsers call CLS. */
const watchShifts = `window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
  }).observe({ type: 'layout-shift', buffered: true })`;

for (const [path, sign] of views)
  for (const width of [390, 1280])
    test.serial(`nothing moves while ${path} comes up at ${width} px`, async (t) => {
      const { browser, gateway } = t.context;
      const { page } = await openPage(browser, gateway.url, { viewport: { width, height: 800 } });
      t.teardown(() => page.context().close());
      await page.waitForSelector('.link-light.live');
      if (path !== '/') await page.goto(`http://${gateway.address}${path}`);
      await page.evaluate(watchShifts);
      await page.waitForSelector(sign, { state: 'attached' });
      // Charts are the last to come, where the view has any.
      await until(async () => (await page.locator('.chart[aria-busy="true"]').count()) === 0, 'the charts');
      const shifted = (await page.evaluate('window.shifted')) as number;
      t.true(shifted < 0.05, `CLS ${shifted}`);
    });

test.serial('the first load of the largest view is at most 300 kB', async (t) => {
  const { browser, gateway } = t.context;
  const { page } = await openPage(browser, gateway.url);
  t.teardown(() => page.context().close());
  await page.waitForSelector('.chart canvas');
  const bytes = (await page.evaluate(
    `performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
      .filter(({ name }) => !name.includes('/api/')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  )) as number;
  t.log(`${bytes} bytes`);
  t.true(bytes > 100_000 && bytes <= 300_000, `${bytes} bytes`);
});
