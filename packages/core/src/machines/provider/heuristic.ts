import type { Fault } from '../../reasons/index.ts';
import { findHeuristic, heuristicChoices, type RequestHeuristic } from '../../requests/index.ts';
import { findNearestWord, invariant, type Duration } from '../../shared/index.ts';
import type { HeuristicSetting, ProviderConfig, ProviderState } from './state.ts';
import { commit, type Turn } from './turn.ts';

/** The request heuristic that decides now: the one switched to, else the one that the provider was started with. */
export function heuristicInForce(state: ProviderState): HeuristicSetting {
  return state.switched?.to ?? configuredHeuristic(state);
}

/** The heuristic of that name. */
export function decidingHeuristic(state: ProviderState): RequestHeuristic {
  const { heuristic: name } = heuristicInForce(state);
  const heuristic = find(state.config, name);
  invariant(heuristic !== undefined, `the request heuristic ${name} is not known`);
  return heuristic;
}

/** Whether the heuristic that decides now decides at every event of the queue. */
export function isWatching(state: ProviderState): boolean {
  return (
    state.config.resourceKind === 'cluster' &&
    find(state.config, heuristicInForce(state).heuristic)?.decidesAt === 'queue events'
  );
}

/** Whether a request was made by a heuristic that watches the queue. */
export function isWatched({ config }: ProviderState, heuristic: string): boolean {
  return heuristic !== '' && find(config, heuristic)?.decidesAt === 'queue events';
}

function find({ findHeuristic: own = findHeuristic }: ProviderConfig, name: string): RequestHeuristic | undefined {
  return own(name);
}

/** What the provider was started with. */
function configuredHeuristic({ config }: ProviderState): HeuristicSetting {
  return { heuristic: config.heuristic, defaultTime: config.heuristicOptions.defaultTime };
}

/** A spec for another heuristic. */
export interface HeuristicSpec {
  readonly replyTo: number;
  /** Empty for the one in force. */
  readonly heuristic: string;
  /** Undefined for the one in force. */
  readonly defaultTime: Duration | undefined;
}

/**
 * Switches to another heuristic from this step on; present requests stay. Replies the setting that is then in force.
 */
export function switchHeuristic(turn: Turn, { replyTo, heuristic, defaultTime }: HeuristicSpec): void {
  const { state, now } = turn;
  const before = heuristicInForce(state);
  const to: HeuristicSetting = {
    heuristic: heuristic === '' ? before.heuristic : heuristic,
    defaultTime: defaultTime ?? before.defaultTime,
  };
  const fault = findFault(state, to);
  if (fault !== undefined) {
    turn.commands.push({ kind: 'Reply', replyTo, reply: { ok: false, code: 'MUT_BAD_REQUEST', fault } });
    return;
  }
  // The owner looks after this provider, and may have fixed the cause.
  if (state.refusals + state.emptyAllocationStreak > 0) commit(turn, { kind: 'RefusalsForgotten', at: now });
  if (!isSame(to, before)) commit(turn, { kind: 'HeuristicSwitched', to, over: configuredHeuristic(state), at: now });
  turn.commands.push({ kind: 'Reply', replyTo, reply: { ok: true, value: to } });
}

function findFault({ config }: ProviderState, { heuristic, defaultTime }: HeuristicSetting): Fault | undefined {
  if (config.resourceKind === 'machines') return { code: 'heuristic-without-requests', providerId: config.providerId };
  if (!(defaultTime >= 1)) return { code: 'heuristic-task-time-invalid', taskMs: defaultTime };
  if (find(config, heuristic) !== undefined) return undefined;
  const nearest = findNearestWord(heuristic, heuristicChoices);
  return {
    code: 'heuristic-unknown',
    heuristic,
    names: heuristicChoices,
    ...(nearest === undefined ? {} : { nearest }),
  };
}

/**
 * Lets what the user said last win when the provider starts: a switch outlives a restart, unless the provider is
 * started with another
 * setting than the one that was switched from, or with a heuristic that this release does not have any more.
 */
export function settleHeuristic(turn: Turn): void {
  const { state, now } = turn;
  if (state.switched === undefined) return;
  const { over, to } = state.switched;
  if (isSame(over, configuredHeuristic(state)) && find(state.config, to.heuristic) !== undefined) return;
  commit(turn, { kind: 'HeuristicSwitchForgotten', at: now });
}

function isSame(one: HeuristicSetting, other: HeuristicSetting): boolean {
  return one.heuristic === other.heuristic && one.defaultTime === other.defaultTime;
}
