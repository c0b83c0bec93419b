import type { NodeGrant } from '../../queue/index.ts';
import type { DriverCommand, Instant, ProcessorCount } from '../../shared/index.ts';

/** What the cluster's driver must do, in order. */
export type ClusterCommand =
  | DriverCommand
  /**
   * Starts the command once for each grant, or `width` times without grants; each is answered by one ProcessExited.
   */
  | {
      readonly kind: 'StartProcesses';
      readonly requestId: number;
      readonly width: ProcessorCount;
      readonly command: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly workingDirectory: string;
      readonly walltimeEnd: Instant;
      /** By the index of the process; left out in a cluster of processors. */
      readonly grants?: readonly NodeGrant[];
    }
  /** Asks a request's processes to end and, after a grace, makes them. */
  | { readonly kind: 'KillProcesses'; readonly requestId: number };
