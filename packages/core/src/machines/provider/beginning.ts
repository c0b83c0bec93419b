import type { Beginning } from '../../debugging-trace/index.ts';
import { serializeProvider, deserializeProvider, type ProviderSnapshot } from './snapshot.ts';
import type { ProviderConfig, ProviderState } from './state.ts';

/** Describes a state as its journal told it, before any step, for the head of a trace. */
export function saveProviderBeginning(state: ProviderState): Beginning {
  return { options: state.config, state: serializeProvider(state) };
}

/** Makes the state that was saved. */
export function openProviderBeginning(saved: Beginning): ProviderState {
  return deserializeProvider(saved.options as ProviderConfig, saved.state as ProviderSnapshot);
}
