import type { Beginning } from '../../debugging-trace/index.ts';
import type { Instant } from '../../shared/index.ts';
import type { BrokerOptions } from './options.ts';
import { restore } from './restore.ts';
import { resume } from './resume.ts';
import { snapshot } from './snapshot.ts';
import type { BrokerState } from './state.ts';

/**
 * Describes a state as read from its journal, before `resume` and any step, for the header of a trace. Cost: that of a
 * snapshot.
 */
export function saveBrokerInitialState(state: BrokerState): Beginning {
  return { options: { ...state.options }, state: JSON.parse(snapshot(state)) };
}

/**
 * Makes the state that was saved, resumed at `at`. @throws {InvariantError} for a scheduler or a snapshot that this
 * release does not know.
 */
export function openBrokerInitialState(saved: Beginning, at: Instant): BrokerState {
  const state = restore(JSON.stringify(saved.state), saved.options as BrokerOptions);
  resume(state, at);
  return state;
}
