import { drawGanttSvg } from '../server/drawing/gantt-svg.ts';
import { drawTimesSvg } from '../server/drawing/times-svg.ts';
import { escapeMarkup as text } from '../server/drawing/escape-markup.ts';
import type { FailureGroup, Ledger } from '../schema/index.ts';
import type { JobReport } from './read-report.ts';

/** Nothing in the file runs or is fetched: only its own style is allowed, whatever stands in names and outputs. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
const style = `
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: .2rem .7rem .2rem 0; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { overflow: auto; max-height: 20rem; padding: .5rem; border: 1px solid #8888; white-space: pre-wrap; overflow-wrap: anywhere; }
svg { width: 100%; height: auto; background: #fff; }
`;

/** Writes a report as one HTML file that needs nothing else: no script, no other file. */
export function renderReport(report: JobReport): string {
  const { detail: { job }, madeAt } = report;
  const title = `Job ${job.job_id}${job.label === '' ? '' : `: ${job.label}`}`;
  return [
    '<!doctype html>', '<html lang="en"><head><meta charset="utf-8">', `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">', `<title>${text(title)}</title><style>${style}</style></head><body>`,
    `<h1>${text(title)}</h1>`, `<p>${text(job.status)}; as it was at ${text(new Date(madeAt).toISOString())}, by Mutirao.</p>`,
    ...facts(report), '<h2>Where it ran</h2>', drawGanttSvg(report.gantt, 'Where it ran'),
    ...report.gantt.rows_left_out === 0 ? [] : [`<p>${report.gantt.rows_left_out} more machines are left out.</p>`],
    ...times(report), ...failures(report), ...ledger(report.ledger), '</body></html>', '',
  ].join('\n');
}

function facts({ detail: { job, groups, ...detail } }: JobReport): string[] {
  const span = job.ended_unix_ms === null ? 'still running' : seconds(job.ended_unix_ms - job.submitted_unix_ms);
  const counts = Object.entries(job.tasks).filter(([, count]) => count > 0).map(([status, count]) => `${count} ${status}`).join(', ');
  return pairs([
    ['of', job.user_id], ['submitted', new Date(job.submitted_unix_ms).toISOString()], ['took', span], ['tasks', `${job.task_count}: ${counts}`], ['replicas', String(job.replica_count)],
    ['command', groups[0]?.command ?? ''], ['task groups', String(detail.group_count)], ['processors of each task', String(detail.processors)], ['scheduler', detail.scheduler], ['home directory', detail.home_directory],
    ['cancelled because', job.cancel_reason],
  ]);
}

function times({ times: { count, mean_ms: mean, quantiles, stragglers, ...rest } }: JobReport): string[] {
  if (count === 0) return [];
  const rows = stragglers.slice(0, 20).map((one) => [String(one.task_index), one.machine_id, seconds(one.took_ms), `${one.times_half} times`]);
  return [
    '<h2>How long tasks took</h2>', drawTimesSvg({ count, mean_ms: mean, quantiles, stragglers, ...rest }),
    `<p>${count} accepted; mean ${seconds(mean ?? 0)}; ${quantiles.map(({ share, ms_max: most }) => `${share * 100} % within ${seconds(most)}`).join(', ')}.</p>`,
    ...rows.length === 0 ? [] : ['<h3>Stragglers</h3>', table(['task', 'machine', 'took', 'of half of the tasks'], rows)],
  ];
}

function failures({ failures: { groups, replica_count: count } }: JobReport): string[] {
  return count === 0 ? [] : [`<h2>What failed</h2><p>${count} replicas.</p>`, ...groups.flatMap(failure)];
}

function failure({ cause, replica_count: replicas, task_count: tasks, given_up_count: givenUp, task_indexes: indexes, machines, detail, sample }: FailureGroup): string[] {
  const output = [['standard error', sample?.standard_error ?? ''], ['standard output', sample?.standard_output ?? '']].filter(([, words]) => words !== '');
  return [
    `<h3>${text(cause)}</h3>`, `<p>${replicas} replicas of ${tasks} tasks (${indexes.join(', ')}${tasks > indexes.length ? ', ...' : ''}), ${givenUp} given up; on ${text(machines.map(({ machine_id: id, count }) => `${id} (${count})`).join(', '))}.</p>`,
    ...detail === '' ? [] : [`<p>${text(detail)}</p>`], ...output.map(([name = '', words = '']) => `<p>The end of the ${name} of task ${sample?.task_index ?? 0}:</p><pre>${text(words)}</pre>`),
  ];
}

function ledger({ by_provider: providers, total }: Ledger): string[] {
  const columns = ['held', 'used', 'losers', 'killed'] as const;
  const row = (name: string, times: Ledger['total']): string[] => [name, ...columns.map((column) => seconds(times[`${column}_processor_ms`]))];
  return ['<h2>What it cost</h2>', table(['provider', ...columns.map((column) => `${column}, processor time`)], [...providers.map((one) => row(one.provider_id, one)), row('all', total)])];
}

function pairs(entries: readonly (readonly [string, string])[]): string[] {
  return ['<table>', ...entries.filter(([, value]) => value !== '').map(([name, value]) => `<tr><th>${text(name)}</th><td>${text(value)}</td></tr>`), '</table>'];
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[], tag: string): string => `<tr>${row.map((cell, index) => `<${tag}${index === 0 ? '' : ' class="number"'}>${text(cell)}</${tag}>`).join('')}</tr>`;
  return ['<table>', cells(headings, 'th'), ...rows.map((row) => cells(row, 'td')), '</table>'].join('\n');
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
