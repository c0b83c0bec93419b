import type { QueuedRequest, QueueListing } from '@mutirao/core/messages';
import type { RequestFacts, ServedRequest } from '@mutirao/core/requests';

/** A request in a listing: width, walltime and, where it runs or was promised a start, that instant. */
export interface ListedRequest {
  readonly status: 'queued' | 'running';
  readonly width: number;
  readonly walltime: number;
  /** Left out: queued without a promise, or running since `at`. */
  readonly startsAt?: number;
}

/** A listing of requests in the order of arrival; what no running request holds is free. */
export function aListing(processors: number, at: number, requests: readonly ListedRequest[]): QueueListing {
  const held = requests.filter(({ status }) => status === 'running').reduce((sum, { width }) => sum + width, 0);
  return {
    at,
    processorsFree: processors - held,
    requests: requests.map((request, index) => readEntry(request, at, index)),
  };
}

function readEntry({ status, width, walltime, startsAt }: ListedRequest, at: number, index: number): QueuedRequest {
  return {
    managerRequestId: String(index),
    userId: 'local',
    width,
    walltime,
    status,
    submittedAt: index,
    endedAt: 0,
    endReason: '',
    clientRequestId: '',
    startsAt: startsAt ?? (status === 'running' ? at : 0),
  };
}

/**
 * What a heuristic may look at: 10 tasks of 1 processor, and a resource of 8 processors that is idle; limits 2
 * requests, 8 wide, 100 long.
 */
export function someFacts(change: Partial<RequestFacts> = {}): RequestFacts {
  return {
    now: 0,
    limits: { processors: 8, requestsMax: 2, walltimeMax: 100, widthMax: 8, walltimeGranularity: 1 },
    listing: aListing(8, 0, []),
    pending: [],
    served: [],
    demand: { pendingTasks: 10, processors: 1, deadline: undefined },
    taskTimes: undefined,
    ...change,
  };
}

/** An own request that has ended: when it held how many processors, and the time of the tasks that it completed. */
export function aServed(width: number, startedAt: number, endedAt: number, taskTime: number): ServedRequest {
  return { requestId: 'q1', width, walltime: endedAt - startedAt, startedAt, endedAt, taskTime };
}
