import type { Beginning } from '../../debugging-trace/index.ts';
import { takeSnapshot, restoreSnapshot, type ProviderSnapshot } from './snapshot.ts';
import type { ProviderConfig, ProviderState } from './state.ts';

/** Describes a state as read from its journal, before any step, for the header of a trace. */
export function saveProviderInitialState(state: ProviderState): Beginning {
  return { options: state.config, state: takeSnapshot(state) };
}

/** Makes the state that was saved. */
export function openProviderInitialState(saved: Beginning): ProviderState {
  return restoreSnapshot(saved.options as ProviderConfig, saved.state as ProviderSnapshot);
}
