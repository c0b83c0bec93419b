import { countIn, invariant } from '../../shared/index.ts';
import { keptKey } from './spooled-lease.ts';
import { isPending, isServing, type OwnRequest, type ProviderState } from './state.ts';

/** @throws {InvariantError} when the state contradicts itself. */
export function checkInvariants(state: ProviderState): void {
  const pendingCount = [...state.requests.values()].filter(isPending).length;
  invariant(
    pendingCount <= state.requestsMaxSeen,
    () => `${pendingCount} requests are pending; the resource allows ${state.requestsMaxSeen}`,
  );
  for (const request of state.requests.values()) checkRequest(state, request);
  checkMachines(state);
  for (const id of state.reportedProvisioning.keys())
    invariant(
      state.windows.has(id),
      () => `provisioning of reservation ${id} was reported, and the reservation is not known`,
    );
  checkLeases(state);
}

/** Started replicas are leased, and spooled reports are complete and in order. */
function checkLeases(state: ProviderState): void {
  for (const { brokerId, lease, standbySince, connectionId } of state.brokers.values()) {
    invariant(
      standbySince === 0 || (lease !== undefined && connectionId === 0),
      () => `the provider is standby of broker ${brokerId}, which is there or leased nothing`,
    );
    if (lease === undefined) continue;
    const counted = lease.startedCounts.reduce((sum, count) => sum + count, 0);
    invariant(
      counted === lease.started.size,
      () => `${counted} replicas of the lease of ${brokerId} are counted as started; they are ${lease.started.size}`,
    );
    lease.outline.groups.forEach(({ replicas }, index) => {
      const [started = 0, count] = [lease.startedCounts[index], countIn(replicas)];
      invariant(
        started >= 0 && started <= count,
        () => `${started} of ${count} replicas of group ${index} of the lease of ${brokerId} are started`,
      );
    });
  }
  checkKept(state);
}

function checkKept(state: ProviderState): void {
  let bytes = 0;
  for (const [key, { facts, brokerId, reports }] of state.kept) {
    invariant(
      key === keptKey(facts) && state.brokers.has(brokerId) && reports.length > 0,
      () => `reports of ${facts.machineId} are kept for nobody, or there are none`,
    );
    let before = 0;
    for (const report of reports) {
      invariant(
        report.sequence > before,
        () => `report ${report.sequence} of ${facts.machineId} is kept after ${before}`,
      );
      before = report.sequence;
      bytes += report.bytes;
    }
  }
  invariant(bytes === state.keptBytes, () => `${bytes} bytes of reports are kept, and ${state.keptBytes} counted`);
}

function checkRequest(state: ProviderState, request: OwnRequest): void {
  const { requestId, status } = request;
  invariant(
    state.brokers.has(request.brokerId) ||
      (request.brokerId === '' && request.heldFor !== undefined && request.reservation === undefined),
    () => `request ${requestId} is of broker ${request.brokerId}, which is not known`,
  );
  invariant(
    Number(requestId.slice(1)) < state.nextRequestNumber,
    () => `request ${requestId} is numbered above the next number ${state.nextRequestNumber}`,
  );
  invariant(
    request.width >= 1 && request.walltime >= 1,
    () => `request ${requestId} asks for ${request.width} processors and ${request.walltime} ms`,
  );
  invariant(
    isPending(request) === (request.endedAt === 0),
    () => `request ${requestId} is ${status} and ended at ${request.endedAt}`,
  );
  invariant(
    request.heldFor === undefined || request.heldFor.startsAt < request.heldFor.endsAt,
    () => `request ${requestId} is held for a reservation that ends before it starts`,
  );
  invariant(status !== 'running' || request.startedAt > 0, () => `request ${requestId} runs and never started`);
  invariant(request.reasons.length > 0, () => `request ${requestId} has no reason`);
  invariant(
    request.overCode === undefined || (request.reservation !== undefined && !isPending(request)),
    () => `request ${requestId} says that its reservation is over, and has none or goes on`,
  );
  invariant(
    request.unknownSince === 0 || status === 'submitting',
    () => `request ${requestId} is ${status} and unknown`,
  );
}

function checkMachines(state: ProviderState): void {
  const attachments = new Set<number>();
  for (const [machineId, machine] of state.machines) {
    invariant(
      machineId === machine.facts.machineId,
      () => `machine ${machineId} is kept as ${machine.facts.machineId}`,
    );
    invariant(
      (machine.attachmentId === 0) === machine.awaySince > 0,
      () => `machine ${machineId} is attached as ${machine.attachmentId} and away since ${machine.awaySince}`,
    );
    invariant(
      machine.attachmentId === 0 || !attachments.has(machine.attachmentId),
      () => `two machines are attached as ${machine.attachmentId}`,
    );
    attachments.add(machine.attachmentId);
    invariant(
      !machine.isKeeping || (machine.attachmentId !== 0 && machine.reportedConnectionId === 0),
      () => `reports of machine ${machineId} are kept, and it is away or announced`,
    );
    const { requestId } = machine.facts;
    if (requestId === '') continue;
    const request = state.requests.get(requestId);
    invariant(
      request !== undefined && isServing(request),
      () => `machine ${machineId} is of request ${requestId}, which is over`,
    );
    invariant(
      machine.brokerId === request.brokerId,
      () => `machine ${machineId} is offered to ${machine.brokerId}; its request is of ${request.brokerId}`,
    );
  }
}
