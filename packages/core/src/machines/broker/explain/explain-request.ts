import type { AllocationRequest, RequestCandidate } from '../../../messages/index.ts';
import type { Reason } from '../../../reasons/index.ts';
import type { Instant } from '../../../shared/index.ts';
import { type Explanation, listedMax } from './explanation.ts';
import { explainAssignedAt } from './explain-site-selection.ts';
import { isLiveRequest } from '../queries.ts';
import { countReadySoon } from '../demand/ready-soon.ts';
import type { BrokerState } from '../state.ts';

/** Explains the status of a request, by its name `<provider>/<number>`; undefined if there is none. */
export function explainRequest(state: BrokerState, name: string, now: Instant): Explanation | undefined {
  const request = state.requests.get(name);
  if (request === undefined) return undefined;
  const machines = [...state.machines.values()].filter((machine) => machine.account.key === name);
  const machineIds = machines.map(({ facts }) => facts.machineId).slice(0, listedMax);
  const held: Reason[] = machines.length === 0 ? [] : [{ code: 'request-machines', machineIds }];
  const { heuristic } = request;
  const chooser: Reason[] = heuristic === '' ? [] : [{ code: 'request-heuristic', heuristic }];
  const placed = isLiveRequest(request) && isBeside(request) ? explainAssignedAt(state, request.providerId) : [];
  const soon = isLiveRequest(request) && isBeside(request) ? describeSoon(state, now) : [];
  const candidates = (request.candidates ?? []).map((candidate) => describeCandidate(candidate, now));
  return {
    summary: describeRequest(request, now),
    details: [...describeThen(request, now), ...chooser, ...held, ...placed, ...soon, ...candidates],
  };
}

/** The reasons for its size, which are of the time when it was requested. */
function describeThen({ reasons, submittedAt }: AllocationRequest, now: Instant): readonly Reason[] {
  if (reasons.length === 0 || submittedAt === 0) return reasons;
  return [{ code: 'request-reasons-then', sinceMs: Math.max(0, now - submittedAt) }, ...reasons];
}

/** What keeps machines that would idle between two levels of a workflow. */
function describeSoon(state: BrokerState, now: Instant): Reason[] {
  return [...state.openJobs.values()]
    .filter(({ status }) => status === 'running')
    .flatMap((job): Reason[] => {
      const tasks = [...countReadySoon({ state, now }, job).values()].reduce((sum, one) => sum + one, 0);
      return tasks === 0 ? [] : [{ code: 'request-kept-for-tasks', jobId: job.jobId, tasks }];
    })
    .slice(0, listedMax);
}

/**
 * Requests that have not ended, one reason each, followed by the reasons for their size; those that are inside no
 * reservation, unless others are meant.
 */
export function describeRequests(
  state: BrokerState,
  now: Instant,
  isMeant: (request: AllocationRequest) => boolean = isBeside,
): Reason[] {
  return [...state.requests.values()]
    .filter((request) => isLiveRequest(request) && isMeant(request))
    .slice(0, listedMax)
    .flatMap((request) => [describeRequest(request, now), ...request.reasons]);
}

/**
 * What became of the last request of a provider that ended since a moment, with the last words of what failed there;
 * nothing where none did.
 */
export function describeLastRequest(
  state: BrokerState,
  { providerId, since, now }: { readonly providerId: string; readonly since: Instant; readonly now: Instant },
): Reason[] {
  const ended = [...state.requests.values()].filter(
    (request) => request.providerId === providerId && request.endedAt >= since && isBeside(request),
  );
  const last = ended.reduce<AllocationRequest | undefined>(
    (latest, one) => (latest === undefined || one.endedAt >= latest.endedAt ? one : latest),
    undefined,
  );
  return last === undefined ? [] : [describeRequest(last, now), ...last.reasons.slice(-1)];
}

function isBeside({ reservation }: AllocationRequest): boolean {
  return reservation === undefined;
}

function describeCandidate({ width, walltime, startsAt, throughput, chosen }: RequestCandidate, now: Instant): Reason {
  return {
    code: 'request-candidate',
    isChosen: chosen,
    processors: width,
    walltimeMs: walltime,
    startMs: startsAt - now,
    tasksPerHour: throughput,
  };
}

function describeRequest(request: AllocationRequest, now: Instant): Reason {
  const { providerId, requestId, width, walltime, status, submittedAt, startedAt, endedAt, reservation } = request;
  const began = status === 'running' ? startedAt : submittedAt;
  const since = endedAt === 0 ? began : endedAt;
  return {
    code: 'request-status',
    requestName: `${providerId}/${requestId}`,
    processors: width,
    walltimeMs: walltime,
    status,
    ...(since === 0 ? {} : { sinceMs: Math.max(0, now - since) }),
    ...(reservation === undefined ? {} : { reservationId: reservation.reservationId }),
  };
}
