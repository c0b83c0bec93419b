export { makeGateway, type Gateway, type GatewayOptions } from './gateway.ts';
export { loopbackHosts } from './guard.ts';
export type { BrokerCalls, Grid, ProviderCalls, ReservationCalls } from './grid-calls.ts';
export { makeStaticFiles, type StaticFiles } from './static-files.ts';
