import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';
import {
  aheadCsv,
  aheadTraces,
  listPolicies,
  measureAhead,
  openWorld,
  reportProvisioning,
  getReservations,
  widthShares,
  type ProvisioningMeasured,
  type ProvisioningSettings,
} from '@mutirao/sim/ahead';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import { readTrace } from '../read-trace.ts';
import type { EagerOptions } from './run-eager.ts';

/**
 * Runs the study of allocations held ahead on logs, and writes its page and its CSV file. @throws {MutiraoError}
 * MUT_BAD_REQUEST for options of another study.
 */
export async function runAhead(
  context: CommandContext,
  settings: ProvisioningSettings,
  options: EagerOptions & { readonly data: string },
): Promise<ExitStatus> {
  const foreign = [
    ['--export-jdf', options.exportJdf],
    ['--workers', options.workers],
  ].find(([, value]) => value !== undefined);
  if (foreign !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${String(foreign[0])} is for the study costa2005; ahead runs in one thread`,
    );
  const all: ProvisioningMeasured[] = [];
  for (const trace of aheadTraces) {
    const { requests } = readTrace({
      file: trace.file,
      path: join(options.data, trace.file),
      processors: trace.processors,
    });
    for (const policy of listPolicies()) {
      context.output.note(`${trace.title} under ${policy.name}`);
      const world = openWorld(trace, policy, requests);
      for (const widthShare of widthShares) {
        // Ctrl-C is handled between setups.
        await new Promise((resume) => {
          setImmediate(resume);
        });
        if (context.signal.aborted) return 4;
        all.push(measureAhead({ trace, policy, widthShare }, world, settings));
      }
    }
  }
  const directory = resolve(context.directory, options.out);
  mkdirSync(directory, { recursive: true });
  const report = join(directory, 'provisioning.md');
  writeAtomic(join(directory, 'ahead-runs.csv'), aheadCsv(all), 0o644);
  writeAtomic(report, reportProvisioning(settings, all), 0o644);
  const document = {
    study: 'ahead',
    quick: settings.isQuick,
    seed: settings.seed,
    directory,
    report,
    part_count: all.length,
    run_count: all.length * getReservations(settings),
  };
  printResult(context.output, {
    json: () => document,
    table: () => [`${document.run_count} reservations; the report is ${report}`],
    quiet: () => [report],
  });
  return 0;
}
