import type { Beginning } from '../../debugging-trace/index.ts';
import { createAgentState, type AgentOptions, type AgentState } from './state.ts';

/** Describes an agent before its first step, for the head of a trace: it always begins with nothing. */
export function saveAgentInitialState({ options }: AgentState): Beginning {
  return { options, state: undefined };
}

/** Makes the state that was saved. */
export function openAgentInitialState(saved: Beginning): AgentState {
  return createAgentState(saved.options as AgentOptions);
}
