// Tasks of a job on the page, and the drawers over it, in a real Chromium over a grid that is made up.
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { until } from '@mutirao/testkit';
import {
  buildPageIfStale,
  findSeriousFaults,
  keepScreenshot,
  openPage,
  pageFolder,
  startBrowser,
  startFakeGateway,
  type FakeGateway,
  type OpenedPage,
} from '@mutirao/testkit/page';

interface Context {
  readonly browser: Browser;
  readonly gateway: FakeGateway;
}
const test = anyTest as TestFn<Context>;
const size = { folder: pageFolder, taskCount: 100_000, machineCount: 100, finishedPerSecond: 0 };
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

async function open(
  t: ExecutionContext<Context>,
  path: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const opened = await openPage(t.context.browser, t.context.gateway.url.replace('/#', `${path}#`), options);
  t.teardown(() => opened.page.context().close());
  return opened;
}

test.serial('a press on "failed" lists the failed tasks, which the address keeps, and each opens', async (t) => {
  const { page, complaints } = await open(t, '/jobs/42');
  await page
    .locator('.job-head')
    .getByRole('button', { name: /^failed/ })
    .click();
  const list = page.getByRole('region', { name: 'List of tasks' });
  await list.getByRole('link', { name: '103', exact: true }).waitFor();
  t.is(await list.getByRole('link', { name: '104', exact: true }).count(), 0);
  await until(() => Promise.resolve(page.url().endsWith('/jobs/42?status=failed')), 'the address of the list');
  await keepScreenshot(page, 'tasks-failed');
  t.deepEqual(await findSeriousFaults(page), []);
  await list.getByRole('link', { name: '103', exact: true }).click();
  await page.getByRole('dialog', { name: 'Task 103 of job 42' }).waitFor();
  t.true(page.url().endsWith('/jobs/42?status=failed#task=42/103'));
  t.deepEqual(complaints, []);
});

test.serial('a hundred thousand tasks are searched and scrolled, with few of them in the document', async (t) => {
  const { page } = await open(t, '/jobs/42');
  const list = page.getByRole('region', { name: 'List of tasks' });
  await list.getByRole('link', { name: '0', exact: true }).waitFor();
  await list.evaluate('document.querySelector(".task-list").scrollTop = 1e6');
  await list.getByRole('link', { name: '99', exact: true }).waitFor();
  await list.getByRole('link', { name: '100', exact: true }).waitFor({ state: 'attached' });
  t.true((await list.locator('tbody tr').count()) < 60);
  await page.getByLabel('Search in values of tasks').fill('ligand-99998');
  await list.getByRole('link', { name: '99998', exact: true }).waitFor();
  await page.getByLabel('Search in values of tasks').fill('#77');
  await list.getByRole('link', { name: '77', exact: true }).waitFor();
});

test.serial('the address opens the drawer, Back closes it, and its title is that of the tab', async (t) => {
  const { page } = await open(t, '/');
  await page.goto(`http://${t.context.gateway.address}/jobs/42#task=42/7`);
  const drawer = page.getByRole('dialog', { name: 'Task 7 of job 42' });
  await drawer.waitFor();
  t.is(await page.title(), 'Task 7 of job 42 · Mutirao');
  t.is(await page.evaluate('document.querySelector(".drawer").tagName'), 'DIV');
  await drawer.getByRole('button', { name: 'alpha-n007' }).click();
  const machine = page.getByRole('dialog', { name: 'Machine alpha-n007' });
  await machine.waitFor();
  t.true(page.url().endsWith('/jobs/42#machine=alpha-n007'));
  await page.goBack();
  await drawer.waitFor();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  t.true(page.url().endsWith('/jobs/42'));
});

test.serial('a job that no machine can take says so in every list, and its page has no empty pictures', async (t) => {
  const gateway = await startFakeGateway({ ...size, isBlocked: true });
  t.teardown(() => gateway.close());
  const { page } = await openPage(t.context.browser, gateway.url);
  t.teardown(() => page.context().close());
  const row = page.getByRole('row', { name: /training/ });
  await row.getByText('blocked').waitFor();
  await row.getByText('No machine meets the requirements').waitFor();
  await page.getByText(/1 of them blocked/).waitFor();
  await row.getByRole('link').click();
  await page.getByRole('alert').getByText('Blocked.').waitFor();
  await page.getByRole('region', { name: 'Tasks', exact: true }).waitFor();
  t.is(await page.getByRole('heading', { name: 'By machine' }).count(), 0);
  t.is(await page.getByRole('heading', { name: 'Stragglers' }).count(), 0);
  await keepScreenshot(page, 'blocked');
});

test.serial('events rest under the pointer, and failures can be had alone', async (t) => {
  const gateway = await startFakeGateway({ ...size, finishedPerSecond: 20 });
  t.teardown(() => gateway.close());
  const { page } = await openPage(t.context.browser, gateway.url);
  t.teardown(() => page.context().close());
  const panel = page.getByRole('region', { name: 'Events', exact: true });
  const lines = panel.getByRole('listitem');
  await lines.nth(5).waitFor();
  await lines.nth(2).hover();
  await panel.getByText(/^paused, \d+ newer$/).waitFor();
  const before = await lines.allInnerTexts();
  await panel.getByText(/^paused, [1-9]\d+ newer$/).waitFor();
  t.deepEqual(await lines.allInnerTexts(), before);
  await page.mouse.move(0, 0);
  await until(async () => (await lines.allInnerTexts()).join() !== before.join(), 'newer events');
  await panel.getByRole('button', { name: 'Failures only' }).click();
  await lines.first().waitFor();
  for (const text of await lines.allInnerTexts()) t.regex(text, /failed/);
});

test.serial(
  'the output of a running task is followed, in its colours, and stays where the user has scrolled to',
  async (t) => {
    const { page, complaints } = await open(t, '/');
    await page.goto(`http://${t.context.gateway.address}/jobs/42#task=42/65`);
    const output = page.getByRole('dialog').getByLabel('Standard output', { exact: true });
    await output.getByText('step 1 ').waitFor();
    t.is(await output.locator('.ansi-red').first().innerText(), 'red');
    await page.getByText('live from lab-n002').waitFor();
    await output.getByText('step 40 ').waitFor();
    const atEnd = 'scrollHeight - clientHeight - scrollTop < 9';
    const isAtEnd = (): Promise<boolean> =>
      page.evaluate(`(({ scrollHeight, clientHeight, scrollTop }) => ${atEnd})(document.querySelector(".drawer pre"))`);
    await until(isAtEnd, 'the end in sight');
    await page.evaluate('document.querySelector(".drawer pre").scrollTop = 0');
    await output.getByText('step 60 ').waitFor();
    t.false(await isAtEnd());
    await keepScreenshot(page, 'live-output');
    t.deepEqual(await findSeriousFaults(page), []);
    t.deepEqual(complaints, []);
  },
);

test.serial('a job is held, and given a priority and a limit', async (t) => {
  const { page } = await open(t, '/jobs/42');
  await page.getByRole('button', { name: 'Hold', exact: true }).click();
  await page.getByText('3 tasks held.').waitFor();
  await page.getByLabel('Priority').fill('2000');
  t.true(await page.getByRole('button', { name: 'Apply' }).isDisabled());
  await page.getByLabel('Priority').fill('5');
  await page.getByLabel('Tasks at once').fill('10');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Job 42 has priority 5 and runs at most 10 tasks at once.').waitFor();
  t.deepEqual(t.context.gateway.posted, ['/jobs/42/hold', '/jobs/42/update']);
});

test.serial('where there has been no job, an example is one press away, and its command is shown', async (t) => {
  const gateway = await startFakeGateway({ ...size, isEmpty: true });
  t.teardown(() => gateway.close());
  const { page } = await openPage(t.context.browser, gateway.url);
  t.teardown(() => page.context().close());
  await page.getByText('mutirao job submit').waitFor();
  await page.getByText('alpha, beta, gamma, lab request processors').waitFor();
  await keepScreenshot(page, 'first-use');
  t.deepEqual(await findSeriousFaults(page), []);
  await page.getByRole('button', { name: 'Run an example of 50 tasks' }).click();
  await until(() => Promise.resolve(page.url().endsWith('/jobs/42')), 'the page of the job');
  t.true(gateway.posted.includes('/submissions/bag'));
});

test.serial('"submit again" opens the form with what the job asked for, and names what it leaves out', async (t) => {
  const { page } = await open(t, '/jobs/42');
  await page.getByRole('button', { name: 'Submit again …' }).click();
  await page.getByText('Not copied from job 42: the priority.').waitFor();
  t.is(await page.getByRole('textbox', { name: /^Command/ }).inputValue(), './dock {}');
  t.is(await page.getByLabel(/^Numbers/).inputValue(), '1-9');
});

test.serial('a long label breaks no button, and what has the focus is not cut off by its table', async (t) => {
  for (const width of [820, 1000, 1280]) {
    const { page } = await open(t, '/', { viewport: { width, height: 800 } });
    const why = page.getByRole('button', { name: 'Why is job 42 in this state?' });
    await why.waitFor();
    await page.evaluate('document.querySelector(".job-name span").textContent = "x".repeat(200)');
    t.true(((await why.boundingBox())?.height ?? 99) < 40, `${width} px`);
    await why.focus();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    const offset = await page.evaluate('getComputedStyle(document.activeElement).outlineOffset');
    t.regex(String(offset), /^-/, 'the ring is drawn inside');
  }
});

test.serial('in high contrast bars and legends keep their colours, which are all that they are', async (t) => {
  const { page } = await open(t, '/jobs/42', { forcedColors: 'active' });
  await page.waitForSelector('.stacked i');
  for (const selector of ['.stacked i', '.legend i', '.link-light i'])
    t.is(
      await page.evaluate(`getComputedStyle(document.querySelector('${selector}')).forcedColorAdjust`),
      'none',
      selector,
    );
  t.deepEqual(await findSeriousFaults(page), []);
});
