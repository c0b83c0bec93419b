import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';
import {
  listPlacementSetups,
  listRefusalSetups,
  listUtilisationSetups,
  measure,
  reportReservations,
  reservationRunsCsv,
  type Measured,
  type ReservationStudy,
  type ReservationStudySettings,
  type Setup,
} from '@mutirao/sim/kunrath2008';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import type { EagerOptions } from './run-eager.ts';

/**
 * Runs the study of reservations and writes its page, its pictures and its CSV file. @throws {MutiraoError}
 * MUT_BAD_REQUEST for options of another study.
 */
export async function runKunrath2008(
  context: CommandContext,
  settings: ReservationStudySettings,
  options: EagerOptions,
): Promise<ExitStatus> {
  const foreign = [
    ['--export-jdf', options.exportJdf],
    ['--workers', options.workers],
    ['--data', options.data],
  ].find(([, value]) => value !== undefined);
  if (foreign !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${String(foreign[0])} is for the study costa2005; kunrath2008 runs in one thread, without logs`,
    );
  const parts = {
    utilisation: listUtilisationSetups(),
    refusals: listRefusalSetups(),
    placements: listPlacementSetups(),
  };
  const study: ReservationStudy = {
    utilisation: await measureAll(context, settings, parts.utilisation, 'utilisation'),
    refusals: await measureAll(context, settings, parts.refusals, 'refusals'),
    placements: await measureAll(context, settings, parts.placements, 'placements'),
  };
  if (context.signal.aborted) return 4;
  const directory = resolve(context.directory, options.out);
  const all = [...study.utilisation, ...study.refusals, ...study.placements];
  const report = write(directory, settings, study);
  const document = {
    study: 'kunrath2008',
    quick: settings.isQuick,
    seed: settings.seed,
    directory,
    report,
    part_count: all.length,
    run_count: all.reduce((sum, { results }) => sum + results.length, 0),
  };
  printResult(context.output, {
    json: () => document,
    table: () => [`${document.run_count} runs; the report is ${report}`],
    quiet: () => [report],
  });
  return 0;
}

/** The results of the setups; Ctrl-C is checked between them. */
async function measureAll(
  context: CommandContext,
  settings: ReservationStudySettings,
  setups: readonly Setup[],
  name: string,
): Promise<Measured[]> {
  const measured: Measured[] = [];
  context.output.note(`${name}: ${setups.length} setups`);
  for (const setup of setups) {
    await new Promise((resume) => {
      setImmediate(resume);
    });
    if (context.signal.aborted) break;
    measured.push(measure(setup, settings));
  }
  return measured;
}

function write(directory: string, settings: ReservationStudySettings, study: ReservationStudy): string {
  const images = join(directory, 'kunrath2008');
  mkdirSync(images, { recursive: true });
  const { page, utilisationSvg, refusalsSvg } = reportReservations(settings, study, 'kunrath2008');
  const report = join(directory, 'kunrath2008.md');
  writeAtomic(
    join(directory, 'kunrath2008-runs.csv'),
    reservationRunsCsv([...study.utilisation, ...study.refusals, ...study.placements]),
    0o644,
  );
  writeAtomic(join(images, 'utilisation.svg'), utilisationSvg, 0o644);
  writeAtomic(join(images, 'refusals.svg'), refusalsSvg, 0o644);
  writeAtomic(report, page, 0o644);
  return report;
}
