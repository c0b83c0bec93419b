// The page in a real Chromium, over a grid that is made up: each view, what people do on it, and what it says when
// something is away.
import { readFile } from 'node:fs/promises';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { until } from '@mutirao/testkit';
import {
  buildPageIfStale,
  findSeriousFaults,
  keepScreenshot,
  openPage,
  pageFolder,
  startBrowser,
  startFakeGateway,
  type OpenedPage,
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

async function open(
  t: ExecutionContext<Context>,
  path: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const opened = await openPage(t.context.browser, t.context.gateway.url.replace('/#', `${path}#`), options);
  t.teardown(() => opened.page.context().close());
  return opened;
}

/** The views with something that is there once they have read what they show. */
const views = [
  ['now', '/', 'text=protein-docking'],
  ['jobs', '/jobs', 'text=protein-docking'],
  ['job', '/jobs/42', 'text=exit status 2'],
  ['job-graph', '/jobs/41', '.task-node'],
  ['workflow', '/workflow', 'text=The workflow is empty'],
  ['submit', '/submit', 'text=Preview'],
] as const;
const looks = [
  ['light', {}],
  ['dark', { colorScheme: 'dark' }],
  ['narrow', { viewport: { width: 390, height: 844 } }],
] as const;

for (const [name, path, sign] of views) {
  for (const [look, options] of looks) {
    test.serial(
      `${name}, ${look}: it is read, fits, complains of nothing and has no serious fault of accessibility`,
      async (t) => {
        const { page, complaints } = await open(t, path, options);
        await page.waitForSelector(sign);
        await page.waitForSelector('.link-light.live');
        await keepScreenshot(page, `${name}-${look}`);
        t.true(
          await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
          'it is wider than the window',
        );
        t.deepEqual(await findSeriousFaults(page), []);
        t.deepEqual(complaints, []);
      },
    );
  }
}

test.serial('"why?" of a job is one press away, and Escape leads back to where one was', async (t) => {
  const { page } = await open(t, '/');
  await page.getByRole('button', { name: 'Why is job 42 in this state?' }).click();
  await page.getByRole('dialog').getByText('Job 42 runs as fast as the machines allow.').waitFor();
  await keepScreenshot(page, 'explain');
  await page.keyboard.press('Escape');
  t.is(await page.getByRole('dialog').count(), 0);
  t.is(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Why is job 42 in this state?');
});

test.serial(
  'a thousand machines are not a thousand elements, and each is announced and opened by the keyboard',
  async (t) => {
    const { page } = await open(t, '/');
    await page.waitForSelector('.site canvas');
    t.true(((await page.evaluate('document.querySelectorAll("*").length')) as number) < 1500);
    await page.locator('.site canvas').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.getByText(/^alpha-n002: /).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Machine alpha-n002' }).getByText('task 812 of job 42').waitFor();
    t.pass();
  },
);

test.serial(
  'charts are drawn, their numbers are a press of a key away, and they change their colours with the page',
  async (t) => {
    const { page, complaints } = await open(t, '/');
    for (const name of ['Tasks finished', 'Busy processors', 'Requests', 'Processor-time']) {
      const panel = page.getByRole('region', { name, exact: true });
      await panel.locator('.chart canvas').waitFor();
      t.is(await panel.locator('.chart[role="img"]').count(), 1);
      await panel.getByText('As a table').focus();
      await page.keyboard.press('Enter');
      await panel.locator('.numbers-below').getByRole('row').nth(1).waitFor();
    }
    t.deepEqual(await findSeriousFaults(page), []);
    const picture = page.getByRole('region', { name: 'Processor-time', exact: true }).locator('.chart');
    const light = await picture.screenshot();
    await page.getByRole('button', { name: /change to light/ }).click();
    await page.getByRole('button', { name: /change to dark/ }).click();
    await until(async () => !(await picture.screenshot()).equals(light), 'the chart in dark colours');
    t.deepEqual(complaints, []);
  },
);

test.serial(
  'the queue of a resource shows what is free at an instant, and one of our requests is explained when it is pressed',
  async (t) => {
    const { page } = await open(t, '/');
    const queue = page.locator('.provider .chart');
    await queue.locator('canvas').waitFor();
    await queue.scrollIntoViewIfNeeded();
    const box = (await queue.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.8);
    // In an element of our own, whose text is never taken for markup.
    const tip = queue.locator('.chart-tip');
    await tip.getByText(/: \d+ of 128 processors free/).waitFor();
    t.regex(await tip.innerText(), /^alpha\/q3: 48 processors, queued, until/m);
    await page.mouse.click(box.x + box.width * 0.6, box.y + box.height * 0.8);
    await page.getByRole('dialog', { name: /alpha\/q3/ }).waitFor();
  },
);

test.serial('names and output are text, whatever is in them', async (t) => {
  const { page } = await open(t, '/');
  await page.getByText('<b>hostile</b> & "quoted" label').first().waitFor();
  await page.goto(`http://${t.context.gateway.address}/jobs/42`);
  await page.getByText('<img src=x onerror="document.title=1"> is not an atom').waitFor();
  await page.getByRole('button', { name: '77 · ligand-77', exact: true }).first().click();
  await page.getByRole('dialog').getByText('<script>document.title = "hacked"</script>').waitFor();
  t.is(await page.title(), 'Task 77 of job 42 · Mutirao');
});

test.serial('a broker that goes away is reported, and the page goes on by itself when it is back', async (t) => {
  const { page } = await open(t, '/');
  await page.waitForSelector('.link-light.live');
  t.context.gateway.setAway(true);
  await page.getByRole('alert').getByText('The broker has not answered').waitFor();
  await keepScreenshot(page, 'broker-away');
  t.true(await page.getByText('protein-docking').isVisible());
  t.context.gateway.setAway(false);
  await page.waitForSelector('.link-light.live');
  t.is(await page.getByRole('alert').count(), 0);
});

test.serial('a gateway that is started again is found again, and nothing typed is lost', async (t) => {
  const first = await startFakeGateway(size);
  const { page } = await openPage(t.context.browser, first.url.replace('/#', '/submit#'));
  t.teardown(() => page.context().close());
  await page.getByLabel('Command').fill('./simulate --seed {}');
  await page.waitForSelector('.link-light.live');
  await first.close();
  await page.getByRole('alert').getByText('The page has lost the connection to its server').waitFor();
  const second = await startFakeGateway({ ...size, port: Number(first.address.split(':')[1]) });
  t.teardown(() => second.close());
  await page.waitForSelector('.link-light.live');
  await page.reload();
  t.is(await page.getByLabel('Command').inputValue(), './simulate --seed {}');
});

test.serial(
  'without its token the page shows nothing and says where to get it; with it the address does not keep it',
  async (t) => {
    const bare = await openPage(t.context.browser, `http://${t.context.gateway.address}/`);
    t.teardown(() => bare.page.context().close());
    await bare.page.getByText('This address has no access token').waitFor();
    const { page } = await open(t, '/jobs');
    await page.waitForSelector('.link-light.live');
    t.false(page.url().includes('token'));
  },
);

test.serial('without a token nothing is said of a connection', async (t) => {
  const { page } = await openPage(t.context.browser, `http://${t.context.gateway.address}/jobs/42`);
  t.teardown(() => page.context().close());
  await page.getByText('This address has no access token').waitFor();
  t.is(await page.locator('.banner, .link-light').count(), 0);
});

test.serial('a second tab gets the token from the first, and each tab has a title', async (t) => {
  const { page } = await open(t, '/jobs');
  await page.waitForSelector('.link-light.live');
  t.is(await page.title(), 'Jobs · Mutirao');
  const second = await page.context().newPage();
  await second.goto(`http://${t.context.gateway.address}/jobs/42`);
  await second.getByText('exit status 2').first().waitFor();
  t.is(await second.title(), 'Job 42 · Mutirao');
});

test.serial('a job that does not exist, and a path that names nothing, are said once', async (t) => {
  const { page } = await open(t, '/jobs/999');
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  t.is(await page.getByRole('button', { name: 'Try again' }).count(), 1);
  await page.getByRole('link', { name: 'All jobs' }).click();
  await page.getByText('protein-docking').first().waitFor();
  const { page: lost } = await open(t, '/nosuch');
  await lost.getByText('There is no page at /nosuch.').waitFor();
  t.is(new URL(lost.url()).pathname, '/');
});

test.serial('the colours are switched by hand and stay so', async (t) => {
  const { page } = await open(t, '/');
  const ground = (): Promise<unknown> => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const light = await ground();
  await page.getByRole('button', { name: /change to light/ }).click();
  await page.getByRole('button', { name: /change to dark/ }).click();
  t.not(await ground(), light);
  await page.reload();
  t.not(await ground(), light);
});

async function addTasks(page: Page, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await page.getByRole('button', { name: 'Add task' }).click();
  await layOut(page);
}

/**
 * Presses "Lay out" and waits until the tasks have come to rest elsewhere; they are drawn where nobody wants them
 * before.
 */
async function layOut(page: Page): Promise<void> {
  const places = (): Promise<string> =>
    page.evaluate(
      '[document.querySelector(".react-flow__viewport"), ' +
        '...document.querySelectorAll(".react-flow__node")].map((one) => one.style.transform).join(";")',
    );
  const before = await places();
  await page.getByRole('button', { name: 'Lay out' }).click();
  await until(async () => (await places()) !== before, 'the layout');
  for (let last = ''; ; ) {
    const now = await places();
    if (now === last) return;
    last = now;
    await page.waitForTimeout(150);
  }
}

/** Drags from the lower handle of a task to the upper one of another. */
async function drawEdge(
  page: Page,
  from: string,
  to: string,
  whileDrawn: () => Promise<void> = async () => {},
): Promise<void> {
  const handle = async (id: string, kind: string): Promise<{ x: number; y: number }> => {
    const box = await page.locator(`.react-flow__node[data-id="${id}"] .react-flow__handle.${kind}`).boundingBox();
    return { x: box!.x + box!.width / 2, y: box!.y + box!.height / 2 };
  };
  const [start, end] = [await handle(from, 'source'), await handle(to, 'target')];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move((start.x + end.x) / 2, (start.y + end.y) / 2, { steps: 5 });
  await page.mouse.move(end.x, end.y, { steps: 5 });
  await whileDrawn();
  await page.mouse.up();
}

async function edgesInSight(page: Page, count: number): Promise<void> {
  await page
    .locator(`.graph-lines[aria-label="${count} ${count === 1 ? 'edge' : 'edges'} in sight"]`)
    .waitFor({ state: 'attached' });
}

test.serial(
  'a workflow is drawn: tasks, edges, a cycle that is refused while it is drawn, names, undo and redo, and a reload keeps it',
  async (t) => {
    const { page, complaints } = await open(t, '/workflow');
    await addTasks(page, 3);
    await drawEdge(page, 'task-1', 'task-2');
    await edgesInSight(page, 1);
    await layOut(page);
    await drawEdge(page, 'task-2', 'task-1', async () => {
      await page.getByText('task-2 would wait for itself: task-1 → task-2 is there already.').waitFor();
    });
    await edgesInSight(page, 1);
    await page.locator('.react-flow__node[data-id="task-3"]').click();
    await page.getByLabel('Name', { exact: true }).fill('gather');
    await page.getByLabel('Name', { exact: true }).press('Enter');
    await page.locator('.react-flow__node[data-id="gather"]').waitFor();
    await page.getByLabel('Task to wait for').fill('task-2');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('b-level').first().waitFor();
    await edgesInSight(page, 2);
    await page.getByRole('button', { name: 'Undo' }).click();
    await edgesInSight(page, 1);
    await page.getByRole('button', { name: 'Redo' }).click();
    await edgesInSight(page, 2);
    await page.getByRole('tab', { name: 'Workflow' }).click();
    await page.getByText('3.0 s').first().waitFor();
    await layOut(page);
    await keepScreenshot(page, 'workflow-drawn');
    await page.reload();
    await page.locator('.react-flow__node[data-id="gather"]').waitFor();
    await edgesInSight(page, 2);
    t.deepEqual(complaints, []);
  },
);

test.serial(
  'a drawing is saved to a file and opened again as it was; removing a task takes its edges with it',
  async (t) => {
    const { page } = await open(t, '/workflow');
    await addTasks(page, 2);
    await drawEdge(page, 'task-1', 'task-2');
    await edgesInSight(page, 1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save' }).click(),
    ]);
    const text = await readFile(await download.path(), 'utf8');
    t.is((JSON.parse(text) as { tasks: unknown[] }).tasks.length, 2);
    await page.locator('.react-flow__node[data-id="task-1"]').click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await edgesInSight(page, 0);
    t.is(await page.locator('.task-node').count(), 1);
    await page.getByRole('button', { name: 'New' }).click();
    await page.getByText('The workflow is empty.').waitFor();
    await page
      .getByLabel('Workflow file')
      .setInputFiles({ name: 'a.workflow.json', mimeType: 'application/json', buffer: Buffer.from(text) });
    await edgesInSight(page, 1);
    t.is(await page.locator('.task-node').count(), 2);
  },
);

test.serial(
  'ten thousand jobs are searched, filtered and sorted, and walked through by the keyboard; the address keeps what is shown',
  async (t) => {
    const gateway = await startFakeGateway({ ...size, jobCount: 10_000 });
    t.teardown(() => gateway.close());
    const { page, complaints } = await openPage(t.context.browser, gateway.url);
    t.teardown(() => page.context().close());
    await page.getByRole('link', { name: 'All jobs: search, filter, sort' }).click();
    await page.getByRole('status').getByText('10,014 jobs', { exact: true }).waitFor();
    const shown = async (): Promise<string[]> =>
      (await page.locator('tbody tr[data-job] .job-name').allInnerTexts()).map((text) => text.split(/\s/)[0] ?? '');
    t.true(((await page.evaluate('document.querySelectorAll("*").length')) as number) < 1500);
    t.is((await shown())[0], '10042');

    // To the last one and back to where it began, without a pointer; the focus is never lost.
    await page.locator('tbody .job-name').first().focus();
    await page.keyboard.press('End');
    await until(
      async () => (await page.evaluate('document.activeElement.closest("tr")?.getAttribute("data-job")')) === '29',
      'the focus is on the last job',
    );
    await page.keyboard.press('ArrowUp');
    t.is(await page.evaluate('document.activeElement.closest("tr").getAttribute("data-job")'), '30');
    await page.evaluate('window.scrollTo(0, 0)');
    await until(async () => (await shown()).includes('10042'), 'the first jobs are there again');
    t.is(
      await page.evaluate('document.activeElement.closest("tr").getAttribute("data-job")'),
      '30',
      'a row that has the focus stays, out of sight too',
    );

    await page
      .getByRole('button', { name: /^running/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Remaining' }).click();
    t.is(
      await page
        .locator('th[aria-sort="ascending"]')
        .innerText()
        .then((text) => text.replace(/\s+/g, ' ')),
      'Remaining ▲',
    );
    await page.getByText('11 min to 14 min').first().waitFor();
    await page.getByLabel('Search in labels').fill('fold');
    await page
      .getByRole('status')
      .getByText(/^\d+ of 10,014 jobs$/)
      .waitFor();
    t.true((await page.locator('tbody .label-cell').allInnerTexts()).every((label) => label.startsWith('fold')));
    await until(
      () => Promise.resolve(page.url().endsWith('/jobs?search=fold&state=running&sort=remaining')),
      'the address says what is shown',
    );
    t.deepEqual(await findSeriousFaults(page), []);
    await page.locator('tbody .job-name').first().press('Enter');
    await page.waitForURL(/\/jobs\/\d+$/);
    await page.goBack();
    await page.locator('tbody .label-cell').first().waitFor();
    t.is(await page.getByLabel('Search in labels').inputValue(), 'fold');
    await page.getByLabel('Search in labels').fill('nothing is called so');
    await page.getByText('No job matches.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('status').getByText('10,014 jobs', { exact: true }).waitFor();
    t.deepEqual(complaints, []);
  },
);
