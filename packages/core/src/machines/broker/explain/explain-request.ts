import type { AllocationRequest, RequestCandidate } from '../../../messages/index.ts';
import type { Instant } from '../../../shared/index.ts';
import { type Explanation, listedMax } from './explanation.ts';
import { explainPlacedAt } from './explain-placement.ts';
import { isLiveRequest } from '../queries.ts';
import { describeTime, plural } from './sentences.ts';
import { countReadySoon } from '../demand/ready-soon.ts';
import type { BrokerState } from '../state.ts';

/** Says why a request is what it is, by its name `<provider>/<number>`; undefined where there is none. */
export function explainRequest(state: BrokerState, name: string, now: Instant): Explanation | undefined {
  const request = state.requests.get(name);
  if (request === undefined) return undefined;
  const machines = [...state.machines.values()].filter((machine) => machine.account.key === name);
  const held =
    machines.length === 0
      ? []
      : [
          `Its machines here: ${machines
            .map(({ facts }) => facts.machineId)
            .slice(0, listedMax)
            .join(', ')}.`,
        ];
  const heuristic = request.heuristic === '' ? [] : [`The ${request.heuristic} heuristic chose its size.`];
  const placed = isLiveRequest(request) && isBeside(request) ? explainPlacedAt(state, request.providerId) : [];
  const soon = isLiveRequest(request) && isBeside(request) ? describeSoon(state, now) : [];
  const candidates = (request.candidates ?? []).map((candidate) => describeCandidate(candidate, now));
  return {
    summary: describeRequest(request, now),
    details: [...request.reasons, ...heuristic, ...held, ...placed, ...soon, ...candidates],
  };
}

/** What keeps machines that would idle between two levels of a workflow. */
function describeSoon(state: BrokerState, now: Instant): string[] {
  return [...state.openJobs.values()]
    .filter(({ status }) => status === 'running')
    .flatMap((job) => {
      const count = [...countReadySoon({ state, now }, job).values()].reduce((sum, one) => sum + one, 0);
      return count === 0
        ? []
        : [
            `${plural(count, 'task')} of job ${job.jobId} ${count === 1 ? 'becomes' : 'become'} ready soon, ` +
              `since what ${count === 1 ? 'it waits' : 'they wait'} for is near its end: processors that idle ` +
              'meanwhile are kept.',
          ];
    })
    .slice(0, listedMax);
}

/**
 * Requests that have not ended, one sentence each, followed by the reasons for their size; those that are inside no
 * reservation, unless others are meant.
 */
export function describeRequests(
  state: BrokerState,
  now: Instant,
  isMeant: (request: AllocationRequest) => boolean = isBeside,
): string[] {
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
): string[] {
  const ended = [...state.requests.values()].filter(
    (request) => request.providerId === providerId && request.endedAt >= since && isBeside(request),
  );
  const last = ended.reduce<AllocationRequest | undefined>(
    (latest, one) => (latest === undefined || one.endedAt >= latest.endedAt ? one : latest),
    undefined,
  );
  return last === undefined ? [] : [`The last ${describeRequest(last, now)} ${last.reasons.at(-1) ?? ''}`.trimEnd()];
}

function isBeside({ reservation }: AllocationRequest): boolean {
  return reservation === undefined;
}

function describeCandidate({ width, walltime, startsAt, throughput, chosen }: RequestCandidate, now: Instant): string {
  const when = startsAt > now ? `in ${describeTime(startsAt - now)}` : `${describeTime(now - startsAt)} ago`;
  return (
    `Candidate${chosen ? ', chosen' : ''}: ${plural(width, 'processor')} for ${describeTime(walltime)}, to start ` +
    `${when}, ${Math.round(throughput * 100) / 100} tasks an hour.`
  );
}

function describeRequest(request: AllocationRequest, now: Instant): string {
  const { providerId, requestId, width, walltime, status, submittedAt, startedAt, endedAt } = request;
  const inside = request.reservation === undefined ? '' : ` inside reservation ${request.reservation.reservationId}`;
  const name = `request ${providerId}/${requestId} for ${plural(width, 'processor')} and ${describeTime(walltime)}${inside}`;
  if (endedAt !== 0) return `${name} is ${status}, since ${describeTime(Math.max(0, now - endedAt))}.`;
  const since = status === 'running' ? startedAt : submittedAt;
  const how = since === 0 ? '' : ` for ${describeTime(Math.max(0, now - since))}`;
  return `${name} is ${status}${how}.`;
}
