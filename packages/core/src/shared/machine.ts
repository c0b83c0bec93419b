import type { Refusal } from '../reasons/index.ts';
import type { Instant } from './units.ts';

/**
 * What one step of a machine decided.
 *
 * `changes` are already applied to the state; the driver journals them before it performs any of `commands`, in order.
 */
export interface Decision<Change, Command> {
  readonly changes: Change[];
  readonly commands: Command[];
}

/**
 * A deciding part that keeps state, free of clock, I/O and ambient randomness.
 *
 * `step` decides and applies what it decided through `apply`; replay of a journal calls `apply` alone. So a state is
 * always
 * the sum of its changes, and replay never decides.
 */
export interface Machine<State, Input, Change, Command> {
  /** Takes a batch of inputs, then makes one pass of decisions. Mutates `state`, which has one owner. */
  step(state: State, inputs: readonly Input[], now: Instant): Decision<Change, Command>;
  /** Makes one change to the state. Idempotence is not needed: each change is applied once. */
  apply(state: State, change: Change): void;
  /** @throws {InvariantError} when the state contradicts itself. Cost: the size of the state. */
  checkInvariants(state: State): void;
}

/** Commands that every driver understands by itself. */
export type DriverCommand =
  /** Answers the caller whose input carried `replyTo`. */
  | { readonly kind: 'Reply'; readonly replyTo: number; readonly reply: Reply }
  /** Delivers `TimerFired` at `at` or soon after. A later WakeAt replaces an earlier one. */
  | { readonly kind: 'WakeAt'; readonly at: Instant };

/** The answer to an input: a value, or a refusal. */
export type Reply = { readonly ok: true; readonly value: unknown } | ({ readonly ok: false } & Refusal);
