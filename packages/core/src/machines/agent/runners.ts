import { runnerProtocolVersion, type TaskTemplate } from '../../messages/index.ts';
import { isEmptyRequest, type ResourceRequest } from '../../resources/index.ts';
import { invariant, type Duration, type Instant } from '../../shared/index.ts';
import type { AgentState, HeldReplica, ResidentRunner } from './state.ts';
import type { Turn } from './turn.ts';

/** Where a replica can start now. */
export interface Place {
  readonly slots: readonly number[];
  /** The idle runner that takes it; undefined where it gets a process of its own, or a new runner. */
  readonly runner: ResidentRunner | undefined;
  /** Idle runners whose processors or resources it needs. */
  readonly ended: readonly ResidentRunner[];
}

/**
 * What replicas must have in common to share a runner; undefined for one that gets a process of its own: also where its
 * runner speaks frames that this release does not, and where the machine keeps none.
 *
 * A runner serves one job of one user. Whatever a process cannot change once it runs is part of the key.
 */
export function findRunnerKey(state: AgentState, { template, start }: HeldReplica): string | undefined {
  const { runner, userId, jobId, homeChallenge = '', processors, resources = null, isForeign = false } = template;
  if (runner === undefined || runner.protocolVersion !== runnerProtocolVersion) return undefined;
  if (state.options.runnerIdleMax === undefined || template.noOp || template.workFolder !== undefined) return undefined;
  if (start.gang !== undefined) return undefined;
  return JSON.stringify([isForeign, userId, homeChallenge, jobId, runner.command, processors, resources]);
}

/**
 * Chooses where a replica starts; undefined while there is no room. It goes to the runner with its key that became idle
 * last, whose memory is warmest. Otherwise it takes processors without a runner first, and then ends runners that have
 * been idle for longest.
 */
export function choosePlace(state: AgentState, replica: HeldReplica): Place | undefined {
  const { processors } = replica.template;
  if (processors > state.freeSlots.length) return undefined;
  const idle = listIdle(state);
  const key = idle.length === 0 ? undefined : findRunnerKey(state, replica);
  const runner = key === undefined ? undefined : idle.findLast((one) => one.key === key);
  if (runner !== undefined) return { slots: runner.slots, runner, ended: [] };
  const occupied = new Set(idle.flatMap(({ slots }) => slots));
  const bare = occupied.size === 0 ? state.freeSlots : state.freeSlots.filter((slot) => !occupied.has(slot));
  return makeRoom(state, replica, { idle, bare });
}

function makeRoom(
  state: AgentState,
  { template }: HeldReplica,
  { idle, bare }: { readonly idle: readonly ResidentRunner[]; readonly bare: readonly number[] },
): Place | undefined {
  const resources = getHeldResources(state, template);
  const slots = [...bare];
  const ended: ResidentRunner[] = [];
  let free = state.freeResources;
  const fits = (): boolean => slots.length >= template.processors && (resources === undefined || free.fits(resources));
  for (const runner of idle) {
    if (fits()) break;
    ended.push(runner);
    // Taken from the end, and so before the others.
    slots.push(...runner.slots);
    if (runner.assignment === undefined) continue;
    free = free.clone();
    free.release(runner.assignment);
  }
  return fits() ? { slots: slots.slice(-template.processors).reverse(), runner: undefined, ended } : undefined;
}

/** Takes a place for a replica: it holds processors and resources from now on. */
export function occupyPlace(turn: Turn, replica: HeldReplica, { slots, runner, ended }: Place): void {
  const { state } = turn;
  for (const one of ended) endRunner(turn, one);
  replica.slots = slots;
  for (const slot of slots) state.freeSlots.splice(state.freeSlots.lastIndexOf(slot), 1);
  if (runner === undefined) return takeResources(state, replica);
  runner.idleSince = undefined;
  replica.runner = runner;
  replica.assignment = runner.assignment;
}

/**
 * The resources that a replica takes here in addition to processors; undefined for none. Memory does not count if the
 * machine's memory is unknown.
 */
export function getHeldResources(state: AgentState, { resources }: TaskTemplate): ResourceRequest | undefined {
  if (resources === undefined || isEmptyRequest(resources)) return undefined;
  return resources.memory > 0 && state.freeResources.capacity.memory === 0 ? { ...resources, memory: 0 } : resources;
}

function takeResources(state: AgentState, replica: HeldReplica): void {
  const resources = getHeldResources(state, replica.template);
  if (resources !== undefined) replica.assignment = state.freeResources.take(resources);
  const key = findRunnerKey(state, replica);
  if (key === undefined) return;
  replica.runner = { key, slots: replica.slots, assignment: replica.assignment, idleSince: undefined };
  state.runners.push(replica.runner);
}

/** Gives back what an ended replica held. Its runner keeps its resources and waits for another task. */
export function leavePlace({ state, now }: Turn, { slots, assignment, runner }: HeldReplica): void {
  for (const slot of slots) state.freeSlots.push(slot);
  if (runner !== undefined) runner.idleSince = now;
  else if (assignment !== undefined) state.freeResources.release(assignment);
}

/** The runner of a replica ended with its task: what both hold is the replica's alone until that has ended. */
export function loseRunner({ state }: Turn, replica: HeldReplica): void {
  state.runners = state.runners.filter((runner) => runner !== replica.runner);
  replica.runner = undefined;
}

/** The process of an idle runner is gone. Stale where it has a task by now: that has started it again. */
export function noteRunnerEnd(turn: Turn, slot: number): void {
  const runner = turn.state.runners.find(({ slots, idleSince }) => slots[0] === slot && idleSince !== undefined);
  if (runner !== undefined) removeIdle(turn, runner);
}

/** Ends idle runners that nobody has used for long; all of them while the agent drains. */
export function endIdleRunners(turn: Turn): void {
  const { state, now } = turn;
  const { runnerIdleMax = 0 } = state.options;
  const { isDraining } = state;
  for (const runner of listIdle(state)) if (isDraining || now >= dueAt(runner, runnerIdleMax)) endRunner(turn, runner);
}

/** Ends all idle runners: those who send tasks from now on may be others than those who sent theirs. */
export function endAllIdle(turn: Turn): void {
  for (const runner of listIdle(turn.state)) endRunner(turn, runner);
}

/** When the first idle runner is due to end; Infinity without any. */
export function nextIdleEnd({ runners, options: { runnerIdleMax = 0 } }: AgentState): Instant {
  return runners.reduce((earliest, runner) => Math.min(earliest, dueAt(runner, runnerIdleMax)), Infinity);
}

/** Ends the idle runners of a cancelled replica's key, unless another replica of that key is here. */
export function endRunnersOf(turn: Turn, replica: HeldReplica): void {
  const { state } = turn;
  if (state.runners.length === 0) return;
  const key = findRunnerKey(state, replica);
  if (key === undefined) return;
  for (const other of state.replicas.values())
    if (other !== replica && other.verdict === undefined && findRunnerKey(state, other) === key) return;
  for (const runner of listIdle(state)) if (runner.key === key) endRunner(turn, runner);
}

function endRunner(turn: Turn, runner: ResidentRunner): void {
  const [slot] = runner.slots;
  invariant(slot !== undefined && runner.idleSince !== undefined, 'a runner is ended that has a task');
  turn.commands.push({ kind: 'EndRunner', slot });
  removeIdle(turn, runner);
}

function removeIdle({ state }: Turn, runner: ResidentRunner): void {
  state.runners = state.runners.filter((other) => other !== runner);
  if (runner.assignment !== undefined) state.freeResources.release(runner.assignment);
}

/** Idle runners, the one that has been idle for longest first. */
function listIdle({ runners }: AgentState): readonly ResidentRunner[] {
  if (runners.length === 0) return runners;
  const idle = runners.filter(({ idleSince }) => idleSince !== undefined);
  return idle.sort((one, other) => (one.idleSince ?? 0) - (other.idleSince ?? 0));
}

function dueAt({ idleSince }: ResidentRunner, idleMax: Duration): Instant {
  return idleSince === undefined ? Infinity : idleSince + idleMax;
}
