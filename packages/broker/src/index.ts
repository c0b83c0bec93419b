export { startBroker, type BrokerSetup, type RunningBroker } from './process/start-broker.ts';
