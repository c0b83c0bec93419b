import { basename, resolve } from 'node:path';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { heuristicNames } from '@mutirao/core/requests';
import { nameType } from '@mutirao/sim/costa2005';
import {
  heuristicsTraces,
  mainPending,
  mainTypes,
  partNames,
  policyNames,
  referenceNames,
  usualWalltime,
  wholeStudy,
  type HeuristicsSettings,
  type HeuristicsTrace,
} from '@mutirao/sim/heuristics';

import type { CommandContext } from '../../context.ts';
import { readTime, readWhole } from '../numbers.ts';
import { processorsMax } from '../read-trace.ts';
import { readStudyLog } from './heuristics-part-runner.ts';
import { readSettings, type StudyOptions } from './study-options.ts';

/** What of the study of heuristics may be less than the whole. */
export interface HeuristicsOptions extends StudyOptions {
  readonly traces?: string;
  readonly trace?: string;
  readonly processors?: string;
  readonly maxWalltime?: string;
  readonly types?: string;
  readonly maxPending?: string;
  readonly instants?: string;
  readonly heuristics?: string;
  readonly policies?: string;
  readonly parts?: string;
}

const ownOptions = {
  traces: '--traces',
  trace: '--trace',
  processors: '--processors',
  maxWalltime: '--max-walltime',
  types: '--types',
  maxPending: '--max-pending',
  instants: '--instants',
  heuristics: '--heuristics',
  policies: '--policies',
  parts: '--parts',
} as const;

/** Adds the options that are for this study alone. */
export function defineHeuristicsOptions(command: Command): Command {
  return command
    .optionsGroup('Study "heuristics":')
    .option('--traces <names>', `logs to use: ${heuristicsTraces.map(({ id }) => id).join(', ')} (default: all)`)
    .option('--trace <file>', 'use a log of your own in the Standard Workload Format (SWF), may be gzipped')
    .option('--processors <count>', 'with --trace: processors of the machine (default: as the log says)')
    .option(
      '--max-walltime <time>',
      "with --trace: longest walltime to request (default: what 99 % of the log's requests keep within)",
    )
    .option('--types <names>', 'job types: 100x1000s-2x, or 100x1000s for all three heterogeneities (default: all 27)')
    .option('--max-pending <counts>', 'values of maxPR (default: 1,2,3,4,5,6)')
    .option(
      '--instants <count>',
      'also costa2005: instants of each scenario (default: 50; 20 for costa2005 with 100,000 tasks; 10 for ' +
        'heuristics with --quick)',
    )
    .option(
      '--heuristics <names>',
      `heuristics to compare: ${heuristicNames.join(', ')}; static and adaptive always run (default: all)`,
    )
    .option('--policies <names>', 'queue policies: start-now, reinsert, fcfs, easy (default: all)')
    .option('--parts <names>', 'parts: main, queues, ablations, constants, large (default: all; main with --quick)');
}

/** Refuses options of this study where another one is run. @throws {MutiraoError} MUT_BAD_REQUEST */
export function refuseHeuristicsOptions(name: string, options: HeuristicsOptions): void {
  const foreign = (Object.keys(ownOptions) as (keyof typeof ownOptions)[]).find(
    (key) => options[key] !== undefined && !(name === 'costa2005' && key === 'instants'),
  );
  if (foreign !== undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', `${ownOptions[foreign]} is for the study heuristics, not for ${name}`);
}

/**
 * Reads which part of the study to run. @throws {MutiraoError} MUT_BAD_REQUEST with the value found and the value
 * wanted; for a log of one's own as `readStudyLog`.
 */
export function readHeuristicsSettings(
  context: Pick<CommandContext, 'directory'>,
  options: HeuristicsOptions,
): HeuristicsSettings {
  const { isQuick, seed } = readSettings('heuristics', options);
  const whole = wholeStudy(seed);
  const { types, maxPending, instants, heuristics, policies, parts } = options;
  const pending =
    maxPending === undefined
      ? isQuick
        ? [1, 3, 6]
        : mainPending
      : listOf('--max-pending', maxPending).map((text) => readWhole('--max-pending', text, { min: 1, max: 32 }));
  return {
    isQuick,
    seed,
    pending,
    traces: readTraces(context, options),
    types:
      types === undefined ? mainTypes.filter(({ heterogeneity }) => !isQuick || heterogeneity === 2) : readTypes(types),
    instants:
      instants === undefined
        ? isQuick
          ? 10
          : whole.instants
        : readWhole('--instants', instants, { min: 2, max: 10_000 }),
    heuristics:
      heuristics === undefined
        ? whole.heuristics
        : inOrder(whole.heuristics, [...referenceNames, ...readNames('--heuristics', heuristics, whole.heuristics)]),
    policies:
      policies === undefined ? policyNames : inOrder(policyNames, readNames('--policies', policies, policyNames)),
    parts:
      parts === undefined
        ? isQuick
          ? ['main']
          : partNames
        : inOrder(partNames, readNames('--parts', parts, partNames)),
  };
}

function readTraces(
  { directory }: Pick<CommandContext, 'directory'>,
  { traces, trace, processors, maxWalltime }: HeuristicsOptions,
): readonly HeuristicsTrace[] {
  if (trace !== undefined) {
    if (traces !== undefined)
      throw new MutiraoError('MUT_BAD_REQUEST', '--trace and --traces are both there; expected one of them');
    return [readOwnTrace(directory, trace, [processors, maxWalltime])];
  }
  const lost = processors !== undefined ? '--processors' : maxWalltime !== undefined ? '--max-walltime' : undefined;
  if (lost !== undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', `${lost} is for a log of your own; expected --trace with it`);
  if (traces === undefined) return heuristicsTraces;
  const names = readNames(
    '--traces',
    traces,
    heuristicsTraces.map(({ id }) => id),
  );
  return heuristicsTraces.filter(({ id }) => names.includes(id));
}

/** The longest task of the study takes 17,500 s: below it, it would never end. */
const walltimeMin = 17_500_000;

function readOwnTrace(
  directory: string,
  file: string,
  [processors, maxWalltime]: readonly (string | undefined)[],
): HeuristicsTrace {
  const walltimeMax = maxWalltime === undefined ? undefined : readTime('--max-walltime', maxWalltime);
  if (walltimeMax !== undefined && walltimeMax < walltimeMin) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--max-walltime is "${maxWalltime ?? ''}"; expected ${walltimeMin / 1000} s or more, which the longest ` +
        'task takes',
    );
  }
  const width =
    processors === undefined ? undefined : readWhole('--processors', processors, { min: 1, max: processorsMax });
  const log = readStudyLog(directory, file, width);
  const title = basename(file)
    .replace(/\.gz$/, '')
    .replace(/\.swf$/, '');
  return {
    id: `own-${title.replaceAll(/[^\w.-]/g, '-')}`,
    title,
    file: resolve(directory, file),
    processors: log.processors,
    walltimeMax: walltimeMax ?? usualWalltime(log.requests),
  };
}

function readTypes(text: string): HeuristicsSettings['types'] {
  const names = listOf('--types', text);
  for (const name of names) {
    if (!mainTypes.some((type) => isNamed(nameType(type), name))) {
      throw new MutiraoError(
        'MUT_BAD_REQUEST',
        `--types names "${name}"; expected tasks of 100, 1000, 10000, seconds of 100, 1000, 10000 and heterogeneity ` +
          `1, 2, 4, as ${nameType(mainTypes[0] ?? { taskCount: 100, meanTaskTime: 100_000, heterogeneity: 1 })}`,
      );
    }
  }
  return mainTypes.filter((type) => names.some((name) => isNamed(nameType(type), name)));
}

function isNamed(type: string, name: string): boolean {
  return type === name || type.startsWith(`${name}-`);
}

function readNames<T extends string>(option: string, text: string, known: readonly T[]): T[] {
  return listOf(option, text).map((name) => {
    const found = known.find((one) => one === name);
    if (found === undefined)
      throw new MutiraoError('MUT_BAD_REQUEST', `${option} names "${name}"; expected some of ${known.join(', ')}`);
    return found;
  });
}

/** Words between commas, each once. */
function listOf(option: string, text: string): string[] {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (words.length === 0)
    throw new MutiraoError('MUT_BAD_REQUEST', `${option} is "${text}"; expected names between commas`);
  return [...new Set(words)];
}

function inOrder<T>(known: readonly T[], wanted: readonly T[]): T[] {
  return known.filter((one) => wanted.includes(one));
}
