import { errorOfRefusal, MutiraoError } from '@mutirao/api/errors';
import { schedulerNames, type JobSpec, type ReplicationCap, type SchedulerName } from '@mutirao/core/messages';
import { readSiteSelection } from '@mutirao/core/site-selection';
import { findNearestWord } from '@mutirao/core/shared';

const percentMax = 1000;

/**
 * Reads `--scheduler`, `--replication-budget` and `--site-selection`, where they are given. @throws {MutiraoError}
 * MUT_BAD_REQUEST
 */
export function readScheduling({
  scheduler,
  replicationBudget,
  siteSelection,
}: {
  readonly scheduler?: string;
  readonly replicationBudget?: string;
  readonly siteSelection?: string;
}): Pick<JobSpec, 'scheduler' | 'replicationCap' | 'siteSelection'> {
  return {
    ...(scheduler === undefined ? {} : { scheduler: readScheduler(scheduler) }),
    ...(replicationBudget === undefined ? {} : { replicationCap: readCap(replicationBudget) }),
    ...(siteSelection === undefined ? {} : { siteSelection: checkSiteSelection(siteSelection) }),
  };
}

/** Reads `--scheduler`. @throws {MutiraoError} MUT_BAD_REQUEST with the nearest name, or all of them. */
export function readScheduler(text: string): SchedulerName {
  const name = schedulerNames.find((known) => known === text);
  if (name === undefined)
    throw refusal('--scheduler', text, findNearestWord(text, schedulerNames), schedulerNames.join(', '));
  return name;
}

/**
 * Reads `--replication-budget`: `none`, `idle` or `20%`. @throws {MutiraoError} MUT_BAD_REQUEST with the nearest word,
 * or what
 * is wanted.
 */
export function readCap(text: string): ReplicationCap {
  if (text === 'none' || text === 'idle') return { kind: text };
  const percent = /^(\d+)%$/.exec(text)?.[1];
  if (percent === undefined)
    throw refusal(
      '--replication-budget',
      text,
      findNearestWord(text, ['none', 'idle']),
      'none, idle or a percentage such as 20%',
    );
  if (Number(percent) > percentMax)
    throw new MutiraoError('MUT_BAD_REQUEST', `--replication-budget is "${text}"; expected 0% to ${percentMax}%`);
  return { kind: 'share', percent: Number(percent) };
}

/**
 * Checks `--site-selection`: `none`, or `STRATEGY[:A]`. @throws {MutiraoError} MUT_BAD_REQUEST with the nearest strategy, or
 * all of them.
 */
export function checkSiteSelection(text: string): string {
  const read = readSiteSelection(text);
  if (typeof read === 'object' && 'fault' in read)
    throw errorOfRefusal({ code: 'MUT_BAD_REQUEST', ...read }, '--site-selection ');
  return text;
}

function refusal(option: string, text: string, nearest: string | undefined, wanted: string): MutiraoError {
  return new MutiraoError(
    'MUT_BAD_REQUEST',
    `${option} is "${text}"; ${nearest === undefined ? `expected ${wanted}` : `do you mean ${nearest}?`}`,
  );
}
