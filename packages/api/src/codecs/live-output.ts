import type { Bytes, Duration, ReplicaId } from '@mutirao/core/shared';

import {
  OutputState as OutputStateWire,
  type OutputPart as OutputPartWire,
  type OutputRequest as OutputRequestWire,
} from '../generated/mutirao/machine/v1/machine.ts';
import { asBuffer } from '../wire/bytes.ts';
import { badRequest, boundNumber } from './common.ts';

/** Asks an agent for what a replica's task has written since. */
export interface LiveOutputRequest {
  readonly requestId: number;
  readonly replicaId: ReplicaId;
  readonly standardOutputOffset: Bytes;
  readonly standardErrorOffset: Bytes;
  /** Of each stream. */
  readonly bytesMax: Bytes;
  /** How long the agent waits for something to say. */
  readonly wait: Duration;
}

/**
 * How a replica's task is at its agent. `waiting`: it has not begun, or the report of its end has the rest. `unknown`:
 * the agent does not have it. `unreadable`: the agent cannot read what tasks write before they end.
 */
export type LiveOutputState = 'waiting' | 'running' | 'unknown' | 'unreadable';

/** An agent's answer. */
export interface LiveOutputPart {
  readonly requestId: number;
  readonly replicaId: ReplicaId;
  readonly state: LiveOutputState;
  readonly standardOutput: LiveBytes;
  readonly standardError: LiveBytes;
}

/** Bytes of a stream, and where in it they begin. */
export interface LiveBytes {
  readonly offset: Bytes;
  readonly bytes: Uint8Array;
}

/** Of an agent: it answers requests for output. Of a provider: it passes them on, and answers for an older agent. */
export const outputCapability = 'output';
/** The most bytes of a stream in one part. */
export const partBytesMax: Bytes = 1024 * 1024;
/** The longest time that an agent waits for something to say. */
export const partWaitMax: Duration = 30_000;

const statesOfWire: readonly (LiveOutputState | undefined)[] = [
  undefined,
  'waiting',
  'running',
  'unknown',
  'unreadable',
];
const wireOfStates: Readonly<Record<LiveOutputState, OutputStateWire>> = {
  waiting: OutputStateWire.WAITING,
  running: OutputStateWire.RUNNING,
  unknown: OutputStateWire.UNKNOWN,
  unreadable: OutputStateWire.UNREADABLE,
};

/** Reads what a broker asks for; more than an agent gives is less. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeOutputRequest(wire: OutputRequestWire): LiveOutputRequest {
  return {
    requestId: wire.requestId,
    replicaId: wire.replicaId,
    standardOutputOffset: boundNumber(wire.standardOutputOffset, 'contentBytes', 'standard_output_offset'),
    standardErrorOffset: boundNumber(wire.standardErrorOffset, 'contentBytes', 'standard_error_offset'),
    bytesMax: Math.min(wire.bytesMax, partBytesMax),
    wait: Math.min(wire.waitMs, partWaitMax),
  };
}

/** Writes what a broker asks for. */
export function encodeOutputRequest(request: LiveOutputRequest): OutputRequestWire {
  const { requestId, replicaId, standardOutputOffset, standardErrorOffset, bytesMax, wait } = request;
  return { requestId, replicaId, standardOutputOffset, standardErrorOffset, bytesMax, waitMs: wait };
}

/** Reads an agent's answer. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeOutputPart(wire: OutputPartWire): LiveOutputPart {
  const state = statesOfWire[wire.state];
  if (state === undefined)
    throw badRequest(`output_part.state is ${String(wire.state)}; expected 1 to ${statesOfWire.length - 1}`);
  return {
    requestId: wire.requestId,
    replicaId: wire.replicaId,
    state,
    standardOutput: decodeBytes(wire.standardOutputOffset, wire.standardOutput, 'standard_output'),
    standardError: decodeBytes(wire.standardErrorOffset, wire.standardError, 'standard_error'),
  };
}

function decodeBytes(offset: number, bytes: Uint8Array, name: string): LiveBytes {
  if (bytes.length > partBytesMax)
    throw badRequest(`output_part.${name} has ${bytes.length} bytes; expected ${partBytesMax} at most`);
  return { offset: boundNumber(offset, 'contentBytes', `output_part.${name}_offset`), bytes };
}

/** The answer in the place of a peer that is too old to be asked. */
export function unreadablePart(request: LiveOutputRequest): LiveOutputPart {
  const { requestId, replicaId, standardOutputOffset, standardErrorOffset } = request;
  return {
    requestId,
    replicaId,
    state: 'unreadable',
    standardOutput: { offset: standardOutputOffset, bytes: noBytes },
    standardError: { offset: standardErrorOffset, bytes: noBytes },
  };
}

const noBytes = new Uint8Array(0);

/** Writes an agent's answer. */
export function encodeOutputPart({ standardOutput, standardError, ...part }: LiveOutputPart): OutputPartWire {
  return {
    requestId: part.requestId,
    replicaId: part.replicaId,
    state: wireOfStates[part.state],
    standardOutputOffset: standardOutput.offset,
    standardOutput: asBuffer(standardOutput.bytes),
    standardErrorOffset: standardError.offset,
    standardError: asBuffer(standardError.bytes),
  };
}
