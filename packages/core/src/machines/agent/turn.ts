import type { Instant } from '../../shared/index.ts';
import type { AgentCommand } from './commands.ts';
import type { AgentState } from './state.ts';

/** One call of `step`: its input, and what it has decided so far. */
export class Turn {
  readonly state: AgentState;
  readonly now: Instant;
  readonly commands: AgentCommand[] = [];

  constructor(state: AgentState, now: Instant) {
    this.state = state;
    this.now = now;
  }
}
