export type { BrokerClient } from './broker-client.ts';
export type { ClusterClient } from './cluster-client.ts';
export {
  dialBroker,
  dialCluster,
  dialProvider,
  dialReservations,
  type CallSettings,
  type Closable,
} from './grpc-clients.ts';
export { jobsAsked, wholeList, wholeOutput } from './every-page.ts';
export type { ProviderClient } from './provider-client.ts';
export type { ReservationClient } from './reservation-client.ts';
