import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';
import {
  drawMap,
  drawOf,
  listOtherStrategies,
  listSeedStrategies,
  measureCluster,
  readings,
  reportWorkflows,
  runStrategy,
  studyClusters,
  workflowRunsCsv,
  type ClusterRuns,
  type Reading,
  type ReadingRuns,
  type WorkflowStudySettings,
} from '@mutirao/sim/moreira2009';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import type { EagerOptions } from './run-eager.ts';

/**
 * Runs the study of workflows and writes its page, its figures, the maps of the first draw and its CSV file. @throws
 * {MutiraoError} MUT_BAD_REQUEST for options of another study.
 */
export async function runMoreira2009(
  context: CommandContext,
  settings: WorkflowStudySettings,
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
      `${String(foreign[0])} is for the study costa2005; moreira2009 runs in one thread, without logs`,
    );
  const [first, ...others] = readings;
  const study: [ReadingRuns, ...ReadingRuns[]] = [await measureAll(context, settings, first, 0)];
  for (const [index, reading] of others.entries()) study.push(await measureAll(context, settings, reading, index + 1));
  if (context.signal.aborted) return 4;
  const directory = resolve(context.directory, options.out);
  const report = write(directory, settings, study);
  const clusters = study.flatMap((each) => each.clusters);
  const document = {
    study: 'moreira2009',
    quick: settings.isQuick,
    seed: settings.seed,
    directory,
    report,
    part_count: clusters.length,
    run_count: clusters.reduce(
      (sum, { runs }) => sum + [...runs.values()].reduce((some, { length }) => some + length, 0),
      0,
    ),
  };
  printResult(context.output, {
    json: () => document,
    table: () => [`${document.run_count} runs; the report is ${report}`],
    quiet: () => [report],
  });
  return 0;
}

/** The results of the clusters; Ctrl-C is checked between them. */
async function measureAll(
  context: CommandContext,
  settings: WorkflowStudySettings,
  reading: Reading,
  place: number,
): Promise<ReadingRuns> {
  const clusters: ClusterRuns[] = [];
  for (const cluster of studyClusters) {
    await new Promise((resume) => {
      setImmediate(resume);
    });
    if (context.signal.aborted) break;
    context.output.note(`${reading.name}: ${cluster.name}`);
    clusters.push(measureCluster(cluster, settings, place));
  }
  return { reading, clusters };
}

function write(
  directory: string,
  settings: WorkflowStudySettings,
  study: readonly [ReadingRuns, ...ReadingRuns[]],
): string {
  const images = join(directory, 'moreira2009');
  mkdirSync(join(images, 'maps'), { recursive: true });
  const { page, figures } = reportWorkflows(settings, study, 'moreira2009');
  for (const [name, svg] of figures) writeAtomic(join(images, name), svg, 0o644);
  const arrivals = drawOf(settings, study[0].reading, 0);
  for (const cluster of studyClusters) {
    for (const strategy of [...listSeedStrategies(cluster.capacities.length, true), ...listOtherStrategies()]) {
      const map = drawMap(cluster, strategy.name, runStrategy(strategy, cluster, arrivals));
      writeAtomic(join(images, 'maps', `${cluster.name}-${strategy.name.replace(' ', '-')}.svg`), map, 0o644);
    }
  }
  const report = join(directory, 'moreira2009.md');
  writeAtomic(join(directory, 'moreira2009-runs.csv'), workflowRunsCsv(study), 0o644);
  writeAtomic(report, page, 0o644);
  return report;
}
