import { analyse, type AnalysisReply, type AnalysisWish } from '../../model/workflow/analysis.ts';
import { layOut, type LayoutPlaces, type LayoutWish } from '../../model/workflow/layout.ts';

/** What is computed beside the page, and what it is computed from. */
export type WorkflowWork =
  | { readonly kind: 'layout'; readonly wish: LayoutWish }
  | { readonly kind: 'analysis'; readonly wish: AnalysisWish };
export interface WorkflowWorkReplies {
  readonly layout: LayoutPlaces;
  readonly analysis: AnalysisReply;
}

// The types of the page know a window and no worker; of the worker only these two are needed.
const worker = globalThis as unknown as {
  onmessage: (event: MessageEvent<WorkflowWork>) => void;
  postMessage: (reply: unknown) => void;
};
worker.onmessage = ({ data }) => worker.postMessage(data.kind === 'layout' ? layOut(data.wish) : analyse(data.wish));
