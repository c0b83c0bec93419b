import type { QueueForecast } from '../../requests/index.ts';
import type { Leads } from '../../reservations/index.ts';
import type { Decision, Instant, RequestId } from '../../shared/index.ts';
import { apply } from './apply.ts';
import type { ProviderChange } from './changes.ts';
import type { ProviderCommand } from './commands.ts';
import type { ProviderState } from './state.ts';

/**
 * A step in progress: the state, the changes and commands so far, and the requests that changed and must be reported to
 * brokers.
 */
export interface Turn extends Decision<ProviderChange, ProviderCommand> {
  readonly state: ProviderState;
  readonly now: Instant;
  readonly changedRequestIds: Set<RequestId>;
  /** How long ahead of reservations is asked; left out until it is looked up in this step, after its inputs. */
  leads?: Leads;
  /** Of the queue as it was read in this step; left out until it is asked. */
  forecast?: QueueForecast;
  /** The queue was read again in this step; left out where it was not. */
  hasListing?: true;
  /** That showed processors freed, or requests of others gone; left out where it did not. */
  hasFreed?: true;
}

/** Begins a step. */
export function beginTurn(state: ProviderState, now: Instant): Turn {
  return { state, now, changes: [], commands: [], changedRequestIds: new Set() };
}

/** Makes a change now, and has it journaled before the step's commands are performed. */
export function commit(turn: Turn, change: ProviderChange): void {
  apply(turn.state, change);
  turn.changes.push(change);
  if ('requestId' in change && change.kind !== 'TasksMeasured') turn.changedRequestIds.add(change.requestId);
}
