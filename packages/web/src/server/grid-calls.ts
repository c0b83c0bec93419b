import type { BrokerClient, ProviderClient, ReservationClient } from '@mutirao/runtime/clients';

/** What the gateway asks of a broker; each call rejects with a MutiraoError. */
export type BrokerCalls = Pick<
  BrokerClient,
  | 'submitJob'
  | 'getJob'
  | 'listJobs'
  | 'cancelJob'
  | 'cancelTasks'
  | 'holdTasks'
  | 'releaseTasks'
  | 'updateJob'
  | 'closeJob'
  | 'retryTasks'
  | 'watchJob'
  | 'listTasks'
  | 'getTaskOutput'
  | 'tailTaskOutput'
  | 'getOverview'
  | 'listMachines'
  | 'listRequests'
  | 'explain'
  | 'getLedger'
  | 'listProviders'
  | 'getProviderQueue'
  | 'uploadBlob'
>;

/** What it asks of a provider. */
export type ProviderCalls = Pick<ProviderClient, 'getResource' | 'listRequests'>;

/** What it asks of a reservation manager. */
export type ReservationCalls = Pick<
  ReservationClient,
  | 'listResources'
  | 'getCalendar'
  | 'listReservations'
  | 'requestReservation'
  | 'renegotiateReservation'
  | 'cancelReservation'
>;

/** The grid that the page shows; a test gives it fakes. Nothing is dialled before it is asked. */
export interface Grid {
  /** @throws {MutiraoError} MUT_UNREACHABLE where no broker has started. */
  broker(): BrokerCalls;
  /** Its address, as far as it is known; empty while none has started. */
  brokerAddress(): string;
  provider(address: string): ProviderCalls;
  /** Undefined where the home folder has no reservation manager. */
  findReservations(): ReservationCalls | undefined;
}

/** What handlers work with. */
export interface GatewayParts {
  readonly grid: Grid;
  readonly clock: { now(): number };
  readonly userId: string;
  readonly home: string;
  /** How a shell starts the command line of this grid. */
  readonly program: string;
  /** Where relative paths of jobs begin. Absolute. */
  readonly directory: string;
  readonly version: string;
}
