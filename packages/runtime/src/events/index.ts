export type { ConnectEvents, EventConnection, Publication } from './connection.ts';
export { natsEvents, type NatsOptions } from './nats.ts';
