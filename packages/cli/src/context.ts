import type { BrokerClient, ClusterClient, ProviderClient, ReservationClient } from '@mutirao/runtime/clients';
import type { ExitStatus } from './exit-status.ts';
import type { Output } from './output/output.ts';

/** What a command has to do with; a test gives it fakes. */
export interface CommandContext {
  readonly output: Output;
  /** The words after `--`, as they were given. */
  readonly passedOn: readonly string[] | undefined;
  /** The folder that relative paths start from; absolute. */
  readonly directory: string;
  /** MUTIRAO_HOME; absolute. */
  readonly home: string;
  /** Fires at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  readonly clock: { now(): number };
  /**
   * The broker of this home, or the one that the user names. @throws {MutiraoError} MUT_UNREACHABLE when none is known.
   */
  broker(): Promise<BrokerClient>;
  /** The same for another home folder, and for the broker that has started there. */
  at(home: string): CommandContext;
  /** The provider at an address. */
  provider(address: string): Promise<ProviderClient>;
  /** The embedded cluster at an address. */
  cluster(address: string): Promise<ClusterClient>;
  /** The reservation manager at an address. */
  reservations(address: string): Promise<ReservationClient>;
  /** Waits for this time, or until `signal` fires. */
  sleep(durationMs: number): Promise<void>;
}

/** Hands a command's work to the program, which gives it a context and keeps its exit status. */
export type Act = (work: (context: CommandContext) => Promise<ExitStatus>) => Promise<void>;

/** Options that every command takes. */
export interface CommonOptions {
  readonly json?: true;
  readonly quiet?: true;
  readonly broker?: string;
  readonly home?: string;
}

/** Makes what a command works with; `close` ends its connections. */
export type ContextMaker = (
  output: Output,
  options: CommonOptions,
  passedOn: readonly string[] | undefined,
) => Promise<{ readonly context: CommandContext; close(): void }>;
