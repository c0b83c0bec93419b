import { createHash } from 'node:crypto';

import { describeInstant, describeTime } from '@mutirao/core/shared';

import type { FailureGroup, ReportData } from '../schema/index.ts';
import { escapeMarkup as text } from '../server/drawing/escape-markup.ts';
import { drawGanttSvg } from '../server/drawing/gantt-svg.ts';
import { drawLedgerSvg } from '../server/drawing/ledger-svg.ts';
import { drawStragglersSvg, drawTimesSvg } from '../server/drawing/times-svg.ts';
import type { JobReport } from './read-report.ts';
import { readReportScript } from './report-script.ts';
import { reportStyle } from './report-style.ts';
import { getFigure, numberCell, listPairs, getTable } from './report-parts.ts';

/**
 * Writes a report as one HTML file that needs nothing else. Nothing in it is fetched, and only its own script runs,
 * whatever stands in names and outputs. @param script the page's own unless said otherwise; empty for none.
 */
export function renderReport(report: JobReport, script: string = readReportScript()): string {
  const {
    detail: { job },
    madeAt,
  } = report;
  const title = `Job ${job.job_id}${job.label === '' ? '' : `: ${job.label}`}`;
  const code = safeScript(script);
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policyFor(code)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${text(title)}</title><style>${reportStyle}</style></head><body><main>`,
    `<h1>${text(title)}</h1>`,
    `<p class="faint">${text(job.status)}; as it was at ${describeInstant(madeAt)}, by Mutirao. Times are in ` +
      'UTC where they end in Z, and else those of the computer that shows them; in what is printed, of the one ' +
      'that made this.</p>',
    ...facts(report),
    ...whereItRan(report),
    ...timesSection(report),
    ...failureSection(report),
    ...costSection(report),
    '</main>',
    ...(code === ''
      ? []
      : [`<script type="application/json" id="report-data">${listData(report)}</script>`, `<script>${code}</script>`]),
    '</body></html>',
    '',
  ].join('\n');
}

function policyFor(code: string): string {
  const own = code === '' ? '' : ` script-src 'sha256-${createHash('sha256').update(code).digest('base64')}';`;
  return `default-src 'none'; style-src 'unsafe-inline';${own} img-src data:; base-uri 'none'; form-action 'none'`;
}

/** Neither ends its element nor begins a comment in it; in strings and patterns the backslash changes nothing. */
function safeScript(script: string): string {
  return script.replace(/<(?=\/script|script|!--)/gi, '\\x3c');
}

/** JSON in which nothing can end the element that it stands in. */
function listData({ gantt, times, ledger }: JobReport): string {
  const data: ReportData = { gantt, times, ledger };
  return JSON.stringify(data).replaceAll('<', '\\u003c');
}

function facts({ detail: { job, groups, ...detail } }: JobReport): string[] {
  const span = job.ended_unix_ms === null ? 'still running' : describeTime(job.ended_unix_ms - job.submitted_unix_ms);
  const counts = Object.entries(job.tasks)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status}`)
    .join(', ');
  return listPairs([
    ['of', job.user_id],
    ['submitted', describeInstant(job.submitted_unix_ms)],
    ['took', span],
    ['tasks', `${job.task_count}: ${counts}`],
    ['runs', String(job.replica_count)],
    ['command', groups[0]?.command ?? ''],
    ['task groups', String(detail.group_count)],
    ['processors of each task', String(detail.processors)],
    ['scheduler', detail.scheduler],
    ['home directory', detail.home_directory],
    ['cancelled because', job.cancel_reason?.text ?? ''],
  ]);
}

function whereItRan({ gantt }: JobReport): string[] {
  if (gantt.rows.length === 0) return ['<h2>Where it ran</h2><p>Nothing has run.</p>'];
  const { svg, rowsLeftOut } = drawGanttSvg(gantt, 'Where it ran');
  const notes = [
    ...(gantt.bars === null
      ? [
          'There were more than 5,000 runs: each row shows what its machine did, as shares of its time in ' +
            `stretches of ${describeTime(gantt.bin_ms)}.`,
        ]
      : []),
    ...(gantt.rows_left_out > 0 ? [`${gantt.rows_left_out} more machines are left out.`] : []),
    ...(rowsLeftOut > 0 ? [`In print the first ${gantt.rows.length - rowsLeftOut} machines are shown.`] : []),
  ];
  return [
    '<h2>Where it ran</h2>',
    getFigure('gantt', svg, {
      label: `What ran on ${gantt.rows.length} machines`,
      note:
        'Drag moves, the slider or the wheel with Ctrl zooms, names of the legend hide and show. Files on their ' +
        'way are the thin strip below the runs.',
      canZoom: true,
    }),
    ...notes.map((note) => `<p class="faint">${note}</p>`),
  ];
}

function timesSection({ times }: JobReport): string[] {
  const { count, mean_ms: mean, quantiles, stragglers, straggler_count: stragglerCount } = times;
  if (count === 0) return [];
  const rows = stragglers.map((one) => [
    numberCell(one.task_index),
    one.machine_id,
    numberCell(one.took_ms, `${describeTime(one.took_ms)}${one.is_running ? ', running' : ''}`),
    numberCell(one.times_half, one.times_half.toFixed(1)),
    numberCell(one.failures_before),
    one.why,
  ]);
  return [
    '<h2>How long tasks took</h2>',
    getFigure('times', drawTimesSvg(times), { label: 'Distribution of task times' }),
    `<p>${count} accepted; mean ${describeTime(mean ?? 0)}; ` +
      `${quantiles.map(({ share, ms_max: most }) => `${Math.round(share * 100)} % within ${describeTime(most)}`).join(', ')}.</p>`,
    ...(rows.length === 0
      ? []
      : [
          '<h2>Stragglers</h2>',
          `<p>${stragglerCount} runs took more than twice the median${stragglerCount > rows.length ? `; the ${rows.length} longest are listed` : ''}.</p>`,
          getFigure('stragglers', drawStragglersSvg(times), { label: 'Stragglers' }),
          getTable('stragglers', ['Task', 'Machine', 'Took', 'Times the median', 'Failures before', 'Why'], rows),
        ]),
  ];
}

function failureSection({
  failures: { groups, replica_count: count, lost_count: lost, causes_left_out: causesLeftOut },
  failedRuns,
  failedRunsLeftOut,
}: JobReport): string[] {
  if (count + lost === 0) return [];
  const rows = failedRuns.map((run) => [
    numberCell(run.task_index),
    run.machine_id,
    run.cause,
    run.detail,
    numberCell(run.ended_unix_ms, describeInstant(run.ended_unix_ms)),
    run.started_unix_ms === 0
      ? numberCell(-1, 'never started')
      : numberCell(
          run.ended_unix_ms - run.started_unix_ms,
          describeTime(Math.max(0, run.ended_unix_ms - run.started_unix_ms)),
        ),
  ]);
  return [
    '<h2>What failed</h2>',
    `<p>${count} runs failed, ${lost} were lost with their machine.</p>`,
    ...groups.flatMap(failureGroup),
    ...(causesLeftOut > 0 ? [`<p>${causesLeftOut} more causes are left out.</p>`] : []),
    '<h3>Run by run</h3>',
    ...(failedRunsLeftOut > 0
      ? [`<p>The last ${failedRuns.length}; ${failedRunsLeftOut} before them are left out.</p>`]
      : []),
    getTable('failed runs', ['Task', 'Machine', 'Cause', 'Detail', 'Ended', 'After'], rows),
  ];
}

function failureGroup({
  cause,
  is_loss: isLoss,
  replica_count: replicas,
  task_count: tasks,
  given_up_count: givenUp,
  task_indexes: indexes,
  machines,
  detail,
  sample,
}: FailureGroup): string[] {
  const output = [
    ['standard error', sample?.standard_error ?? ''],
    ['standard output', sample?.standard_output ?? ''],
  ].filter(([, words]) => words !== '');
  const where = machines.map(({ machine_id: id, count }) => `${id} (${count})`).join(', ');
  return [
    `<h3>${text(cause)}</h3>`,
    `<p>${replicas} runs${isLoss ? ' lost,' : ''} of ${tasks} tasks ` +
      `(${indexes.join(', ')}${tasks > indexes.length ? ', ...' : ''}), ${givenUp} given up; on ` +
      `${text(where)}.</p>`,
    ...(detail === null ? [] : [`<p>${text(detail.text)}</p>`]),
    ...output.map(
      ([name = '', words = '']) =>
        `<p>The end of the ${name} of task ${sample?.task_index ?? 0}:</p><pre>${text(words)}</pre>`,
    ),
  ];
}

function costSection({ ledger }: JobReport): string[] {
  const columns = ['held', 'used', 'losers', 'killed', 'idle'] as const;
  const row = (name: string, times: JobReport['ledger']['total']) => [
    name,
    ...columns.map((column) =>
      numberCell(times[`${column}_processor_ms`], describeTime(times[`${column}_processor_ms`])),
    ),
  ];
  return [
    '<h2>What it cost</h2>',
    ...(ledger.total.held_processor_ms === 0
      ? []
      : [getFigure('ledger', drawLedgerSvg(ledger), { label: 'Where the processor-time went' })]),
    getTable(
      'processor-time',
      ['Provider', 'Held', 'Used', 'Losers', 'Killed', 'Idle'],
      [...ledger.by_provider.map((one) => row(one.provider_id, one)), row('all', ledger.total)],
    ),
  ];
}
