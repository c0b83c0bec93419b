import type { ListTasksRequest, ListTasksResponse } from '@mutirao/api/broker';

/** Tasks that are read for one page of a search: what one call of a page costs the broker at most. */
const searchedMax = 5000;
const searchedAtOnce = 1000;

/** Which tasks of a job are wanted. */
export interface TaskQuery extends Pick<ListTasksRequest, 'jobId' | 'status' | 'pageSize' | 'fromTaskIndex'> {
  /** Part of the value, in any case, or `#` and an index; empty for all. */
  readonly search: string;
}

/**
 * A page of tasks. The broker finds them by status; values are looked through here, some thousands in one call, so that
 * a page may be empty and say where to go on.
 */
export async function findTasks(
  list: (request: ListTasksRequest) => Promise<ListTasksResponse>,
  { search, ...query }: TaskQuery,
): Promise<ListTasksResponse> {
  const [, index] = /^#(\d{1,9})$/.exec(search.trim()) ?? [];
  if (index !== undefined) return list({ ...query, taskIndexes: [Number(index)] });
  const wanted = search.trim().toLowerCase();
  if (wanted === '') return list({ ...query, taskIndexes: [] });
  const found: ListTasksResponse['tasks'] = [];
  let fromTaskIndex: number | undefined = query.fromTaskIndex;
  for (let read = 0; read < searchedMax && fromTaskIndex !== undefined; read += searchedAtOnce) {
    const page = await list({ ...query, taskIndexes: [], pageSize: searchedAtOnce, fromTaskIndex });
    const matching = page.tasks.filter(({ value }) => value.toLowerCase().includes(wanted));
    found.push(...matching.slice(0, query.pageSize - found.length));
    const last = found.at(-1);
    // What did not fit is found again by the next call.
    if (found.length === query.pageSize && last !== undefined)
      return { tasks: found, nextTaskIndex: nextAfter(page, last.taskIndex) };
    fromTaskIndex = page.nextTaskIndex;
  }
  return { tasks: found, nextTaskIndex: fromTaskIndex };
}

/** The first task after one of a page; undefined where the page ends all. */
function nextAfter({ tasks, nextTaskIndex }: ListTasksResponse, taskIndex: number): number | undefined {
  return tasks.find((task) => task.taskIndex > taskIndex)?.taskIndex ?? nextTaskIndex;
}
