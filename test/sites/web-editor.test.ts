// The workflow editor in a real Chromium over a real grid: what is drawn, refused, read and written, and a workflow
// that is submitted from it and seen to run on the same graph.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { Browser, Page } from 'playwright-core';
import { until } from '@mutirao/testkit';
import {
  buildPageIfStale,
  findSeriousFaults,
  keepScreenshot,
  openPage,
  startBrowser,
  type OpenedPage,
} from '@mutirao/testkit/page';

const command = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'mutirao-editor-'));
const work = join(home, 'work');
const hostile = '<img src=x onerror="document.title=1"> & "b"';

interface Context {
  readonly browser: Browser;
  readonly url: string;
}
const test = anyTest as TestFn<Context>;
const kept: { browser?: Browser; url: string } = { url: '' };

function mutirao(...args: readonly string[]): string {
  return execFileSync(process.execPath, [command, ...args], {
    cwd: work,
    env: { ...process.env, MUTIRAO_HOME: join(home, 'grid'), TZ: 'UTC' },
    encoding: 'utf8',
  });
}

test.before(async () => {
  mkdirSync(work);
  buildPageIfStale();
  mutirao('up', '--clusters', '2', '--machines', '0', '--detach');
  await until(() => {
    kept.url = /http:\S+/.exec(mutirao('web'))?.[0] ?? '';
    return kept.url !== '';
  }, 'the page');
  kept.browser = await startBrowser();
});
test.beforeEach((t) => {
  t.context = { browser: kept.browser!, url: kept.url };
});
test.after.always(async () => {
  await kept.browser?.close();
  mutirao('down');
  rmSync(home, { recursive: true, force: true });
});

async function open(t: ExecutionContext<Context>): Promise<OpenedPage> {
  const opened = await openPage(t.context.browser, t.context.url.replace('/#', '/workflow#'));
  opened.page.setDefaultTimeout(45_000);
  t.teardown(() => opened.page.context().close());
  return opened;
}

const getBox = (page: Page, id: string): ReturnType<Page['locator']> =>
  page.locator(`.react-flow__node[data-id=${JSON.stringify(id)}]`);
const button = (page: Page, name: string): ReturnType<Page['locator']> =>
  page.getByRole('button', { name, exact: true });
const edgesInSight = (page: Page, count: number): Promise<void> =>
  page
    .locator(`.graph-lines[aria-label="${count} ${count === 1 ? 'edge' : 'edges'} in sight"]`)
    .waitFor({ state: 'attached' });
const isAnnounced = (page: Page, text: string): Promise<void> =>
  until(async () => (await page.locator('.notes').innerText()).includes(text), `the page says "${text}"`);

async function openFile(page: Page, name: string, text: string): Promise<void> {
  await page.getByLabel('Workflow file').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
}

/** Waits until boxes and the window upon them have come to rest. */
async function settle(page: Page): Promise<void> {
  const places = (): Promise<string> =>
    page.evaluate(
      '[document.querySelector(".react-flow__viewport"), ' +
        '...document.querySelectorAll(".react-flow__node")].map((one) => one.style.transform).join(";")',
    );
  for (let last = ''; ; ) {
    const now = await places();
    if (now === last) return;
    last = now;
    await page.waitForTimeout(200);
  }
}

/** Drags from the lower handle of a task to the upper one of another. */
async function drawEdge(
  page: Page,
  [from, to]: readonly [string, string],
  whileDrawn: () => Promise<void> = async () => {},
): Promise<void> {
  const middle = async (id: string, kind: string): Promise<readonly [number, number]> => {
    const box = (await getBox(page, id).locator(`.react-flow__handle.${kind}`).boundingBox())!;
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const [start, end] = [await middle(from, 'source'), await middle(to, 'target')];
  await page.mouse.move(...start);
  await page.mouse.down();
  await page.mouse.move((start[0] + end[0]) / 2 + 40, (start[1] + end[1]) / 2, { steps: 4 });
  await page.mouse.move(...end, { steps: 4 });
  await whileDrawn();
  await page.mouse.up();
}

async function fillTask(page: Page, id: string, fields: Readonly<Record<string, string>>): Promise<void> {
  await getBox(page, id).click();
  await until(async () => (await page.getByLabel('Name', { exact: true }).inputValue()) === id, `${id} is selected`);
  for (const [label, text] of Object.entries(fields))
    await page.getByRole('textbox', { name: new RegExp(`^${label}`) }).fill(text);
}

test.serial(
  'a workflow is drawn, what would be wrong is refused as it is drawn, and once it is submitted the same graph shows it run to its end',
  async (t) => {
    const { page, complaints } = await open(t);
    for (let index = 0; index < 3; index += 1) await button(page, 'Add task').click();
    await button(page, 'Lay out').click();
    await settle(page);

    await drawEdge(page, ['task-1', 'task-2']);
    await edgesInSight(page, 1);
    await drawEdge(page, ['task-1', 'task-2'], () =>
      page.getByText('There is an edge from task-1 to task-2 already.').waitFor(),
    );
    await drawEdge(page, ['task-2', 'task-1'], () =>
      page.getByText('task-2 would wait for itself: task-1 → task-2 is there already.').waitFor(),
    );
    await drawEdge(page, ['task-3', 'task-3'], () => page.getByText('task-3 cannot wait for itself.').waitFor());
    await edgesInSight(page, 1);

    await fillTask(page, 'task-1', { Name: 'task-2' });
    await page.getByLabel('Name', { exact: true }).press('Enter');
    await isAnnounced(page, 'There is a task task-2 already.');
    await fillTask(page, 'task-1', { Name: hostile });
    await page.getByLabel('Name', { exact: true }).press('Enter');
    await getBox(page, hostile).waitFor();
    await fillTask(page, hostile, { Command: 'echo first > one.txt', Outputs: 'one.txt' });
    await fillTask(page, 'task-2', {
      Command: 'sleep 2; cat one.txt; echo second > two.txt',
      Inputs: 'one.txt',
      Outputs: 'two.txt',
      'Run time, s': '5',
    });
    await fillTask(page, 'task-3', { Command: 'cat two.txt', Inputs: 'two.txt' });
    await page.getByLabel('Task to wait for').fill('task-2');
    await button(page, 'Add').click();
    await edgesInSight(page, 2);

    await page.getByRole('tab', { name: 'Workflow' }).click();
    await page.getByText('7.0 s').first().waitFor();
    await page.getByLabel('Name', { exact: true }).fill('drawn by hand');
    await page.getByRole('tab', { name: 'Schedule' }).click();
    for (const algorithm of ['cpop', 'heft']) {
      await page.getByLabel('Algorithm').selectOption(algorithm);
      await page.getByText(`by ${algorithm}`).waitFor();
    }
    t.deepEqual(await findSeriousFaults(page), []);

    await button(page, 'Submit …').click();
    await page.getByLabel(/^Folder/).fill(work);
    await button(page, 'Submit').click();
    await getBox(page, 'task-2').getByText('running').waitFor();
    await getBox(page, 'task-3').getByText('waiting').waitFor();
    await keepScreenshot(page, 'live-workflow-runs');
    await page.reload();
    await page.getByText('3 of 3 tasks finished').waitFor();
    for (const id of [hostile, 'task-2', 'task-3']) await getBox(page, id).getByText('finished').waitFor();
    t.is(mutirao('task', 'output', 'last', '2'), 'second\n');
    t.regex(mutirao('job', 'list'), /drawn by hand/);
    t.is(await page.title(), 'Workflow · Mutirao');
    await button(page, 'Back to the editor').click();
    await getBox(page, 'task-2').getByText('5 s').waitFor();
    t.deepEqual(complaints, []);
  },
);

test.serial(
  'a press on a line selects the edge, whose data is shown next to the graph; the keyboard removes it, and undo brings it back',
  async (t) => {
    const { page } = await open(t);
    await openFile(
      page,
      'two.yaml',
      'tasks:\n  a: {command: "true", time: 1s}\n  b: {command: "true", time: 1s, after: [a]}\n',
    );
    await edgesInSight(page, 1);
    await settle(page);
    const [above, below] = [(await getBox(page, 'a').boundingBox())!, (await getBox(page, 'b').boundingBox())!];
    await page.mouse.click(above.x + above.width / 2, (above.y + above.height + below.y) / 2);
    await page.getByRole('textbox', { name: /^Data in addition to files/ }).fill('125000000');
    await page.getByRole('tab', { name: 'Workflow' }).click();
    await page.getByText('3.0 s').first().waitFor();
    await page.keyboard.press('Delete');
    await edgesInSight(page, 0);
    await page.keyboard.press('Control+z');
    await edgesInSight(page, 1);
    t.pass();
  },
);

test.serial(
  'wrong files are reported with the place and leave the drawing as it is; a workflow that can be drawn but not run is drawn and cannot be submitted',
  async (t) => {
    const { page } = await open(t);
    await openFile(
      page,
      'right.yaml',
      'name: right\ntasks:\n  a: {command: "true", time: 1s}\n  b: {command: "true", time: 1s, after: [a]}\n',
    );
    await edgesInSight(page, 1);
    const wrong = [
      ['broken.yaml', 'name: x\ntasks:\n  a: {command: "true", after: [b]\n', 'broken.yaml:4:'],
      ['twice.yaml', 'tasks:\n  a: {command: "true"}\n  a: {command: "false"}\n', 'twice.yaml:3:3'],
      ['broken.xml', '<?xml version="1.0"?>\n<job>\n <task>\n</job>', 'broken.xml:4:'],
      ['broken.dax', '<?xml version="1.0"?>\n<adag name="x">\n <job name="p"/>\n</adag>', 'broken.dax:3:'],
      ['broken.json', '{"name":"x","schemaVersion":"1.5","workflow":{\n "a": }', 'broken.json:2:'],
      [
        'saved.json',
        '{"format":"mutirao-workflow-1","tasks":[{"id":"a"},{"id":"a"}],"edges":[]}',
        'its tasks 1 and 2 are both called a',
      ],
    ] as const;
    for (const [name, text, place] of wrong) {
      await openFile(page, name, text);
      // It stays until it is put away: nobody reads a place in a file within seconds.
      await page.locator('.editor-problem').getByText(place).waitFor();
      await edgesInSight(page, 1);
      await page.getByRole('button', { name: 'Dismiss' }).click();
    }
    await openFile(
      page,
      'cycle.yaml',
      'name: x\ntasks:\n  a: {command: "true", after: [b]}\n  b: {command: "true", after: [a]}\n',
    );
    await page.getByText('This cannot run:').waitFor();
    t.is(await page.getByRole('alert').count(), 1, 'a cycle is said once');
    t.true(await button(page, 'Submit …').isDisabled());
    await keepScreenshot(page, 'live-workflow-cycle');
    await button(page, 'Undo').click();
    await until(async () => !(await button(page, 'Submit …').isDisabled()), 'what was right before can be submitted');
  },
);

test.serial('a workflow is written in each format and read again as it was', async (t) => {
  const { page } = await open(t);
  const matrix = (id: string, x: number): object => ({
    id,
    x,
    y: 0,
    kind: 'Q',
    command: '',
    matrix: { operation: 'Q', dimension: 100, parameters: '' },
  });
  await openFile(
    page,
    'drawn.json',
    JSON.stringify({
      format: 'mutirao-workflow-1',
      name: 'written',
      tasks: [matrix('a', 0), matrix('b', 300)],
      edges: [{ from: 'a', to: 'b' }],
    }),
  );
  await edgesInSight(page, 1);
  for (const [title, ending] of [
    ['YAML', 'yaml'],
    ['WfFormat', 'json'],
    ['DAX', 'dax'],
    ['Job XML', 'xml'],
  ] as const) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByLabel('Export').selectOption({ label: title }),
    ]);
    t.is(download.suggestedFilename(), `written.${ending}`);
    const text = readFileSync(await download.path(), 'utf8');
    await openFile(page, `again-${ending}.${ending}`, text);
    await isAnnounced(page, `again-${ending}.${ending} was opened: 2 tasks, 1 edge.`);
    await button(page, 'Undo').click();
    await edgesInSight(page, 1);
  }
});

test.serial('a broker that is killed and comes back loses nothing of what is drawn, and takes it then', async (t) => {
  const { page } = await open(t);
  await button(page, 'Add task').click();
  await fillTask(page, 'task-1', { Command: 'echo still here' });
  await page.waitForSelector('.link-light.live');
  const brokerPid = (): number =>
    (JSON.parse(readFileSync(join(home, 'grid', 'broker.json'), 'utf8')) as { pid: number }).pid;
  const killed = brokerPid();
  process.kill(killed, 'SIGKILL');
  await button(page, 'Add task').click();
  await fillTask(page, 'task-2', { Command: 'echo too' });
  await page.reload();
  await getBox(page, 'task-2').waitFor();
  await until(() => brokerPid() !== killed, 'the broker is back');
  await page.waitForSelector('.link-light.live');
  await button(page, 'Submit …').click();
  await page.getByLabel(/^Folder/).fill(work);
  // The gateway may not have found it again yet; a refused button can be pressed again and makes no second job.
  await until(async () => {
    await button(page, 'Submit')
      .click({ timeout: 2000 })
      .catch(() => undefined);
    return page.locator('.run-state').isVisible();
  }, 'the job is submitted');
  await page.getByText('2 of 2 tasks finished').waitFor({ timeout: 150_000 });
  t.is(mutirao('task', 'output', 'last', '0'), 'still here\n');
});
