import { useCallback, useEffect, useMemo, useState } from 'react';
import type { JobGraph } from '../../../../src/schema/index.ts';
import { usePage } from '../../page-context.tsx';

/** The run of the workflow that was submitted from the editor, if any is watched. */
export interface Run {
  readonly jobId: number | undefined;
  /** States of its tasks by their id. */
  readonly statuses: ReadonlyMap<string, string>;
  readonly indexes: ReadonlyMap<string, number>;
  readonly watch: (jobId: number | undefined) => void;
}

const everyMs = 700;

export function useRun(): Run {
  const { gateway } = usePage();
  const [jobId, setJobId] = useState<number | undefined>(() => {
    const kept = sessionStorage.getItem('mutirao.editor.job');
    return kept === null ? undefined : Number(kept);
  });
  const [graph, setGraph] = useState<JobGraph>();
  useEffect(() => {
    if (jobId === undefined) return undefined;
    let [timer, isOver] = [0, false];
    const look = async (): Promise<void> => {
      const next = await gateway.call('getJobGraph', { params: { job_id: jobId } }).catch(() => undefined);
      if (isOver) return;
      if (next !== undefined) setGraph(next);
      const isDone =
        next !== undefined &&
        next.read_task_count === next.task_count &&
        next.tasks.status.every((status) => ['finished', 'failed', 'cancelled'].includes(next.statuses[status] ?? ''));
      if (!isDone)
        timer = window.setTimeout(() => {
          void look();
        }, everyMs);
    };
    void look();
    return () => {
      isOver = true;
      window.clearTimeout(timer);
    };
  }, [jobId, gateway]);
  const watch = useCallback((next: number | undefined) => {
    if (next === undefined) sessionStorage.removeItem('mutirao.editor.job');
    else sessionStorage.setItem('mutirao.editor.job', String(next));
    setGraph(undefined);
    setJobId(next);
  }, []);
  const statuses = useMemo(() => listStatuses(graph), [graph]);
  const indexes = useMemo(() => new Map(graph?.tasks.value.map((id, index) => [id, index])), [graph]);
  return { jobId, statuses, indexes, watch };
}

/** States of tasks by their id. */
export function listStatuses(graph: JobGraph | undefined): ReadonlyMap<string, string> {
  return new Map(graph?.tasks.value.map((id, index) => [id, graph.statuses[graph.tasks.status[index] ?? 0] ?? '']));
}
