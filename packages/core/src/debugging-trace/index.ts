export { decodeValue } from './decode-value.ts';
export { encodeValue, withheld } from './encode-value.ts';
export {
  decodeTraceLine,
  encodeTraceLine,
  findTraceVersion,
  tracedMachines,
  traceVersion,
  type Beginning,
  type TracedMachine,
  type TraceHead,
  type TraceLine,
} from './trace-lines.ts';
