import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import type { Workflow } from '../../../../src/schema/index.ts';
import { analyseWorkflow, type WorkflowAnalysis } from '../../model/workflow/analysis.ts';
import { editWorkflow, type WorkflowEdit } from '../../model/workflow/edits.ts';
import { emptyWorkflow } from '../../model/workflow/graph.ts';
import { beginHistory, redo, takeStep, undo, type History } from '../../model/workflow/history.ts';
import { readSavedWorkflow, saveWorkflow } from '../../model/workflow/saved-workflow.ts';
import { usePage } from '../../page-context.tsx';

const draftPlace = 'mutirao.draft.workflow';

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
  /** Does it, or tells why not. @returns whether it was done. */
  readonly apply: (edit: WorkflowEdit, gesture?: string) => boolean;
  readonly undo: () => void;
  readonly redo: () => void;
}

export function useEditor(): Editor {
  const { say } = usePage();
  const [history, setHistory] = useState<History<Workflow>>(() => beginHistory(readDraft()));
  const [selection, select] = useState<Selection>(nothingSelected);
  const latest = useRef(history);
  const change = useCallback((next: History<Workflow>) => { latest.current = next; setHistory(next); }, []);
  const apply = useCallback((edit: WorkflowEdit, gesture = '') => {
    const result = editWorkflow(latest.current.present, edit);
    if ('refusal' in result) { say(result.refusal, true); return false; }
    change(takeStep(latest.current, result.workflow, gesture));
    return true;
  }, [change, say]);
  const workflow = history.present;
  // Levels come a moment after the change that they follow from, so that a drag of one of thousands of tasks stays smooth.
  const settled = useDeferredValue(workflow);
  const analysis = useMemo(() => analyseWorkflow(settled), [settled]);
  useDraftOf(workflow);
  return {
    workflow, analysis, canUndo: history.past.length > 0, canRedo: history.future.length > 0, selection, select, apply,
    undo: useCallback(() => change(undo(latest.current)), [change]), redo: useCallback(() => change(redo(latest.current)), [change]),
  };
}

function readDraft(): Workflow {
  return readSavedWorkflow(sessionStorage.getItem(draftPlace) ?? '') ?? emptyWorkflow;
}

/** Keeps the workflow for this tab, when nothing else has been done for a moment and when the page is left: of thousands of tasks it takes longer than a picture may. */
function useDraftOf(workflow: Workflow): void {
  useEffect(() => {
    const keep = (): void => {
      try {
        sessionStorage.setItem(draftPlace, saveWorkflow(workflow));
      } catch {
        // Larger than a tab may keep: then it lives as long as the page.
      }
    };
    const timer = setTimeout(() => requestIdleCallback(keep, { timeout: 5000 }), 1500);
    window.addEventListener('pagehide', keep);
    return () => { clearTimeout(timer); window.removeEventListener('pagehide', keep); };
  }, [workflow]);
  const last = useRef(workflow);
  last.current = workflow;
  // Another view of the page: the timer of the last change is gone with this one.
  useEffect(() => () => { try { sessionStorage.setItem(draftPlace, saveWorkflow(last.current)); } catch { /* as above */ } }, []);
}
