import { startTransition, useEffect, useRef, useState } from 'react';
import type { Workflow } from '../../../../src/schema/index.ts';
import { emptyAnalysis, isAnalysedAlike, type WorkflowAnalysis } from '../../model/workflow/analysis.ts';
import { analysisOf, type Analyst, type AnalystCalls } from '../../model/workflow/analysis-of.ts';
import { askWorker, startWorker } from './ask-worker.ts';

const afterMs = 40;
const calls: AnalystCalls<Worker> = {
  start: startWorker,
  ask: (worker, spec) => askWorker(worker, { kind: 'analysis', spec }),
};

/**
 * Levels and the critical path of a workflow, a moment after the change that they follow from: a worker computes them,
 * always for the latest state, so that no edit waits for them.
 */
export function useAnalysis(workflow: Workflow): WorkflowAnalysis {
  const [analysis, setAnalysis] = useState(emptyAnalysis);
  const state = useRef<AnalysisState>({ worker: undefined, analysed: undefined, isBusy: false });
  const latest = useRef(workflow);
  latest.current = workflow;
  useEffect(() => {
    const timer = setTimeout(() => {
      void follow(state.current, latest, setAnalysis);
    }, afterMs);
    return () => clearTimeout(timer);
  }, [workflow]);
  useEffect(
    () => () => {
      state.current.worker?.terminate();
      state.current = { worker: undefined, analysed: undefined, isBusy: false };
    },
    [],
  );
  return analysis;
}

interface AnalysisState extends Analyst<Worker> {
  /** The last request. */
  analysed: Workflow | undefined;
  isBusy: boolean;
}

/** Asks for the latest state, and again where it is another one by the time of the answer. */
async function follow(
  state: AnalysisState,
  latest: { readonly current: Workflow },
  set: (analysis: WorkflowAnalysis) => void,
): Promise<void> {
  if (state.isBusy) return;
  state.isBusy = true;
  try {
    while (state.analysed === undefined || !isAnalysedAlike(state.analysed, latest.current)) {
      const workflow = latest.current;
      state.analysed = workflow;
      const analysis = await analysisOf(state, workflow, calls);
      startTransition(() => set(analysis));
    }
  } finally {
    state.isBusy = false;
  }
}
