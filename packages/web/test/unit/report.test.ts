// A report on a job is one file: it fetches nothing, runs only its own script, is complete without it, and does not
// grow with the job.
import { createHash } from 'node:crypto';
import test from 'ava';
import { JobStatus, ReplicaDisposition, TaskStatus } from '@mutirao/api/broker';
import { Outcome } from '@mutirao/api/machine';
import { aJobSpec, aJobSummary, aLedgerRow, AnsweringBroker, aReplica, aTask, wire } from '@mutirao/testkit';
import { readReport, renderReport, type ReportBroker } from '@mutirao/web/report';

const hostile = '</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\u2028"\'&${x}';
const now = 1_010_000;
const script = 'document.title = "</script><!-- <script>";';

function failedJob(): AnsweringBroker {
  const broker = new AnsweringBroker();
  broker.jobs = [
    aJobSummary({ status: JobStatus.FAILED, label: hostile, taskCount: 30, finishedCount: 29, failedCount: 1 }),
  ];
  broker.specs.set(1, aJobSpec({ label: hostile }));
  const failed = aReplica({
    replicaId: 900,
    machineId: hostile,
    accepted: false,
    disposition: ReplicaDisposition.FAILED,
    outcome: Outcome.FAILED,
    exitStatus: 2,
    detail: { code: '', parameters: {}, text: hostile },
  });
  broker.tasks.set(1, [
    ...Array.from({ length: 29 }, (_, taskIndex) =>
      aTask({
        taskIndex,
        replicas: [
          aReplica({
            replicaId: taskIndex,
            machineId: `lab/m${taskIndex % 3}`,
            ...(taskIndex === 7 ? { endedUnixMs: 1_009_000 } : {}),
          }),
        ],
      }),
    ),
    aTask({ taskIndex: 29, status: TaskStatus.FAILED, replicas: [failed] }),
  ]);
  broker.outputs.set('1/29', wire.output(hostile, hostile));
  broker.ledger = [aLedgerRow({ providerId: hostile })];
  return broker;
}

const render = async (broker: ReportBroker, code: string): Promise<string> =>
  renderReport(await readReport(broker, 1, { now: () => now }), code);

/** The contents of the elements of script, and what is left without them. */
function takeApart(html: string): { readonly scripts: readonly string[]; readonly markup: string } {
  const element = /<script[^>]*>(.*?)<\/script>/gs;
  return {
    scripts: [...html.matchAll(element)].map(([, content = '']) => content),
    markup: html.replaceAll(element, ''),
  };
}

test('a report lets its own script run, by its hash, and nothing else; it may fetch nothing', async (t) => {
  const html = await render(failedJob(), script);
  const {
    scripts: [, code = ''],
  } = takeApart(html);
  t.true(
    html.includes(
      `content="default-src 'none'; style-src 'unsafe-inline'; script-src ` +
        `'sha256-${createHash('sha256').update(code).digest('base64')}'; img-src data:; base-uri 'none'; ` +
        `form-action 'none'"`,
    ),
  );
});

test('names, output and the data of the charts are text, whatever is in them', async (t) => {
  const {
    scripts: [data = '', code = '', ...others],
    markup,
  } = takeApart(await render(failedJob(), script));
  t.deepEqual(others, []);
  t.notRegex(markup, /<script|<img|<link|<iframe|<!--|javascript:|\bon\w+="/i);
  t.notRegex(markup, /<[^>]* (?:src|href)=/i);
  t.notRegex(data + code, /<(?:\/?script|!--)/i);
  t.true(
    (JSON.parse(data) as { gantt: { rows: { machine_id: string }[] } }).gantt.rows.some(
      ({ machine_id: id }) => id === hostile,
    ),
  );
  t.is(new Function('document', `${code}; return document.title;`)({}), '</script><!-- <script>');
});

test('a report says all without its script: pictures, stragglers with their cause, failures run by run, cost', async (t) => {
  const html = await render(failedJob(), '');
  t.notRegex(html, /<script|script-src/);
  t.is(html.split('<svg ').length - 1, 4);
  for (const part of [
    'Where it ran',
    'How long tasks took',
    'Stragglers',
    'What failed',
    'What it cost',
    'it is the task itself',
    'exit status 2',
    '4.5',
    '1 runs failed, 0 were lost',
  ])
    t.true(html.includes(part), part);
  t.regex(html, /<td class="number" data-value="7">7<\/td><td>lab\/m1<\/td>/);
});

test('a run that never started sorts before those that did', async (t) => {
  const broker = failedJob();
  broker.tasks.set(1, [
    aTask({
      status: TaskStatus.FAILED,
      replicas: [
        aReplica({
          accepted: false,
          disposition: ReplicaDisposition.FAILED,
          outcome: Outcome.FAILED,
          startedUnixMs: 0,
        }),
      ],
    }),
  ]);
  t.true((await render(broker, '')).includes('<td class="number" data-value="-1">never started</td>'));
});

test('a job that has run nothing has a report, too', async (t) => {
  const broker = new AnsweringBroker();
  broker.jobs = [
    aJobSummary({ status: JobStatus.RUNNING, endedUnixMs: 0, taskCount: 1, readyCount: 1, finishedCount: 0 }),
  ];
  broker.tasks.set(1, [aTask({ status: TaskStatus.READY, replicas: [] })]);
  t.true((await render(broker, '')).includes('Nothing has run.'));
});

test('a report of many runs on many machines has sums in place of runs, the last failures, and a bounded size', async (t) => {
  const broker = new AnsweringBroker();
  const [taskCount, machineCount] = [8000, 1200];
  broker.jobs = [aJobSummary({ taskCount, finishedCount: taskCount })];
  broker.tasks.set(
    1,
    Array.from({ length: taskCount }, (_, taskIndex) => {
      const startedUnixMs = 1_000_100 + ((taskIndex * 7919) % 100_000);
      const run = aReplica({
        replicaId: taskIndex,
        machineId: `lab/m${taskIndex % machineCount}`,
        startedUnixMs,
        endedUnixMs: startedUnixMs + 1000 + (taskIndex % 700),
      });
      const failed = {
        ...run,
        replicaId: taskCount + taskIndex,
        accepted: false,
        disposition: ReplicaDisposition.FAILED,
        outcome: Outcome.FAILED,
        exitStatus: taskIndex % 60,
        detail: { code: '', parameters: {}, text: 'x'.repeat(200) },
      };
      return aTask({ taskIndex, replicas: taskIndex % 2 === 0 ? [failed, run] : [run] });
    }),
  );
  const html = await render(broker, script);
  const { gantt } = JSON.parse(takeApart(html).scripts[0] ?? '{}') as {
    gantt: { bars: unknown; cells: { row: unknown[] } };
  };
  t.is(gantt.bars, null);
  t.true(gantt.cells.row.length <= 4 * 24_000);
  t.is(html.split('<tr><td class="number" data-value').length - 1, 1000);
  t.true(html.includes('The last 1000; 3000 before them are left out.'));
  t.true(html.length < 5_000_000, `${html.length} characters`);
  t.log(`${html.length} characters`);
});
