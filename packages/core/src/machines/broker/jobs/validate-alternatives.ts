import { alternativesMax, type JobSpec, type TaskGroup } from '../../../messages/index.ts';
import { keyOfRequest } from '../../../resources/index.ts';
import type { Fault, Refusal } from '../../../reasons/index.ts';
import type { Duration } from '../../../shared/index.ts';
import { getRequest } from './task-groups.ts';

/** Finds what is wrong with the alternatives of a group: undefined when nothing is, and where it has none. */
export function findAlternativesFault(spec: JobSpec, group: TaskGroup, groupIndex: number): Refusal | undefined {
  const { alternatives = [] } = group;
  if (alternatives.length === 0) return undefined;
  const fault = findMisuse(spec, alternatives.length, groupIndex) ?? findRepeated(spec, group, groupIndex);
  if (fault !== undefined) return { code: 'MUT_BAD_REQUEST', fault };
  for (const { processors, expectedTime = 0 } of alternatives) {
    const wrong =
      findOutOfRange('processors', processors, 1, 1_000_000) ??
      findOutOfRange('expected_time_ms', expectedTime, 0, Number.MAX_SAFE_INTEGER);
    if (wrong !== undefined) return { code: 'MUT_BAD_REQUEST', fault: { ...wrong, groupIndex } };
  }
  return undefined;
}

/** Jobs whose tasks are placed by one request only. */
function findMisuse({ gang, scheduler = 'wqr' }: JobSpec, count: number, groupIndex: number): Fault | undefined {
  if (count > alternativesMax)
    return {
      code: 'job-number-out-of-range',
      field: 'alternatives',
      value: count,
      least: 0,
      most: alternativesMax,
      groupIndex,
    };
  if (gang === true) return { code: 'alternatives-with-gang', groupIndex };
  return scheduler === 'wqr' || scheduler === 'workqueue'
    ? undefined
    : { code: 'alternatives-with-scheduler', groupIndex, scheduler };
}

/** One that asks for the same as an earlier request would never be taken. */
function findRepeated(spec: JobSpec, group: TaskGroup, groupIndex: number): Fault | undefined {
  const known = new Map<string, number>();
  for (let alternative = 0; alternative <= (group.alternatives?.length ?? 0); alternative++) {
    const { processors, resources } = getRequest(spec, group, alternative);
    const key = `${processors} ${keyOfRequest(resources)}`;
    const first = known.get(key);
    if (first !== undefined) return { code: 'alternative-repeated', groupIndex, alternative, first };
    known.set(key, alternative);
  }
  return undefined;
}

function findOutOfRange(
  field: string,
  value: Duration,
  least: number,
  most: number,
): Extract<Fault, { code: 'job-number-out-of-range' }> | undefined {
  return Number.isInteger(value) && value >= least && value <= most
    ? undefined
    : { code: 'job-number-out-of-range', field: `alternatives.${field}`, value, least, most };
}
