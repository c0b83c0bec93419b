import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';

import { readReport, renderReport } from '@mutirao/web/report';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { printResult } from '../../output/print-result.ts';
import { writeNamed } from '../../output/write-named.ts';
import { resolveJobId } from '../../selectors.ts';

/** Where the report goes. */
export interface ReportOptions {
  /** A file named after the job, in the current folder, when left out. */
  readonly out?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<job>', 'a job number, or "last"')
    .option('--out <file>', 'the file to write; an existing one is replaced (default: job-NUMBER-report.html)')
    .action((job: string, options: ReportOptions) => act((context) => writeReport(context, job, options)));
}

/** Writes what became of a job as one HTML file, which anybody can open. */
export async function writeReport(context: CommandContext, job: string, { out }: ReportOptions): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, job);
  const html = renderReport(await readReport(broker, jobId, context.clock));
  const path = resolve(context.directory, out ?? `job-${jobId}-report.html`);
  writeNamed(path, html);
  const size = Buffer.byteLength(html);
  printResult(context.output, {
    json: (): JsonOf<typeof shapes.job_report> => ({ job_id: jobId, file: path, size_bytes: size }),
    table: () => [
      `The report on job ${jobId} is in ${path} (${Math.ceil(size / 1024)} KiB); whoever has the file can open it:`,
      pathToFileURL(path).href,
    ],
    quiet: () => [path],
  });
  return 0;
}
