import { MutiraoError } from '@mutirao/api/errors';
import { type JobSpec, memoryGrowthMax, memoryGrowthMin, type TaskGroup } from '@mutirao/core/messages';
import { emptyRequest, isEmptyRequest, type ResourceRequest } from '@mutirao/core/resources';
import { parseAlternative, parseDuration, parseResources, parseSize } from '@mutirao/formats';

import { UsageError } from '../../usage/usage-error.ts';

/** What `job submit` takes of what each task holds in addition to processors. */
export interface ResourceOptions {
  readonly memory?: string;
  readonly gpus?: string;
  readonly resource?: readonly string[];
  readonly retryMemory?: string;
  readonly alternative?: readonly string[];
  readonly taskTime?: string;
}

/**
 * Lays what the options say over what a job and its groups ask for: each part that is given goes before that of all
 * tasks, and the other parts stay. @throws {FormatError} MUT_BAD_RESOURCE, MUT_BAD_SIZE; {MutiraoError} MUT_BAD_REQUEST.
 */
export function overrideResources<Job extends Pick<JobSpec, 'groups' | 'resources'>>(
  { resources, ...job }: Job,
  options: ResourceOptions,
): Omit<Job, 'resources'> & Pick<JobSpec, 'resources' | 'groups'> {
  const { gpus, resource = [] } = options;
  const { memory } = readAutoMemory(options);
  refuseLittleMemory('--memory', options.memory, memory);
  const given = parseResources({ memory, gpus, named: resource });
  if (given === undefined) return { ...job, ...keep(resources) };
  const names = resource.map((text) => text.replace(/=.*$/s, '').toLowerCase());
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', `--resource names ${twice} twice; expected each resource once`);
  const merge = (asked: ResourceRequest = emptyRequest): Pick<JobSpec, 'resources'> => {
    const { gpuKind, ...others } = asked;
    const kind = gpus === undefined ? gpuKind : given.gpuKind;
    return keep({
      ...others,
      ...(memory === undefined ? {} : { memory: given.memory }),
      ...(gpus === undefined ? {} : { gpus: given.gpus }),
      ...(kind === undefined ? {} : { gpuKind: kind }),
      named: { ...asked.named, ...given.named },
    });
  };
  return {
    ...job,
    ...merge(resources),
    groups: job.groups.map(
      ({ resources: asked, ...group }): TaskGroup => (asked === undefined ? group : { ...group, ...merge(asked) }),
    ),
  };
}

/**
 * How much more memory a task is given that used more than it asked for; left out where nothing is said.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST for a text that is not a factor, without a task that asks for memory, and with
 * another limit.
 */
export function readMemoryGrowth(
  options: ResourceOptions,
  { groups, resources, limits }: Pick<JobSpec, 'groups' | 'resources' | 'limits'>,
): Pick<JobSpec, 'memoryGrowth' | 'memoryAuto'> {
  const { memoryAuto } = readAutoMemory(options);
  const given = options.retryMemory ?? (memoryAuto === true ? 'x2' : undefined);
  if (given === undefined) return {};
  const memoryGrowth = readFactor(given);
  const name = options.retryMemory === undefined ? '--memory auto' : '--retry-memory';
  if (limits.memoryMax > 0) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${name} and --limit-memory are given; expected one of them: with ${name} the limit is the request`,
    );
  }
  if (!groups.some((group) => ((group.resources ?? resources)?.memory ?? 0) > 0))
    throw new MutiraoError('MUT_BAD_REQUEST', `${name} is given, and no task asks for memory; add --memory`);
  return { memoryGrowth, ...(memoryAuto === undefined ? {} : { memoryAuto }) };
}

function readFactor(text: string): number {
  const factor = Number(/^x?(\d+(?:\.\d+)?)$/.exec(text)?.[1]);
  if (factor >= memoryGrowthMin && factor <= memoryGrowthMax) return factor;
  throw new MutiraoError(
    'MUT_BAD_REQUEST',
    `--retry-memory is "${text}"; expected x${memoryGrowthMin} to x${memoryGrowthMax}, for example x2`,
  );
}

/** No task can run with less. */
const memoryMin = 2 ** 20;

/**
 * Refuses an amount that was meant in other units than bytes. @param text what was given. @param size the size in it.
 * @throws {UsageError}
 */
export function refuseLittleMemory(option: string, text: string | undefined, size = text): void {
  if (text === undefined || size === undefined) return;
  const bytes = parseSize(size);
  // 0 removes what a job file asks for; nothing can start with it.
  if (bytes >= memoryMin || (bytes === 0 && text === size)) return;
  const meant = /^[1-9]\d*$/.test(size) ? text.replace(/\d+$/, `${size}M`) : undefined;
  throw new UsageError(`${option} is "${text}", less than 1 MiB; expected a size with its unit, as in 512M or 4G`, {
    ...(meant === undefined
      ? {}
      : {
          rewrite: (words) =>
            words.map((word, index) =>
              word === `${option}=${text}`
                ? `${option}=${meant}`
                : word === text && words[index - 1] === option
                  ? meant
                  : word,
            ),
        }),
  });
}

/** Where `--memory auto` starts. */
const autoStart = '1GiB';

/** The memory that tasks ask for at first, and whether that is only a start: `auto`, or `auto:4G` to start with 4 GB. */
function readAutoMemory({ memory }: ResourceOptions): {
  readonly memory: string | undefined;
  readonly memoryAuto?: true;
} {
  const [word, start = autoStart] = /^auto(?::(.*))?$/is.exec(memory ?? '') ?? [];
  return word === undefined ? { memory } : { memory: start, memoryAuto: true };
}

/**
 * Puts the alternatives and task times of the options in place of those of the groups.
 *
 * @throws {FormatError} for an alternative or a time that cannot be read.
 */
export function overrideAlternatives(
  groups: readonly TaskGroup[],
  { alternative = [], taskTime }: ResourceOptions,
): readonly TaskGroup[] {
  if (alternative.length === 0) return groups;
  const alternatives = alternative.map(parseAlternative);
  const time = taskTime === undefined ? {} : { expectedTime: parseDuration(taskTime) };
  return groups.map((group) => ({ ...group, ...time, alternatives }));
}

/** Names of the options that were given, as the user writes them. */
export function resourceOptionsGiven({
  memory,
  gpus,
  resource,
  retryMemory,
  alternative,
}: ResourceOptions): [string, unknown][] {
  return [
    ['--memory', memory],
    ['--gpus', gpus],
    ['--resource', resource?.[0]],
    ['--retry-memory', retryMemory],
    ['--alternative', alternative?.[0]],
  ];
}

/** Left out where nothing is asked for. */
function keep(resources: ResourceRequest | undefined): Pick<JobSpec, 'resources'> {
  return resources === undefined || isEmptyRequest(resources) ? {} : { resources };
}
