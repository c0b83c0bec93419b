import { layOut, type LayoutWish } from '../../model/workflow/layout.ts';

// The types of the page know a window and no worker; of the worker only these two are needed.
const worker = globalThis as unknown as { onmessage: (event: MessageEvent<LayoutWish>) => void; postMessage: (places: unknown) => void };
worker.onmessage = ({ data }) => worker.postMessage(layOut(data));
