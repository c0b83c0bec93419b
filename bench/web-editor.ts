// Editing a large workflow in a real Chromium: from an input, by the browser's own clock, to the end of the first frame
// that shows what came of it; and the longest that the page was busy meanwhile and after.
// node bench/web-editor.ts [--drawn TASKS] [--rounds N] [--profile FILE: a .cpuprofile of all that was done]
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { CDPSession, Page } from 'playwright-core';
import { buildPageIfStale, openPage, pageFolder, startBrowser, startFakeGateway } from '@mutirao/testkit/page';
import { below, median, plain, report, type Figure } from './harness.ts';

const { values } = parseArgs({
  options: {
    drawn: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '10' },
    profile: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const drawn = Number(values.drawn);
const aimMs = 50;
/** Tasks of each level. */
const wide = 40;

/** A workflow of levels, each task of which waits for two of the level above. */
function drawnWorkflow(count: number): string {
  const tasks = Array.from({ length: count }, (_, index) => ({
    id: `t${index}`,
    work: 1000 + ((index * 7919) % 9000),
    x: (index % wide) * 200,
    y: Math.floor(index / wide) * 130,
  }));
  const edges = tasks.slice(wide).flatMap((_, index) => [
    { from: `t${index}`, to: `t${index + wide}` },
    { from: `t${index - (index % wide) + ((index + 1) % wide)}`, to: `t${index + wide}` },
  ]);
  return JSON.stringify({ format: 'mutirao-workflow-1', name: 'large', tasks, edges });
}

/**
 * Waits in the page for an input, then for the first frame in which `shows` holds; the channel's message comes when
 * that frame has been handed on to be painted.
 */
const watcher = `window.watchFor = (type, shows) => {
  window.shown = new Promise((resolve, reject) => {
    let since;
    const limit = setTimeout(() => reject(new Error('nothing came of ' + type + ': ' + shows)), 10000);
    addEventListener(type, (event) => { since = event.timeStamp; }, { capture: true, once: true });
    const frame = () => {
      if (since === undefined || !shows()) { requestAnimationFrame(frame); return; }
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { channel.port1.close(); clearTimeout(limit); resolve(performance.now() - since); };
      channel.port2.postMessage(0);
    };
    requestAnimationFrame(frame);
  });
};
window.busy = [];
new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) window.busy.push(duration); }).observe({ type: 'longtask' });`;

interface Action {
  readonly name: string;
  /** The event that begins it. */
  readonly input: string;
  /** An expression that is true on the page once the result is visible. */
  readonly shows: string;
  readonly act: () => Promise<void>;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const getBox = (id: string): string => `.react-flow__node[data-id="${id}"]`;
const placeOf = (selector: string): string => `document.querySelector('${selector}')?.style.transform`;

async function getMiddle(page: Page, selector: string): Promise<Point> {
  const box = await page.locator(selector).boundingBox();
  if (box === null) throw new Error(`${selector} is not in sight`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/**
 * A task whose box is wholly in sight and under no other one, with another such below it; another pair in each round.
 */
async function findPair(page: Page, round: number): Promise<readonly [string, string]> {
  const ids = (await page.evaluate(`(() => {
    const pane = document.querySelector('.editor-canvas').getBoundingClientRect();
    const isOnTop = (node, { left, top, width, height }) => [0.1, 0.5, 0.9].every((share) => [left + width * 0.1, left + width * 0.5, left + width * 0.9].every((x) => node.contains(document.elementFromPoint(x, top + height * share))));
    return [...document.querySelectorAll('.react-flow__node')].filter((node) => { const box = node.getBoundingClientRect(); return box.left > pane.left + 60 && box.right < pane.right - 200 && box.top > pane.top + 60 && box.bottom < pane.bottom - 160 && isOnTop(node, box); }).map((node) => node.dataset.id);
  })()`)) as readonly string[];
  const inSight = new Set(ids);
  // Two levels on and some to the side, where no edge is.
  const pairs = ids
    .filter((id) => /^t\d+$/.test(id))
    .flatMap((id) =>
      [3, -3, 2, -2, 4, 5]
        .map((aside) => [id, `t${Number(id.slice(1)) + 2 * wide + aside}`] as const)
        .filter(([, other]) => inSight.has(other)),
    );
  const pair = pairs[(round * 7) % pairs.length];
  if (pair === undefined) throw new Error('no two tasks are in sight');
  return pair;
}

/** What is done in a round, in its order; each leaves the workflow fit for the next one. */
async function listActions(page: Page, round: number): Promise<Action[]> {
  const [one, other] = await findPair(page, round);
  const [start, end] = [
    await getMiddle(page, getBox(one)),
    await getMiddle(page, `${getBox(other)} .react-flow__handle.target`),
  ];
  const from = await getMiddle(page, `${getBox(one)} .react-flow__handle.source`);
  const button = (name: string) => (): Promise<void> => page.getByRole('button', { name, exact: true }).click();
  const side = document('.properties #task-name');
  const edges = (await page.evaluate(
    'document.querySelector(".graph-lines path.plain").getAttribute("d").split("M").length',
  )) as number;
  const edge = `document.querySelector('.graph-lines path.plain').getAttribute('d').split('M').length === ${edges + 1}`;
  return [
    {
      name: 'select',
      input: 'pointerdown',
      shows: `${side}?.value === '${one}'`,
      act: () => page.mouse.click(start.x, start.y),
    },
    {
      name: 'draw an edge',
      input: 'pointerup',
      shows: edge,
      act: async () => {
        await page.mouse.move(from.x, from.y);
        await page.mouse.down();
        await page.mouse.move(end.x - 30, end.y - 30, { steps: 4 });
        await page.mouse.move(end.x, end.y, { steps: 3 });
        await page.mouse.up();
      },
    },
    { name: 'undo', input: 'click', shows: `!(${edge})`, act: button('Undo') },
    { name: 'redo', input: 'click', shows: edge, act: button('Redo') },
    {
      name: 'rename',
      input: 'keydown',
      shows: `document.querySelector('${getBox(`renamed-${round}`)}') !== null`,
      act: async () => {
        await page.getByLabel('Name', { exact: true }).fill(`renamed-${round}`);
        await page.getByLabel('Name', { exact: true }).press('Enter');
      },
    },
    {
      name: 'type a letter of its command',
      input: 'keydown',
      shows: `document.querySelector('#task-command-own').value === 'x'`,
      act: async () => {
        await page.locator('#task-command-own').press('x');
      },
    },
    {
      name: 'remove',
      input: 'click',
      shows: `document.querySelector('${getBox(`renamed-${round}`)}') === null`,
      act: button('Remove'),
    },
    {
      name: 'add a task',
      input: 'click',
      shows: `document.querySelector('.react-flow__node.selected[data-id^="task-"]') !== null`,
      act: button('Add task'),
    },
  ];
}

function document(selector: string): string {
  return `document.querySelector('${selector}')`;
}

/** What was measured of the actions of one name. */
interface Taken {
  readonly shownMs: number[];
  readonly busyMs: number[];
  /**
   * Processor time of the page's thread, that of what is put off included: of one action, or of one step of a gesture.
   */
  readonly workMs: number[];
}
type Measured = Map<string, Taken>;

interface Bench {
  readonly page: Page;
  readonly inspector: CDPSession;
  readonly measured: Measured;
}

function findNotes(measured: Measured, name: string): Taken {
  const known = measured.get(name);
  if (known !== undefined) return known;
  const fresh = { shownMs: [], busyMs: [], workMs: [] };
  measured.set(name, fresh);
  return fresh;
}

/** Milliseconds of processor time that the page's thread has worked. */
async function workOf(inspector: CDPSession): Promise<number> {
  const { metrics } = await inspector.send('Performance.getMetrics');
  return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
}

async function measure({ page, inspector, measured }: Bench, { name, input, shows, act }: Action): Promise<void> {
  await page.evaluate(`window.busy.length = 0; window.watchFor('${input}', () => ${shows})`);
  const before = await workOf(inspector);
  await act();
  const { shownMs, busyMs, workMs } = findNotes(measured, name);
  shownMs.push(await page.evaluate('window.shown'));
  // What was put off is done by then: levels come after a moment, and what is kept for the tab after a longer one.
  await page.waitForTimeout(500);
  workMs.push((await workOf(inspector)) - before);
  busyMs.push(await page.evaluate('Math.max(0, ...window.busy)'));
}

/** A gesture of many steps: each is one input, measured by itself. */
async function measureSteps(
  { page, inspector, measured }: Bench,
  {
    name,
    input,
    place,
    steps,
  }: {
    readonly name: string;
    readonly input: string;
    readonly place: string;
    readonly steps: readonly (() => Promise<void>)[];
  },
): Promise<void> {
  await page.evaluate('window.busy.length = 0');
  const { shownMs, busyMs, workMs } = findNotes(measured, name);
  const before = await workOf(inspector);
  for (const step of steps) {
    await page.evaluate(
      `window.placeBefore = ${place}; window.watchFor('${input}', () => ${place} !== window.placeBefore)`,
    );
    await step();
    shownMs.push(await page.evaluate('window.shown'));
  }
  await page.waitForTimeout(300);
  workMs.push(((await workOf(inspector)) - before) / steps.length);
  busyMs.push(await page.evaluate('Math.max(0, ...window.busy)'));
}

async function measureGestures(bench: Bench, round: number): Promise<void> {
  const { page } = bench;
  const [id] = await findPair(page, round);
  const viewport = placeOf('.react-flow__viewport');
  const along = ({ x, y }: Point, step: Point): (() => Promise<void>)[] =>
    Array.from({ length: 12 }, (_, index) => () => page.mouse.move(x + step.x * (index + 1), y + step.y * (index + 1)));
  const box = await getMiddle(page, getBox(id));
  await page.mouse.move(box.x, box.y);
  await page.mouse.down();
  await page.mouse.move(box.x + 3, box.y + 3);
  await measureSteps(bench, {
    name: 'move',
    input: 'pointermove',
    place: placeOf(getBox(id)),
    steps: along(box, { x: 5, y: 3 }),
  });
  await page.mouse.up();
  const pane = (await page.locator('.editor-canvas').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const bare = (await page.evaluate(`(() => {
    for (let y = ${pane.y + 250}; y < ${pane.y + 450}; y += 3) for (let x = ${pane.x + 300}; x < ${pane.x + 500}; x += 3) if (document.elementFromPoint(x, y).classList.contains('react-flow__pane')) return { x, y };
    throw new Error('the pane is bare nowhere');
  })()`)) as Point;
  const towards = round % 2 === 0 ? -1 : 1;
  await page.mouse.move(bare.x, bare.y);
  await page.mouse.down();
  await page.mouse.move(bare.x + towards * 2, bare.y + towards * 2);
  await measureSteps(bench, {
    name: 'pan',
    input: 'pointermove',
    place: viewport,
    steps: along(bare, { x: towards * 20, y: towards * 15 }),
  });
  await page.mouse.up();
  await measureSteps(bench, {
    name: 'zoom',
    input: 'wheel',
    place: viewport,
    steps: [-1, -1, -1, 1, 1, 1].map((sign) => () => page.mouse.wheel(0, sign * 60)),
  });
}

/** Zooms in by the wheel, step by step. */
async function zoomTo(page: Page, least: number): Promise<void> {
  while (
    ((await page.evaluate(
      'new DOMMatrix(document.querySelector(".react-flow__viewport").style.transform).a',
    )) as number) < least
  ) {
    await page.mouse.wheel(0, -60);
    await page.waitForTimeout(60);
  }
}

async function measureEditor(page: Page): Promise<Measured> {
  const inspector = await page.context().newCDPSession(page);
  await inspector.send('Performance.enable', { timeDomain: 'threadTicks' });
  const measured: Measured = new Map();
  const bench = { page, inspector, measured };
  await page.evaluate(watcher);
  await page.getByLabel('Workflow file').setInputFiles({
    name: 'large.workflow.json',
    mimeType: 'application/json',
    buffer: Buffer.from(drawnWorkflow(drawn)),
  });
  await page.getByText('large.workflow.json is read').waitFor();
  await page.waitForTimeout(1000);
  const whole = (await page.locator('.editor-canvas').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(whole.x + whole.width / 2, whole.y + whole.height / 2);
  await measureSteps(bench, {
    name: 'zoom, all of them in sight',
    input: 'wheel',
    place: placeOf('.react-flow__viewport'),
    steps: Array.from({ length: 8 }, (_, index) => () => page.mouse.wheel(0, index % 2 === 0 ? -20 : 20)),
  });
  await zoomTo(page, 0.45);
  await page.locator('.task-node').first().waitFor();
  await page.waitForTimeout(1000);
  for (let round = 0; round < rounds; round += 1) {
    for (const action of await listActions(page, round)) await measure(bench, action);
    // What was added lies where the next round presses.
    await page.keyboard.press('Delete');
    await measureGestures(bench, round);
  }
  return measured;
}

function listFigures(measured: Measured): Figure[] {
  const name = (what: string): string => `${drawn} tasks drawn: ${what}`;
  return [...measured].flatMap(([what, { shownMs, busyMs, workMs }]) => [
    below(name(`${what}, to the next picture, median`), median(shownMs), 'ms', aimMs),
    plain(name(`${what}, the longest`), Math.max(...shownMs), 'ms'),
    plain(name(`${what}, processor time of the page, median`), median(workMs), 'ms'),
    plain(name(`${what}, the longest that it was busy`), Math.max(...busyMs), 'ms'),
  ]);
}

buildPageIfStale();
const gateway = await startFakeGateway({
  folder: pageFolder,
  taskCount: 1000,
  machineCount: 20,
  finishedPerSecond: 0,
});
const browser = await startBrowser();
const figures: Figure[] = [plain('load of the machine before', loadavg()[0] ?? 0, '')];
const { page } = await openPage(browser, gateway.url.replace('/#', '/workflow#'));
const debuggerOf = values.profile === undefined ? undefined : await page.context().newCDPSession(page);
await debuggerOf?.send('Profiler.enable');
await debuggerOf?.send('Profiler.start');
figures.push(...listFigures(await measureEditor(page)));
if (debuggerOf !== undefined && values.profile !== undefined)
  writeFileSync(values.profile, JSON.stringify((await debuggerOf.send('Profiler.stop')).profile));
figures.push(plain('load of the machine after', loadavg()[0] ?? 0, ''));
report('web-editor', figures);
await browser.close();
await gateway.close();
