import { Scheduler, type InputSpec, type JobSpec, type OutputSpec, type TaskGroup } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';

import type { BagDraftOfJob, BagSpec, BagValues } from '../../schema/index.ts';

const failuresUsual = 3;

/** What a job asks for, as the form of a bag asks for it, and the rest, which the form cannot say. */
export function bagOfJob(spec: JobSpec): BagDraftOfJob {
  const [group] = spec.groups;
  const { put, get, leftOut } = listFiles(group);
  const bag: BagSpec = {
    command: group?.command ?? '',
    values: getValues(group),
    ...(put.length > 0 && { put }),
    ...(get.length > 0 && { get }),
    ...listTexts(spec, group),
    ...listNumbers(spec, group),
    ...(Object.keys(spec.environment).length > 0 && { environment: spec.environment }),
    ...(spec.workFolder !== undefined && { in_place: true }),
  };
  return { bag, left_out: [...leftOut, ...listOthers(spec)] };
}

function listFiles(group: TaskGroup | undefined): {
  readonly put: string[];
  readonly get: string[];
  readonly leftOut: string[];
} {
  const [inputs, outputs] = [group?.inputs ?? [], group?.outputs ?? []];
  const put = inputs.map(printInput).filter((text) => text !== undefined);
  const get = outputs.map(printOutput).filter((text) => text !== undefined);
  const count = inputs.length + outputs.length - put.length - get.length;
  return { put, get, leftOut: count === 0 ? [] : [`${count} files that the form cannot name`] };
}

function getValues(group: TaskGroup | undefined): BagValues {
  const values = group?.values;
  if (values === undefined) return { kind: 'single' };
  if (values.$case !== 'range') return { kind: 'list', values: values.value.values };
  const { first, count } = values.value;
  const step = values.value.step ?? 1;
  const last = first + (count - 1) * step;
  return { kind: 'array', selector: count === 1 ? `${first}` : `${first}-${last}${step === 1 ? '' : `:${step}`}` };
}

/** As `--put` takes it; undefined for what it cannot say. */
function printInput({ source, root, path, condition }: InputSpec): string | undefined {
  const from = source?.source?.$case === 'localPath' ? source.source.value : undefined;
  if (from === undefined || root !== Root.PLAYPEN || condition !== '') return undefined;
  return from.includes(':') || path.includes(':') ? undefined : `${from}:${path}`;
}

function printOutput({ root, path, localPath, condition }: OutputSpec): string | undefined {
  if (root !== Root.PLAYPEN || condition !== '' || path.includes(':') || localPath.includes(':')) return undefined;
  return localPath === '' ? path : `${path}:${localPath}`;
}

function listTexts(spec: JobSpec, group: TaskGroup | undefined): Partial<BagSpec> {
  const texts = {
    label: spec.label,
    directory: spec.homeDirectory,
    requirements: group?.requirements ?? '',
    check: group?.check ?? '',
  };
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
}

function listNumbers({ processors, failuresMax, limits }: JobSpec, group: TaskGroup | undefined): Partial<BagSpec> {
  const wanted = group?.processors ?? processors;
  const runTime = limits?.runTimeMsMax ?? 0;
  return {
    ...(wanted !== undefined && wanted !== 1 && { processors: wanted }),
    ...(failuresMax !== undefined && failuresMax !== failuresUsual && { retries: failuresMax - 1 }),
    ...(runTime > 0 && { run_time_ms_max: runTime }),
  };
}

/** What the form does not ask for, by what people call it. */
function listOthers(spec: JobSpec): string[] {
  const others: readonly (readonly [boolean, string])[] = [
    [spec.groups.length > 1, `${spec.groups.length - 1} other task groups`],
    [spec.edges.length > 0, 'dependencies between tasks'],
    [spec.gang === true, 'that tasks are gangs'],
    [spec.resources !== undefined || spec.groups[0]?.resources !== undefined, 'memory, GPUs and other resources'],
    [spec.reservation !== undefined, 'the reservation'],
    [spec.gathering !== undefined, 'gathering of outputs'],
    [spec.verification !== undefined, 'verification'],
    [(spec.scheduler ?? Scheduler.WQR) !== Scheduler.WQR, 'the scheduler'],
    [(spec.priority ?? 0) !== 0, 'the priority'],
    [spec.runningMax !== undefined, 'the limit of tasks at once'],
    [spec.deadlineUnixMs !== undefined, 'the deadline'],
    [(spec.limits?.memoryBytesMax ?? 0) > 0 || (spec.limits?.outputBytesMax ?? 0) > 0, 'limits on memory and output'],
  ];
  return others.filter(([isThere]) => isThere).map(([, name]) => name);
}
