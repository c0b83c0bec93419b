import type { Bytes, Instant, ProcessorCount } from '../shared/index.ts';

/** How a provider has an agent work for a machine. */
export type MachineReach =
  | {
      /** An agent is started there over ssh. */
      readonly kind: 'ssh';
      /** `user@host`, or a name of ssh's configuration. */
      readonly destination: string;
      /** `KEY=VALUE` as of `ssh -o`, or a flag with its value in one word. */
      readonly options: readonly string[];
      /** The program there that is run as `PROGRAM run agent ...`; empty for the one that is carried over. */
      readonly program: readonly string[];
    }
  | {
      /** An agent at the provider drives it by command lines. */
      readonly kind: 'templates';
      /** What `$machine` stands for. */
      readonly machine: string;
      readonly remExec: string;
      readonly copyTo: string;
      readonly copyFrom: string;
    };

/** A time-shared machine that a provider has an agent work for. */
export interface EnrolledMachine {
  /** Its name at the provider; no other has it. */
  readonly name: string;
  readonly reach: MachineReach;
  /** 0 for all that it has. */
  readonly processors: ProcessorCount;
  /** The folder for our files there; empty for the default. */
  readonly folder: string;
  /** For requirements. */
  readonly attributes: Readonly<Record<string, string>>;
  /** What its owner states; left out for what its agent finds, as the next. */
  readonly memory?: Bytes;
  /** How many, of which kind or which: `2`, `2:a100` or `0,3`. */
  readonly gpus?: string;
  /** Counted resources as `NAME=AMOUNT`; left out for none. */
  readonly resources?: readonly string[];
}

/** How a kept machine is. */
export interface EnrolledMachineState {
  readonly machine: EnrolledMachine;
  /** `waiting` for another attempt, after its agent ended or could not be started. */
  readonly status: 'starting' | 'running' | 'waiting';
  /** What was said last of why it does not run; empty before. */
  readonly reason: string;
  readonly since: Instant;
}
