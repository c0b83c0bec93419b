import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Workflow } from '../../../../src/schema/index.ts';
import type { WorkflowAnalysis } from '../../model/workflow/analysis.ts';
import { DraftAutosave } from '../../model/workflow/draft-autosave.ts';
import { edgeId, editWorkflow, type WorkflowEdit } from '../../model/workflow/edits.ts';
import { emptyWorkflow, tasksById } from '../../model/workflow/graph.ts';
import { beginHistory, redo, takeStep, undo, type History } from '../../model/workflow/history.ts';
import { usePage } from '../../page-context.tsx';
import { useAnalysis } from './use-analysis.ts';

const draftPlace = 'mutirao.draft.workflow';
const keptAfterMs = 1500;

/** What is selected in the graph: ids of tasks, and of edges. */
export interface Selection {
  readonly tasks: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
}
export const nothingSelected: Selection = { tasks: new Set(), edges: new Set() };

/** The workflow that is edited, and what may be done with it. */
export interface Editor {
  readonly workflow: Workflow;
  readonly analysis: WorkflowAnalysis;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly selection: Selection;
  readonly select: (selection: Selection | ((old: Selection) => Selection)) => void;
  /** Applies an edit, or shows why it cannot. @returns whether it was applied. */
  readonly apply: (edit: WorkflowEdit, gesture?: string) => boolean;
  readonly removeSelected: () => void;
  readonly undo: () => void;
  readonly redo: () => void;
}

export function useEditor(): Editor {
  const { say } = usePage();
  const [autosave] = useState(() => new DraftAutosave(sessionStorage, draftPlace));
  const [history, setHistory] = useState<History<Workflow>>(() => beginHistory(autosave.read() ?? emptyWorkflow));
  const [selected, select] = useState<Selection>(nothingSelected);
  const latest = useRef(history);
  const change = useCallback((next: History<Workflow>) => {
    latest.current = next;
    setHistory(next);
  }, []);
  const apply = useCallback(
    (edit: WorkflowEdit, gesture = '') => {
      const result = editWorkflow(latest.current.present, edit);
      if ('refusal' in result) {
        say(result.refusal, true);
        return false;
      }
      change(takeStep(latest.current, result.workflow, gesture));
      return true;
    },
    [change, say],
  );
  const workflow = history.present;
  const analysis = useAnalysis(workflow);
  const selection = useMemo(() => getPresent(selected, workflow), [selected, workflow]);
  const latestSelection = useRef(selection);
  latestSelection.current = selection;
  const removeSelected = useCallback(() => {
    const { tasks, edges } = latestSelection.current;
    if (tasks.size + edges.size === 0) return;
    apply({
      kind: 'RemoveParts',
      taskIds: tasks,
      edges: latest.current.present.edges.filter(({ from, to }) => edges.has(edgeId(from, to))),
    });
    select(nothingSelected);
  }, [apply]);
  useDraftOf(workflow, autosave);
  return {
    workflow,
    analysis,
    canUndo: history.past.length > 0,
    canRedo: history.future.length > 0,
    selection,
    select,
    apply,
    removeSelected,
    undo: useCallback(() => change(undo(latest.current)), [change]),
    redo: useCallback(() => change(redo(latest.current)), [change]),
  };
}

/** What of a selection is there: undo, say, takes parts away. The same object where all is. */
function getPresent(selection: Selection, { tasks, edges }: Workflow): Selection {
  if (selection.tasks.size + selection.edges.size === 0) return selection;
  const known = tasksById(tasks);
  const keptTasks = [...selection.tasks].filter((id) => known.has(id));
  const keptEdges =
    selection.edges.size === 0
      ? []
      : edges.map(({ from, to }) => edgeId(from, to)).filter((id) => selection.edges.has(id));
  return keptTasks.length === selection.tasks.size && keptEdges.length === selection.edges.size
    ? selection
    : { tasks: new Set(keptTasks), edges: new Set(keptEdges) };
}

/** Keeps the workflow for this tab, when nothing else has been done for a moment and when the page is left. */
function useDraftOf(workflow: Workflow, autosave: DraftAutosave): void {
  const { say } = usePage();
  const last = useRef(workflow);
  last.current = workflow;
  const isAnnounced = useRef(false);
  const keep = useCallback(() => {
    const isKept = autosave.keep(last.current);
    if (!isKept && !isAnnounced.current)
      say(
        'This workflow is larger than the browser keeps for a tab: save it to a file before you leave the page.',
        true,
      );
    isAnnounced.current = !isKept;
  }, [autosave, say]);
  useEffect(() => {
    const timer = setTimeout(() => requestIdleCallback(keep, { timeout: 5000 }), keptAfterMs);
    return () => clearTimeout(timer);
  }, [workflow, keep]);
  useEffect(() => {
    window.addEventListener('pagehide', keep);
    // Another view of the page: the timer of the last change is gone with this one.
    return () => {
      window.removeEventListener('pagehide', keep);
      keep();
    };
  }, [keep]);
}
