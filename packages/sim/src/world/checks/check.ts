import type { WorldTurn } from '../machine-process.ts';

/** Looks at a world from outside. Every part throws an InvariantError when it finds something wrong. */
export interface WorldCheck {
  /** Receives a turn before it is journaled and its commands are performed. */
  receive?(turn: WorldTurn): void;
  /** Is called when the changes of the last turn of a process are in its journal. */
  onCommitted?(process: string): void;
  /** Looks at the world between two events; called again and again. */
  look?(): void;
  /** Looks at the world once everything has come to its end. */
  end?(): void;
}
