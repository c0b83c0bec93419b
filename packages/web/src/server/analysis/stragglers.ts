import { describeTime, plural } from '@mutirao/core/shared';

import type { TaskTimes } from '../../schema/index.ts';
import type { ReplicaRow } from './replica-rows.ts';

/** A straggler takes more than this many times the median of the tasks. */
const stragglerFactor = 2;
const listedMax = 50;
/**
 * A machine is slow when the median of its other runs, at least `slowRunsMin` of them, is this many times the median of
 * all runs.
 */
const slowFactor = 1.5;
const slowRunsMin = 2;

/** What run times of a job are compared with. */
export interface UsualTimes {
  /** Half of the accepted runs took no longer, in milliseconds. */
  readonly half: number;
  /** By machine, what accepted runs took, ascending. */
  readonly byMachine: ReadonlyMap<string, readonly number[]>;
}

/** The runs that take much longer than the others, the longest first, with what is known of why. Cost: O(replicas). */
export function findStragglers(
  rows: readonly ReplicaRow[],
  usual: UsualTimes,
  now: number,
): Pick<TaskTimes, 'stragglers' | 'straggler_count'> {
  const least = stragglerFactor * usual.half;
  const slow = rows.filter(
    (row) => (row.kind === 'running' || row.kind === 'accepted') && row.startedAt > 0 && getRunTime(row, now) > least,
  );
  const listed = slow.sort((one, other) => getRunTime(other, now) - getRunTime(one, now)).slice(0, listedMax);
  const tasks = new Set(listed.map(({ taskIndex }) => taskIndex));
  const siblings = Map.groupBy(
    rows.filter(({ taskIndex }) => tasks.has(taskIndex)),
    ({ taskIndex }) => taskIndex,
  );
  return {
    straggler_count: slow.length,
    stragglers: listed.map((row) => getStraggler(row, { siblings: siblings.get(row.taskIndex) ?? [], usual, now })),
  };
}

/** How long a run takes, from its start on; what still runs, until now. */
export function getRunTime({ startedAt, endedAt }: ReplicaRow, now: number): number {
  return Math.max(0, (endedAt || now) - startedAt);
}

interface Circumstances {
  readonly siblings: readonly ReplicaRow[];
  readonly usual: UsualTimes;
  readonly now: number;
}

function getStraggler(row: ReplicaRow, about: Circumstances): TaskTimes['stragglers'][number] {
  const took = getRunTime(row, about.now);
  return {
    task_index: row.taskIndex,
    machine_id: row.machineId,
    replica_id: row.replicaId,
    took_ms: took,
    is_running: row.kind === 'running',
    started_unix_ms: row.startedAt,
    times_half: Math.round((took * 10) / Math.max(1, about.usual.half)) / 10,
    failures_before: about.siblings.filter(({ kind, endedAt }) => kind === 'failed' && endedAt <= row.startedAt).length,
    why: explain(row, about),
  };
}

/**
 * The likeliest cause: its files, its machine, or itself, in this order, since the first two follow from measured
 * times.
 */
function explain(row: ReplicaRow, { siblings, usual, now }: Circumstances): string {
  const took = getRunTime(row, now);
  const homeward = row.staging?.commandEndedAt ? Math.max(0, row.endedAt - row.staging.commandEndedAt) : 0;
  if (homeward > (took - usual.half) / 2)
    return `Its outputs took ${describeTime(homeward)} to come home; its command took ${describeTime(took - homeward)}.`;
  const others = othersOn(row, usual, now);
  if (others.count >= slowRunsMin && others.half > slowFactor * usual.half)
    return (
      `${row.machineId} is slow: half of its ${plural(others.count, 'other run')} took ` +
      `${describeTime(others.half)} or more, half of all take ${describeTime(usual.half)}.`
    );
  const sibling = siblings.find(
    ({ replicaId, startedAt, kind, endedAt }) =>
      replicaId !== row.replicaId &&
      startedAt > 0 &&
      (kind === 'loser' || kind === 'running' || kind === 'accepted') &&
      (endedAt || now) > row.startedAt,
  );
  if (sibling !== undefined) return reportSibling(row, sibling, { usual, now });
  if (others.count >= slowRunsMin)
    return (
      `Other runs on ${row.machineId} take ${describeTime(others.half)}: it is the task itself, or what else ran ` +
      'there just then.'
    );
  return `Nothing else ran on ${row.machineId} to compare it with.`;
}

function reportSibling(
  row: ReplicaRow,
  sibling: ReplicaRow,
  { usual, now }: Pick<Circumstances, 'usual' | 'now'>,
): string {
  const time = getRunTime(sibling, now);
  if (sibling.kind === 'running') return `It runs on ${sibling.machineId} too, for ${describeTime(time)} so far.`;
  if (sibling.kind === 'accepted')
    return `Its sibling on ${sibling.machineId} was first, after ${describeTime(time)}: ${row.machineId} is slow or busy.`;
  return time > stragglerFactor * usual.half
    ? `It took as long on ${sibling.machineId}, for ${describeTime(time)} until it was given up there: it is the ` +
        'task itself.'
    : `A sibling was started on ${sibling.machineId}, and was not first.`;
}

/** How long other accepted runs on the machine of one took. */
function othersOn(
  row: ReplicaRow,
  { byMachine }: UsualTimes,
  now: number,
): { readonly count: number; readonly half: number } {
  const times = byMachine.get(row.machineId) ?? [];
  const own = row.kind === 'accepted' ? times.indexOf(getRunTime(row, now)) : -1;
  const count = times.length - (own < 0 ? 0 : 1);
  const at = Math.max(0, Math.ceil(count / 2) - 1);
  return { count, half: times[own >= 0 && at >= own ? at + 1 : at] ?? 0 };
}
