export type { Bytes, Duration, Instant, ProcessorCount, ProcessorMillis } from './units.ts';
export type { JobId, MachineId, ProviderId, ReplicaId, RequestId, TaskIndex, UserId } from './ids.ts';
export { InvariantError, invariant, unreachable } from './invariant.ts';
export type { Decision, DriverCommand, Machine, Reply } from './machine.ts';
export { Heap } from './heap.ts';
export { Prng } from './prng.ts';
export { findNearestWord } from './nearest-word.ts';
export { IndexSet, type IndexRange } from './index-set.ts';
export { describeBytes, describeExactTime, describeTime, plural } from './sentences.ts';
