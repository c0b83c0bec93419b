import { readInteger } from '../../usage/read-integer.ts';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';

import { Option, type Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import type { Duration } from '@mutirao/core/shared';
import { parseDuration } from '@mutirao/formats';
import { isOnPath } from '@mutirao/runtime/processes';

import { noManager } from '../../grid/plan.ts';
import type { HereSite } from '../../grid/run-here.ts';
import { parseSettings, refuseWithoutProcess } from '../../grid/settings.ts';
import { collect } from '../../usage/repeated-options.ts';

/** The options of `job submit --standalone`, in addition to the job. */
export interface StandaloneOptions {
  readonly standalone?: true;
  readonly manager?: string;
  readonly cluster?: string;
  readonly standaloneProcessors?: string;
  readonly standalonePatience?: string;
  readonly heuristic?: string;
  readonly defaultTaskTime?: string;
  readonly set?: readonly string[];
  readonly taskOutput?: true;
}

const patienceMax: Duration = 120_000;
const managers = ['slurm', 'grid-engine', 'oar', 'embedded', 'commands', 'none'];
/** Commands by which a manager is known to be there; `qsub` alone is PBS's too. */
const signs: readonly (readonly [string, string])[] = [
  ['sbatch', 'slurm'],
  ['qconf', 'grid-engine'],
  ['oarsub', 'oar'],
];

/** Adds the options. */
export function addStandaloneOptions(command: Command): void {
  command
    .optionsGroup('Without a grid:')
    .option('--standalone', 'start a broker and a provider for this job only, wait for its end, then stop them')
    .addOption(
      new Option(
        '--manager <name>',
        'with --standalone: the resource manager (default: slurm, grid-engine or oar if its commands are on ' +
          'the PATH, else none, which uses this host)',
      ).choices(managers),
    )
    .option('--cluster <name>', 'with --manager embedded: name or address of a running embedded cluster')
    .option('--standalone-processors <count>', 'with --standalone: processors of this host to use (default: all)')
    .option(
      '--standalone-patience <duration>',
      'with --standalone: give up if the resource manager stays unreachable for this long and no task has ' +
        'started; 0 = never (default: 2m)',
    )
    .option(
      '--heuristic <name>',
      'with --standalone: request heuristic: static, initial, adaptive, mixed, finish or auto (default: ' + 'finish)',
    )
    .option(
      '--default-task-time <duration>',
      'with --standalone: assumed run time of a task before any has finished, for the heuristics initial, ' +
        'adaptive and mixed (default: 10m)',
    )
    .option(
      '--set <process.option=value>',
      'with --standalone: set an option of a process, for example provider.slurm-partition=main; may be ' + 'repeated',
      collect,
    )
    .option('--task-output', 'with --standalone: print the output of the tasks when the job has ended');
}

/** Refuses the options of `--standalone` without it. @throws {MutiraoError} MUT_BAD_REQUEST */
export function refuseWithoutHere(options: StandaloneOptions): void {
  const given: readonly (readonly [string, unknown])[] = [
    ['--manager', options.manager],
    ['--cluster', options.cluster],
    ['--standalone-processors', options.standaloneProcessors],
    ['--standalone-patience', options.standalonePatience],
    ['--heuristic', options.heuristic],
    ['--default-task-time', options.defaultTaskTime],
    ['--set', options.set?.[0]],
    ['--task-output', options.taskOutput],
  ];
  const names = given.filter(([, value]) => value !== undefined).map(([name]) => name);
  if (names.length > 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${names.join(', ')} without --standalone; a broker that runs already has its own providers`,
    );
}

/**
 * What the submission's own grid uses. @param usualHome where a cluster that is named is looked up. @throws
 * {MutiraoError} MUT_BAD_REQUEST
 */
export function readSite(options: StandaloneOptions, usualHome: string, path: string | undefined): HereSite {
  const name = options.manager ?? (options.cluster === undefined ? usualManager(path) : 'embedded');
  if (options.cluster !== undefined && name !== 'embedded')
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--cluster needs --manager embedded, and cannot be used with --manager ${name}`,
    );
  const manager = getManager(name, options.cluster, usualHome);
  if (options.standaloneProcessors !== undefined && manager !== undefined && manager !== noManager) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      '--standalone-processors cannot be used with a cluster, which has its own processors',
    );
  }
  const settings = readSettings(options);
  refuseWithoutProcess(settings, {
    reservations: 'a job that runs alone has no reservation manager',
    web: 'a job that runs alone has no page',
    ...(manager === undefined ? {} : { cluster: 'no cluster is started' }),
    ...(manager === noManager ? {} : { agent: 'the agents are started by the resource manager' }),
  });
  return { manager, processors: readProcessors(options.standaloneProcessors), settings };
}

/** How long a resource manager may be out of reach; Infinity for ever. @throws {FormatError} MUT_BAD_DURATION */
export function readPatience(text: string | undefined): Duration {
  if (text === undefined) return patienceMax;
  return parseDuration(text) || Infinity;
}

function readSettings({ set = [], heuristic, defaultTaskTime }: StandaloneOptions): HereSite['settings'] {
  const settings = parseSettings(set);
  if (heuristic !== undefined) settings.provider.push('--heuristic', heuristic);
  if (defaultTaskTime !== undefined) settings.provider.push('--default-task-time', defaultTaskTime);
  return settings;
}

function getManager(name: string, cluster: string | undefined, usualHome: string): readonly string[] | undefined {
  switch (name) {
    case 'none':
      return noManager;
    case 'embedded':
      return cluster === undefined
        ? undefined
        : ['--manager', 'embedded', '--cluster', cluster, '--cluster-home', resolve(usualHome)];
    default:
      return ['--manager', name];
  }
}

function usualManager(path = ''): string {
  return signs.find(([command]) => isOnPath(command, path))?.[1] ?? 'none';
}

function readProcessors(text: string | undefined): number {
  if (text === undefined) return availableParallelism();
  return readInteger('--standalone-processors', text, { min: 1, max: 4096 });
}
