import type { Machine } from '../../shared/index.ts';
import { apply } from './apply.ts';
import type { KeepingChange } from './changes.ts';
import { checkInvariants } from './check-invariants.ts';
import type { KeepingCommand } from './commands.ts';
import type { KeepingInput } from './inputs.ts';
import type { KeepingState } from './state.ts';
import { step } from './step.ts';

export type { KeepingChange } from './changes.ts';
export type { KeepingCommand } from './commands.ts';
export type { KeepingInput } from './inputs.ts';
export { restoreSnapshot, takeSnapshot, type KeepingSnapshot } from './snapshot.ts';
export { createKeepingState, type KeepingState, type KeptReservation, type KeptStatus } from './state.ts';

/** Keeps reservations at a site that has a manager of its own. */
export const keepingMachine: Machine<KeepingState, KeepingInput, KeepingChange, KeepingCommand> = {
  step,
  apply,
  checkInvariants,
};
