import { useCallback, useEffect, useRef, useState } from 'react';
import type { Task } from '../../../../src/schema/index.ts';
import { getProblem } from '../../gateway/gateway.ts';
import { takePage, type TaskPageRead, type TaskSpec } from '../../model/task-list.ts';
import { usePage } from '../../page-context.tsx';

const pageSize = 100;
/** Tasks that are in sight are read again so often while their job runs. */
const againMs = 3000;
/** A search goes on until it fills the window. */
const wantedAtLeast = 40;

/** Tasks as they were read so far. */
export interface Tasks {
  readonly tasks: readonly Task[];
  readonly isComplete: boolean;
  readonly error: string | undefined;
  /** Takes which rows are in sight. */
  readonly look: (first: number, last: number) => void;
  /** Reads what is in sight again, as after a retry. */
  readonly again: () => void;
}

interface State {
  readonly key: string;
  readonly pages: readonly TaskPageRead[];
  readonly error: string | undefined;
}

/** The tasks of a job that match, read page by page as one scrolls, and again while the job runs. */
export function useTasks(jobId: number, spec: TaskSpec, isRunning: boolean): Tasks {
  const { gateway } = usePage();
  const key = JSON.stringify([jobId, spec]);
  const [state, setState] = useState<State>({ key, pages: [], error: undefined });
  const seen = useRef<readonly [number, number]>([0, 0]);
  const reading = useRef<AbortController>(undefined);
  const pages = state.key === key ? state.pages : [];
  const read = useCallback(
    (from: number) => {
      if (reading.current !== undefined) return;
      const abort = new AbortController();
      reading.current = abort;
      const query = {
        page_size: pageSize,
        from_task_index: from,
        ...(spec.status !== undefined && { status: spec.status }),
        ...(spec.search.trim() !== '' && { search: spec.search }),
      };
      gateway
        .call('listTasks', { params: { job_id: jobId }, query, signal: abort.signal })
        .then(
          (page) =>
            setState((old) => ({
              key,
              pages: takePage(old.key === key ? old.pages : [], from, page),
              error: undefined,
            })),
          (error: unknown) => {
            if (!abort.signal.aborted)
              setState((old) => ({ key, pages: old.key === key ? old.pages : [], error: getProblem(error).message }));
          },
        )
        .finally(() => {
          if (reading.current === abort) reading.current = undefined;
        });
    },
    [gateway, jobId, key],
  );
  useEffect(() => {
    seen.current = [0, 0];
    const timer = setTimeout(() => read(0), spec.search === '' ? 0 : 250);
    return () => {
      clearTimeout(timer);
      reading.current?.abort();
      reading.current = undefined;
    };
  }, [read]);
  const count = pages.reduce((sum, { tasks }) => sum + tasks.length, 0);
  const next = pages.length === 0 ? undefined : (pages.at(-1)?.next ?? null);
  const goOn = useCallback(() => {
    if (typeof next === 'number' && state.error === undefined && seen.current[1] + wantedAtLeast > count) read(next);
  }, [next, count, read, state.error]);
  useEffect(goOn, [goOn]);
  const look = useCallback(
    (first: number, last: number) => {
      seen.current = [first, last];
      goOn();
    },
    [goOn],
  );
  const again = useCallback(() => read(pageInSight(pages, seen.current)), [pages, read]);
  useEffect(() => {
    const timer = isRunning || state.error !== undefined ? setInterval(again, againMs) : undefined;
    return () => clearInterval(timer);
  }, [isRunning, again, state.error]);
  return { tasks: pages.flatMap(({ tasks }) => tasks), isComplete: next === null, error: state.error, look, again };
}

/** Where the page begins that has the middle of what is in sight. */
function pageInSight(pages: readonly TaskPageRead[], [first, last]: readonly [number, number]): number {
  let rest = (first + last) / 2;
  for (const page of pages) {
    if (rest < page.tasks.length) return page.from;
    rest -= page.tasks.length;
  }
  return pages.at(-1)?.from ?? 0;
}
