import type { Workflow } from '../../../../src/schema/index.ts';
import {
  analyseWorkflow,
  analysisSpec,
  emptyAnalysis,
  namedAnalysis,
  type AnalysisReply,
  type AnalysisSpec,
  type WorkflowAnalysis,
} from './analysis.ts';

/** Holds the worker that analyses in the background; undefined before the first analysis, and after one failed. */
export interface Analyst<W extends { terminate(): void }> {
  worker: W | undefined;
}

/** How a worker is had, and asked; asking fails when the worker does. */
export interface AnalystCalls<W> {
  start(): W;
  ask(worker: W, spec: AnalysisSpec): Promise<AnalysisReply>;
}

/** Has a workflow analysed by the worker, which is started where there is none. */
export async function analysisOf<W extends { terminate(): void }>(
  analyst: Analyst<W>,
  workflow: Workflow,
  { start, ask }: AnalystCalls<W>,
): Promise<WorkflowAnalysis> {
  if (workflow.tasks.length === 0) return emptyAnalysis;
  try {
    analyst.worker ??= start();
    return namedAnalysis(workflow, await ask(analyst.worker, analysisSpec(workflow)));
  } catch {
    // One that failed answers nothing any more, not even that it failed.
    analyst.worker?.terminate();
    analyst.worker = undefined;
    // A browser that starts no worker is slower, and knows the same.
    return analyseWorkflow(workflow);
  }
}
