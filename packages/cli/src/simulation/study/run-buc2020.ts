import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';
import {
  bucCsv,
  bucLogs,
  families,
  getInjections,
  loadFactors,
  measureBuc,
  reportBuc,
  getTrace,
  type BucMeasured,
  type BucSettings,
} from '@mutirao/sim/buc2020';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import { readTrace } from '../read-trace.ts';
import type { EagerOptions } from './run-eager.ts';

/**
 * Runs the study of the queue by scores on logs, and writes its page, its figures and its CSV file. @throws
 * {MutiraoError} MUT_BAD_REQUEST for options of another study.
 */
export async function runBuc2020(
  context: CommandContext,
  settings: BucSettings,
  options: EagerOptions & { readonly data: string },
): Promise<ExitStatus> {
  const foreign = [
    ['--export-jdf', options.exportJdf],
    ['--workers', options.workers],
  ].find(([, value]) => value !== undefined);
  if (foreign !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${String(foreign[0])} is for the study costa2005; buc2020 runs in one thread`,
    );
  const all: BucMeasured[] = [];
  for (const log of bucLogs) {
    const trace = getTrace(
      log,
      readTrace({ file: log.file, path: join(options.data, log.file), processors: log.processors }).requests,
    );
    for (const loadFactor of loadFactors) {
      for (const family of families) {
        // Ctrl-C is handled between setups.
        await new Promise((resume) => {
          setImmediate(resume);
        });
        if (context.signal.aborted) return 4;
        context.output.note(
          `${log.title}, submissions x ${loadFactor}: ${family.services.map(({ name }) => name).join(', ')}`,
        );
        all.push(measureBuc(trace, loadFactor, family, settings));
      }
    }
  }
  const directory = resolve(context.directory, options.out);
  const report = write(directory, settings, all);
  const document = {
    study: 'buc2020',
    quick: settings.isQuick,
    seed: settings.seed,
    directory,
    report,
    part_count: all.length,
    run_count: all.reduce((sum, { runs }) => sum + runs.length * getInjections(settings), 0),
  };
  printResult(context.output, {
    json: () => document,
    table: () => [`${document.run_count} runs; the report is ${report}`],
    quiet: () => [report],
  });
  return 0;
}

function write(directory: string, settings: BucSettings, all: readonly BucMeasured[]): string {
  const images = join(directory, 'buc2020');
  mkdirSync(images, { recursive: true });
  const { page, figures } = reportBuc(settings, all, 'buc2020');
  for (const { name, svg } of figures) writeAtomic(join(images, name), svg, 0o644);
  const report = join(directory, 'buc2020.md');
  writeAtomic(join(directory, 'buc2020-runs.csv'), bucCsv(all), 0o644);
  writeAtomic(report, page, 0o644);
  return report;
}
