import { keyOfContent } from '../../messages/index.ts';
import { FreeResources, isEmptyRequest } from '../../resources/index.ts';
import { invariant } from '../../shared/index.ts';
import type { AgentState, HeldReplica } from './state.ts';

/** @throws {InvariantError} when the state contradicts itself. */
export function checkInvariants(state: AgentState): void {
  checkSlots(state);
  checkResources(state);
  checkRunners(state);
  checkQueue(state);
  checkContents(state);
  checkReports(state);
  for (const replica of state.replicas.values()) checkReplica(state, replica);
}

function checkSlots(state: AgentState): void {
  const slots = [...state.freeSlots, ...[...state.replicas.values()].flatMap((replica) => [...replica.slots])].sort(
    (a, b) => a - b,
  );
  invariant(
    slots.length === state.options.processors && slots.every((slot, index) => slot === index),
    () => `slots ${slots.join()} are not each held once`,
  );
}

/** What is free and what replicas hold make up the capacity, device by device. */
function checkResources(state: AgentState): void {
  const { freeResources } = state;
  freeResources.check('the machine');
  const left = new FreeResources(freeResources.capacity);
  for (const { start, status, template, assignment } of state.replicas.values()) {
    const { replicaId } = start;
    const holdsAny = status !== 'dispatched' && !isEmptyRequest(template.resources);
    invariant(holdsAny === (assignment !== undefined), () => `replica ${replicaId} is ${status} without its resources`);
    if (assignment === undefined) continue;
    invariant(left.takeAgain(assignment), () => `replica ${replicaId} holds resources that others hold too`);
  }
  for (const { key, assignment, idleSince } of state.runners)
    if (assignment !== undefined && idleSince !== undefined)
      invariant(left.takeAgain(assignment), () => `idle runner ${key} holds resources that others hold too`);
  invariant(
    left.memory === freeResources.memory &&
      left.devices.every((share, index) => share === freeResources.devices[index]) &&
      Object.keys(left.capacity.named).every((name) => left.amountOf(name) === freeResources.amountOf(name)),
    () => 'resources are neither free nor held by a replica',
  );
}

/** A runner is one replica's, or it is idle and its processors are free; no two share a processor. */
function checkRunners(state: AgentState): void {
  const seen = new Set<number>();
  for (const runner of state.runners) {
    const users = [...state.replicas.values()].filter((replica) => replica.runner === runner);
    invariant(
      users.length === (runner.idleSince === undefined ? 1 : 0),
      () => `runner ${runner.key} has ${users.length} tasks and is idle since ${runner.idleSince}`,
    );
    for (const user of users)
      invariant(
        user.slots.join() === runner.slots.join() && user.assignment === runner.assignment,
        () => `replica ${user.start.replicaId} holds other things than its runner`,
      );
    for (const slot of runner.slots) {
      invariant(!seen.has(slot), () => `slot ${slot} has two runners`);
      invariant(
        state.freeSlots.includes(slot) === (runner.idleSince !== undefined),
        () => `slot ${slot} is free and its runner is not, or the other way round`,
      );
      seen.add(slot);
    }
  }
  for (const { start, runner } of state.replicas.values())
    invariant(
      runner === undefined || state.runners.includes(runner),
      () => `replica ${start.replicaId} has a runner that is gone`,
    );
}

function checkQueue(state: AgentState): void {
  const dispatchedCount = [...state.replicas.values()].filter((replica) => replica.status === 'dispatched').length;
  invariant(
    dispatchedCount === state.queue.length,
    () => `${dispatchedCount} replicas are placed and ${state.queue.length} queued`,
  );
  for (const replica of state.queue) {
    invariant(
      state.replicas.get(replica.start.replicaId) === replica && replica.status === 'dispatched',
      () => `replica ${replica.start.replicaId} is queued and not placed`,
    );
  }
  const unaskedCount = state.queue.filter((replica) => !replica.isAsked).length;
  invariant(
    unaskedCount === state.unaskedCount,
    () => `${unaskedCount} replicas have not asked; counted ${state.unaskedCount}`,
  );
}

function checkContents(state: AgentState): void {
  let bytes = 0;
  for (const [key, held] of state.contents) {
    bytes += held.content.size;
    invariant(held.users.size > 0, () => `nobody needs content ${key}`);
    for (const replicaId of held.users)
      invariant(state.replicas.has(replicaId), () => `replica ${replicaId} needs content ${key} and has ended`);
  }
  invariant(bytes === state.contentBytes, () => `contents of ${bytes} bytes; counted ${state.contentBytes}`);
  invariant(
    bytes <= state.options.contentBytesMax,
    () => `contents of ${bytes} bytes; at most ${state.options.contentBytesMax} are held`,
  );
}

function checkReports(state: AgentState): void {
  const ends = [
    ...state.reports.flatMap((report) => [...report.ended]),
    ...state.unreportedEnds,
    ...state.unsureEnds.map(({ end }) => end),
  ];
  invariant(
    ends.length === state.endedIds.size,
    () => `${ends.length} ends are kept for ${state.endedIds.size} replicas`,
  );
  for (const end of ends) {
    invariant(state.endedIds.has(end.replicaId), () => `the end of replica ${end.replicaId} is kept twice`);
    invariant(!state.replicas.has(end.replicaId), () => `replica ${end.replicaId} is held and ended`);
  }
  for (const { end, sureAt } of state.unsureEnds)
    invariant(
      sureAt >= state.earliestSure,
      () => `the end of replica ${end.replicaId} is sure at ${sureAt}, before the earliest`,
    );
  for (const { replicaId } of state.unreportedHolds)
    invariant(
      state.replicas.get(replicaId)?.status === 'held',
      () => `replica ${replicaId} must be reported as ready, and is not held`,
    );
  for (const [index, report] of state.reports.entries()) {
    invariant(
      report.sequence === state.nextSequence - state.reports.length + index,
      () => `report ${report.sequence} is out of sequence`,
    );
  }
}

function checkReplica(state: AgentState, replica: HeldReplica): void {
  const { replicaId } = replica.start;
  const isDispatched = replica.status === 'dispatched';
  invariant(
    replica.slots.length === (isDispatched ? 0 : replica.template.processors),
    () => `replica ${replicaId} holds ${replica.slots.length} processors`,
  );
  invariant(
    replica.startedAt > 0 === (replica.status === 'running' || replica.status === 'ending'),
    () => `replica ${replicaId} started at ${replica.startedAt}`,
  );
  invariant(
    replica.status !== 'held' || replica.start.gang !== undefined,
    () => `replica ${replicaId} is held and a member of no gang`,
  );
  invariant(
    replica.start.gang === undefined || replica.members.length > 0 === replica.startedAt > 0,
    () => `replica ${replicaId} started at ${replica.startedAt} in a gang of ${replica.members.length} known members`,
  );
  invariant(
    isDispatched || replica.missingCount === 0,
    () => `replica ${replicaId} went on without ${replica.missingCount} contents`,
  );
  const keys = new Set(replica.start.inputs.map((input) => keyOfContent(input.content)));
  const missing = [...keys].filter((key) => state.contents.get(key)?.isHere !== true).length;
  if (replica.isAsked && !replica.template.noOp)
    invariant(
      missing === replica.missingCount,
      () => `replica ${replicaId} lacks ${missing} contents; counted ${replica.missingCount}`,
    );
  if (replica.deadline === undefined) return;
  invariant(replica.status === 'running', () => `replica ${replicaId} is ${replica.status} and has a deadline`);
  invariant(replica.deadline >= state.earliestDeadline, () => `replica ${replicaId} is due before the earliest`);
}
