import type { AllocationRequest, RequestStatus } from '../../../messages/index.ts';
import { moveInstants, movedBy, type Duration } from '../../../shared/index.ts';
import type { BrokerJob, BrokerMachine, BrokerState } from '../state.ts';

const endedStatuses: ReadonlySet<RequestStatus> = new Set(['ended', 'rejected', 'vanished']);

/**
 * Moves what durations are counted from along with the clock, as far as the journal keeps it. What has ended keeps the
 * times that were shown then.
 */
export function movePromised(state: BrokerState, by: Duration): void {
  for (const machine of state.machines.values()) moveMachine(machine, by);
  for (const [identity, drain] of state.drainedMachines)
    state.drainedMachines.set(identity, { ...drain, since: movedBy(drain.since, by) });
  for (const replica of state.replicas.values()) {
    moveInstants(replica, ['dispatchedAt', 'startedAt'], by);
    if (replica.member?.held !== undefined)
      replica.member.held = { ...replica.member.held, at: movedBy(replica.member.held.at, by) };
  }
  for (const gang of state.gangs.values()) moveInstants(gang, ['dispatchedAt'], by);
  for (const job of state.openJobs.values()) moveJob(job, by);
  for (const [key, request] of state.requests)
    if (!endedStatuses.has(request.status)) state.requests.set(key, moveRequest(request, by));
}

/** The end of an allocation is by the clock of its provider, and so at another time by ours. */
function moveMachine(machine: BrokerMachine, by: Duration): void {
  moveInstants(machine, ['joinedAt'], by);
  const { until } = machine.facts;
  if (until !== undefined) machine.facts = { ...machine.facts, until: movedBy(until, by) };
}

function moveJob(job: BrokerJob, by: Duration): void {
  moveInstants(job, ['submittedAt'], by);
  for (const task of job.tasks.values()) {
    moveInstants(task, ['avoidSince'], by);
    if (task.unjudged !== undefined)
      task.unjudged = task.unjudged.map((loss) => ({ ...loss, at: movedBy(loss.at, by) }));
  }
  for (const [index, place] of job.assigned) {
    job.assigned.set(index, {
      ...place,
      at: movedBy(place.at, by),
      startsBy: place.startsBy === undefined ? undefined : movedBy(place.startsBy, by),
    });
  }
}

function moveRequest(request: AllocationRequest, by: Duration): AllocationRequest {
  const moved = { ...request };
  moveInstants(moved, ['seenAt', 'submittedAt', 'startedAt'], by);
  return moved;
}
