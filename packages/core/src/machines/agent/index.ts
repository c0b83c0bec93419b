import type { Machine } from '../../shared/index.ts';
import type { AgentChange } from './changes.ts';
import { checkInvariants } from './check-invariants.ts';
import type { AgentCommand } from './commands.ts';
import type { AgentInput } from './inputs.ts';
import type { AgentState } from './state.ts';
import { step } from './step.ts';

export { openAgentInitialState, saveAgentInitialState } from './beginning.ts';
export type { AgentChange } from './changes.ts';
export type { AgentCommand } from './commands.ts';
export { noResult } from './end-replica.ts';
export type { AgentInput } from './inputs.ts';
export {
  createAgentState,
  getSlot,
  isHeldReplica,
  listHeldReplicas,
  type AgentOptions,
  type AgentState,
  type EndHold,
  type HeldReplica,
  type HeldStatus,
  type ProcessResult,
  type ResidentRunner,
  type Verdict,
} from './state.ts';

/**
 * What one agent does with the processors of its machine. It journals nothing: the broker runs the replicas of a lost
 * agent elsewhere.
 */
export const agentMachine: Machine<AgentState, AgentInput, AgentChange, AgentCommand> = {
  step,
  apply: () => undefined,
  checkInvariants,
};
