export type { ConnectEvents, EventConnection, Publication } from './connection.ts';
export { createPublisher, measurePublisher, type PublisherSetup } from './create-publisher.ts';
export type { EventPublisher } from './event-publisher.ts';
export { natsEvents, type NatsOptions } from './nats.ts';
export { findNatsOptions, type NatsConfig } from './nats-options.ts';
