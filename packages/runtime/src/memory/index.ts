export { InFlightBytes } from './in-flight-bytes.ts';
