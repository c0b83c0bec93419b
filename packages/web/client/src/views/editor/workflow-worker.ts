import { analyse, type AnalysisReply, type AnalysisSpec } from '../../model/workflow/analysis.ts';
import { layOut, type LayoutPlaces, type LayoutSpec } from '../../model/workflow/layout.ts';

/** The calls of the worker, with their data. */
export type WorkflowWork =
  | { readonly kind: 'layout'; readonly spec: LayoutSpec }
  | { readonly kind: 'analysis'; readonly spec: AnalysisSpec };
export interface WorkflowWorkReplies {
  readonly layout: LayoutPlaces;
  readonly analysis: AnalysisReply;
}

// The types of the page know a window and no worker; of the worker only these two are needed.
const worker = globalThis as unknown as {
  onmessage: (event: MessageEvent<WorkflowWork>) => void;
  postMessage: (reply: unknown) => void;
};
worker.onmessage = ({ data }) => worker.postMessage(data.kind === 'layout' ? layOut(data.spec) : analyse(data.spec));
