// The page in a real Chromium over a real grid: a slot is asked for, refused, moved and given back; a bag and a job
// file are submitted and run to their end.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
const home = mkdtempSync(join(tmpdir(), 'mutirao-page-'));
const work = join(home, 'work');
const processors = 4;
const hour = 3_600_000;

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
  mutirao('up', '--clusters', String(processors), '--machines', '0', '--reservations', '--detach');
  const url = (): string => /http:\S+/.exec(mutirao('web'))?.[0] ?? '';
  await until(() => {
    kept.url = url();
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

async function open(t: ExecutionContext<Context>, path: string): Promise<OpenedPage> {
  const opened = await openPage(t.context.browser, t.context.url.replace('/#', `${path}#`), { timezoneId: 'UTC' });
  opened.page.setDefaultTimeout(180_000);
  t.teardown(() => opened.page.context().close());
  return opened;
}

/** Keeps pictures of a view as it is, wide and narrow, and answers what is wrong with how it looks. */
async function lookAt(page: Page, name: string): Promise<string[]> {
  await keepScreenshot(page, `live-${name}`);
  const faults = await findSeriousFaults(page);
  await page.setViewportSize({ width: 390, height: 844 });
  if (await page.evaluate('document.documentElement.scrollWidth > innerWidth'))
    faults.push(`${name} is wider than a narrow window`);
  await keepScreenshot(page, `live-${name}-narrow`);
  await page.setViewportSize({ width: 1280, height: 800 });
  return faults;
}

/** A place in the calendar of a day that the page shows first: hours after its begin, and an amount. */
type CalendarPlace = readonly [hours: number, amount: number];

async function drag(page: Page, from: CalendarPlace, to: CalendarPlace): Promise<void> {
  const canvas = page.locator('.picture canvas');
  await canvas.scrollIntoViewIfNeeded();
  const box = (await canvas.boundingBox())!;
  const at = ([hours, amount]: CalendarPlace): readonly [number, number] => [
    box.x + 40 + (hours / 24) * (box.width - 84),
    box.y + 274 - (amount / processors) * 234,
  ];
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at(to), { steps: 8 });
  await page.mouse.up();
}

/** From and until of the form that is open, in hours after another instant. */
async function hoursOfForm(page: Page, since: number): Promise<number[]> {
  const values = await Promise.all(
    ['From', 'Until'].map((label) => page.getByLabel(label, { exact: true }).inputValue()),
  );
  return values.map((text) => (Date.parse(`${text}Z`) - since) / hour);
}

test.serial(
  'a slot is drawn and reserved, one that is taken is refused and an alternative taken, reservations are moved and lengthened by dragging, and one is cancelled',
  async (t) => {
    const { page, complaints } = await open(t, '/reservations');
    const form = page.locator('.reservation-form');
    const line = (id: number): ReturnType<Page['locator']> => page.getByRole('row', { name: new RegExp(`^${id} `) });
    const amount = form.getByRole('spinbutton');
    await page.getByText('Draw a slot with the pointer').waitFor();
    const begin = (await page.evaluate('Math.floor((Date.now() - 3600000) / 3600000) * 3600000')) as number;

    await drag(page, [4.1, 0.4], [6.9, 1.5]);
    t.deepEqual([await amount.inputValue(), ...(await hoursOfForm(page, begin))], ['2', 4, 7]);
    await form.getByRole('button', { name: 'Reserve' }).click();
    await line(1).getByText('2 processors').waitFor();
    await form.waitFor({ state: 'detached' });

    await drag(page, [3, 3.6], [5.9, 2.4]);
    await amount.fill(String(processors));
    await form.getByRole('button', { name: 'Reserve' }).click();
    await form.getByText('Alternatives:').waitFor();
    t.deepEqual(await lookAt(page, 'refused'), []);
    await form
      .getByRole('listitem')
      .filter({ hasText: '2 processors' })
      .getByRole('button', { name: 'Use this' })
      .first()
      .click();
    await line(2).getByText('2 processors').waitFor();
    await form.waitFor({ state: 'detached' });

    // What begins first lies lowest, so that the first reservation lies on the second.
    await drag(page, [5, 2.8], [12, 2.8]);
    t.deepEqual(await hoursOfForm(page, begin), [11, 14]);
    await form.getByRole('button', { name: 'Change', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    await until(
      async () => (await page.locator('.notes').innerText()).includes('Reservation 1 is changed.'),
      'the change is shown',
    );
    const [moved] = JSON.parse(mutirao('reservation', 'show', '1', '--json')) as { start_unix_ms: number }[];
    t.is((moved!.start_unix_ms - begin) / hour, 11);

    await page.getByRole('button', { name: 'Change reservation 1' }).click();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await drag(page, [13.95, 0.8], [16, 0.8]);
    t.deepEqual(await hoursOfForm(page, begin), [11, 16]);
    await form.getByRole('button', { name: 'Change', exact: true }).click();
    await line(1).getByText('5 h', { exact: true }).waitFor();
    t.deepEqual(await lookAt(page, 'reserved'), []);

    page.on('dialog', (dialog) => {
      void dialog.accept();
    });
    await page.getByRole('button', { name: 'Cancel reservation 1' }).click();
    await line(1).getByText('cancelled', { exact: true }).waitFor();
    t.regex(mutirao('reservation', 'show', '1'), /cancelled on the page/);
    t.deepEqual(complaints, []);
  },
);

/** Drops files on the page as a browser does. */
async function drop(page: Page, files: Readonly<Record<string, string>>): Promise<void> {
  const dropped = await page.evaluateHandle(
    '(() => { const transfer = new DataTransfer(); for (const [name, text] of ' +
      `${JSON.stringify(Object.entries(files))}) transfer.items.add(new File([text], name)); return transfer; })()`,
  );
  await page.dispatchEvent('.view', 'drop', { dataTransfer: dropped });
}

/** Waits for the end of the job that the page shows, and answers its number. */
async function endOfJob(page: Page): Promise<string> {
  await page.waitForURL(/\/jobs\/\d+$/);
  await page.locator('h1 + .badge', { hasText: 'finished' }).waitFor();
  return page.url().split('/').at(-1)!;
}

test.serial(
  'a bag of numbers, a list or a table is shown as it would run; with files that were dropped it runs to its end',
  async (t) => {
    const { page } = await open(t, '/submit');
    const commandField = page.getByRole('textbox', { name: /^Command/ });
    const preview = page.locator('.preview');
    await commandField.fill('echo {} is {#}');
    await page.getByLabel('Numbers').fill('0-30:10');
    await preview.getByText('echo 30 is 3').waitFor();
    await preview.getByText("mutirao job submit --array 0-30:10 -- 'echo {} is {#}'").waitFor();
    await page.getByLabel('Numbers').fill('9-1');
    await preview.getByText('expected a number from 9 on').waitFor();
    t.is(
      await preview.getByText('echo 30 is 3').count(),
      0,
      'the earlier correct preview is not shown next to the error',
    );

    await page.getByRole('button', { name: 'A list' }).click();
    await page.getByLabel('Values').fill("a\nd'e f");
    await preview.getByText(String.raw`echo 'd'\''e f' is 1`, { exact: true }).waitFor();

    await drop(page, { 'notes.txt': 'of mine\n', 'table.csv': 'seed,rate\n1,0.3\n2,0.5\n' });
    await page.getByRole('button', { name: 'A table' }).click();
    await page.getByRole('button', { name: 'Take the values from table.csv' }).click();
    await commandField.fill('cat notes.txt; echo {seed} at {rate}');
    await preview.getByText('cat notes.txt; echo 2 at 0.5', { exact: true }).waitFor();
    t.deepEqual(await lookAt(page, 'bag'), []);
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    const jobId = await endOfJob(page);
    t.is(mutirao('task', 'output', jobId, '1'), 'of mine\n2 at 0.5\n');
  },
);

test.serial('the command line that is shown, pasted into a shell, submits the same job', async (t) => {
  const { page } = await open(t, '/submit');
  const shell = (line: string): string =>
    execFileSync('/bin/sh', ['-c', line], {
      cwd: '/',
      env: {
        ...process.env,
        MUTIRAO_HOME: join(home, 'grid'),
        PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`,
        TZ: 'UTC',
      },
      encoding: 'utf8',
    });
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin', 'mutirao'), `#!/bin/sh\nexec ${process.execPath} ${command} "$@"\n`, { mode: 0o755 });
  writeFileSync(join(work, "it's {} $ok"), 'of mine\n');
  await page.getByRole('textbox', { name: /^Command/ }).fill('cat "it\'s {} "*; printf "%s|" {name} "$A" {n}');
  await page.getByRole('button', { name: 'A table' }).click();
  await page.getByLabel(/^CSV/).fill('name,n\n"it\'s; ""$(reboot)"" `x` \\",1\n-n,2\n');
  await page.getByText('More options: folder, files, limits').click();
  await page.getByLabel('Label').fill('--label');
  await page.getByLabel(/^Put/).fill("it's {{}} $ok");
  await page.getByLabel(/^Environment/).fill('A="b\' $c');
  // What was typed last is in it: the line follows what is typed a moment later.
  await page.locator('.preview pre').getByText('--env').waitFor();
  const line = await page.locator('.preview pre').innerText();
  await page.getByRole('button', { name: 'Submit', exact: true }).click();
  const byPage = await endOfJob(page);
  const [, byShell = ''] = /Job (\d+) is submitted/.exec(shell(line)) ?? [];
  mutirao('job', 'wait', byShell);
  const shown = (jobId: string): Record<string, unknown> => {
    const [job] = JSON.parse(mutirao('job', 'show', jobId, '--json')) as Record<string, unknown>[];
    return {
      label: job?.['label'],
      groups: job?.['groups'],
      environment: job?.['environment'],
      folder: job?.['home_directory'],
    };
  };
  t.like(shown(byPage), { label: '--label', environment: { A: '"b\' $c' } });
  t.deepEqual(shown(byShell), shown(byPage));
  const printed = `of mine\nit's; "$(reboot)" \`x\` \\|"b' $c|1|`;
  t.is(mutirao('task', 'output', byPage, '0'), printed);
  t.is(mutirao('task', 'output', byShell, '0'), printed);
});

test.serial(
  'a job file is marked where it is wrong, cannot be submitted so, and runs to its end once it is right',
  async (t) => {
    const { page, complaints } = await open(t, '/submit');
    const submit = page.getByRole('button', { name: 'Submit', exact: true });
    await page.getByRole('button', { name: 'A job file (JDF)' }).click();
    const editor = page.getByRole('textbox', { name: 'Job file in JDF' });
    await editor.fill('job :\n  label : sweep\n\ntask :\n  remot : echo of $JOB\n');
    await page.locator('.faults').getByText('did you mean remote?').waitFor();
    t.is(await page.locator('.marked mark.error').innerText(), 'remot');
    t.true(await submit.isDisabled());
    await page.getByRole('button', { name: 'error, line 5, column 3' }).click();
    t.is(await page.evaluate('document.activeElement.selectionStart'), 32);
    await editor.fill(
      `job :\n  label : sweep\n  site-selection : min-ctt\n${'\n'.repeat(60)}task :\n  init : putt a b\n  remot : ` +
        'echo of $JOB\n',
    );
    await page.getByRole('status').getByText('3 errors').waitFor();
    t.deepEqual(await page.locator('.marked mark.error').allInnerTexts(), ['min-ctt', 'putt', 'remot']);
    const cursor = async (): Promise<string> => page.locator('.at-cursor').innerText();
    // From mark to mark by the keyboard, each with what is said of it, and in sight.
    await editor.press('Control+Home');
    await editor.press('F8');
    t.regex(await cursor(), /^Line 3, column 20: found "min-ctt", .*did you mean min-ct\?$/);
    await editor.press('F8');
    t.regex(await cursor(), /^Line 65, column 10: found "putt", .*did you mean put\?$/);
    const putt = await page.locator('.marked mark.error', { hasText: 'putt' }).boundingBox();
    const frame = await page.locator('.marked').boundingBox();
    t.true(putt!.y > frame!.y && putt!.y < frame!.y + frame!.height, 'what is marked is in sight');
    await page.mouse.move(putt!.x + 5, putt!.y + 5);
    await page.locator('.marked .tip', { hasText: 'did you mean put?' }).waitFor();
    t.deepEqual(await lookAt(page, 'jdf'), []);
    await editor.press('F8');
    await editor.press('F8');
    t.regex(await cursor(), /^Line 3/);
    await page.reload();
    t.true((await editor.inputValue()).includes('putt a b'), 'what was typed is kept');
    await page.locator('input[aria-label="Job file"]').setInputFiles({
      name: 'right.jdf',
      mimeType: 'text/plain',
      buffer: Buffer.from(
        'job :\n  label : sweep\n\ntask :\n  remote : echo of $TASK\n\ntask :\n  remote : echo second\n',
      ),
    });
    await page.getByText('2 tasks, label sweep').waitFor();
    await submit.click();
    const jobId = await endOfJob(page);
    t.is(mutirao('task', 'output', jobId, '1'), 'second\n');
    t.deepEqual(complaints, []);
  },
);
