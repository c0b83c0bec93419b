import { startTransition, useEffect, useRef, useState } from 'react';
import type { Workflow } from '../../../../src/schema/index.ts';
import { analyseWorkflow, analysisWish, emptyAnalysis, isAnalysedAlike, namedAnalysis, type WorkflowAnalysis } from '../../model/workflow/analysis.ts';
import { askWorker, startWorker } from './ask-worker.ts';

const afterMs = 40;

/** Levels and the critical path of a workflow, a moment after the change that they follow from: a worker computes them, always for the latest state, so that no edit waits for them. */
export function useAnalysis(workflow: Workflow): WorkflowAnalysis {
  const [analysis, setAnalysis] = useState(emptyAnalysis);
  const state = useRef<AnalysisState>({ worker: undefined, analysed: undefined, isBusy: false });
  const latest = useRef(workflow);
  latest.current = workflow;
  useEffect(() => {
    const timer = setTimeout(() => { void follow(state.current, latest, setAnalysis); }, afterMs);
    return () => clearTimeout(timer);
  }, [workflow]);
  useEffect(() => () => { state.current.worker?.terminate(); state.current = { worker: undefined, analysed: undefined, isBusy: false }; }, []);
  return analysis;
}

interface AnalysisState {
  worker: Worker | undefined;
  /** What was asked for last. */
  analysed: Workflow | undefined;
  isBusy: boolean;
}

/** Asks for the latest state, and again where it is another one by the time of the answer. */
async function follow(state: AnalysisState, latest: { readonly current: Workflow }, set: (analysis: WorkflowAnalysis) => void): Promise<void> {
  if (state.isBusy) return;
  state.isBusy = true;
  try {
    while (state.analysed === undefined || !isAnalysedAlike(state.analysed, latest.current)) {
      const workflow = latest.current;
      state.analysed = workflow;
      const analysis = await analysisOf(state, workflow);
      startTransition(() => set(analysis));
    }
  } finally {
    state.isBusy = false;
  }
}

async function analysisOf(state: AnalysisState, workflow: Workflow): Promise<WorkflowAnalysis> {
  if (workflow.tasks.length === 0) return emptyAnalysis;
  try {
    state.worker ??= startWorker();
    return namedAnalysis(workflow, await askWorker(state.worker, { kind: 'analysis', wish: analysisWish(workflow) }));
  } catch {
    // A browser that starts no worker is slower, and knows the same.
    return analyseWorkflow(workflow);
  }
}
