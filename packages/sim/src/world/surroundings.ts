import type { Duration } from '@mutirao/core/shared';
import type { Life } from './host.ts';
import type { Kernel } from './kernel.ts';
import type { LeaseOracle } from './lease-oracle.ts';
import type { WorldTurn } from './machine-process.ts';
import type { Pace } from './pace.ts';
import type { Truth } from './truth.ts';

/** What every process of a world shares. */
export interface Surroundings {
  readonly kernel: Kernel;
  readonly truth: Truth;
  readonly leases: LeaseOracle;
  /** Whether things go wrong. */
  readonly isStormy: boolean;
  /** Longest time from an input to the turn that takes it. */
  readonly turnDelayMax: Duration;
  readonly pace: Pace;
  /** Whether brokers report how many tasks have no place. */
  readonly reportsUnplaced: boolean;
  /** Of an agent's staging or collecting to fail now. */
  readonly choreFailureProbability: number;
  /** Of a task that must end to be stuck in the kernel now. */
  readonly stuckTaskProbability: number;
  /** Receives every turn of every process. */
  onTurn(turn: WorldTurn): void;
  /** Is called when the changes of the last turn of a process are in its journal. */
  onCommitted(process: string): void;
  /** An error that ended a process: a full disk ends it, anything else ends the world. */
  endOrFail(life: Life, error: unknown): void;
}
