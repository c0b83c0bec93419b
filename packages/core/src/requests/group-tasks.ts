import type { Duration } from '../shared/index.ts';
import { taskGroupsMax, type TaskGroup } from './heuristic.ts';

/**
 * Groups tasks by how long they have run: exact where there are few different times, else the longest alone and the
 * others joined to
 * groups of about equal size, under the least time of each.
 *
 * @param times in any order. Cost: O(n log n).
 */
export function groupTasks(times: Iterable<Duration>): TaskGroup[] {
  const sorted = Float64Array.from(times).sort().reverse();
  const exact: { count: number; time: Duration }[] = [];
  for (const time of sorted) {
    const last = exact.at(-1);
    if (last?.time === time) last.count += 1;
    else exact.push({ count: 1, time });
  }
  return joinGroups(exact);
}

/**
 * Joins neighbours until no more than `taskGroupsMax` are left; the first stays as it is.
 *
 * @param groups the longest time first.
 */
export function joinGroups(groups: readonly TaskGroup[]): TaskGroup[] {
  const [first, ...others] = groups;
  if (first === undefined || groups.length <= taskGroupsMax) return [...groups];
  const size = Math.ceil(others.reduce((sum, { count }) => sum + count, 0) / (taskGroupsMax - 1));
  const joined: { count: number; time: Duration }[] = [];
  let counted = 0;
  for (const { count, time } of others) {
    const index = Math.floor(counted / size);
    counted += count;
    const group = joined.at(-1);
    if (group === undefined || index >= joined.length) joined.push({ count, time });
    else {
      group.count += count;
      group.time = time;
    }
  }
  return [first, ...joined];
}
