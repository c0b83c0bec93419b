import type { DriverCommand, Instant, ProcessorCount } from '../../shared/index.ts';

/** What the cluster's driver must do, in order. */
export type ClusterCommand =
  | DriverCommand
  /** Starts the command `width` times; each is answered by one ProcessExited. */
  | {
      readonly kind: 'StartProcesses';
      readonly requestId: number;
      readonly width: ProcessorCount;
      readonly command: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly workingDirectory: string;
      readonly walltimeEnd: Instant;
    }
  /** Asks a request's processes to end and, after a grace, makes them. */
  | { readonly kind: 'KillProcesses'; readonly requestId: number };
