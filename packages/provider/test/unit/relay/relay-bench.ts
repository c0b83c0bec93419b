import { DatabaseSync } from 'node:sqlite';
import { AttachRequest, AttachResponse, Outcome } from '@mutirao/api/machine';
import { ConnectRequest, ConnectResponse } from '@mutirao/api/provider';
import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { AuditEntry } from '@mutirao/runtime/audit';
import { quietLogger } from '@mutirao/runtime/log';
import { aCallContext, streamPair, type StreamEnd } from '@mutirao/testkit';
import { AgentGate } from '../../../src/agent-gate.ts';
import { MachineCredentials } from '../../../src/machines/machine-credentials.ts';
import { TaskMeasure } from '../../../src/relay/measure.ts';
import { Relay } from '../../../src/relay/relay.ts';

/** A relay, the inputs that it delivered to the machine, and ways to dial it. */
export class Bench {
  readonly inputs: ProviderInput[] = [];
  readonly untaken: string[] = [];
  readonly audited: AuditEntry[] = [];
  readonly measure = new TaskMeasure({ now: () => 7 });
  readonly database = new DatabaseSync(':memory:');
  readonly machines = new MachineCredentials(this.database, { now: () => 7 });
  readonly gate = new AgentGate(this.database, { findWidth: () => 4 }, this.machines);
  readonly relay = new Relay({
    providerId: 'c1',
    measure: this.measure,
    log: quietLogger,
    clock: { now: () => 7 },
    gate: this.gate,
    ownerId: 'ana',
    deliver: (input) => {
      this.inputs.push(input);
    },
    audit: {
      record: (entry) => {
        this.audited.push(entry);
      },
      close: () => undefined,
    },
    onUntaken: (transferId) => {
      this.untaken.push(transferId);
    },
  });

  broker(name: string, version = 1, userId = 'ana'): StreamEnd<Buffer, Buffer> {
    const [near, far] = streamPair<Buffer, Buffer>();
    this.relay.connectBroker(far, { userId });
    near.write(
      fromBroker({
        $case: 'hello',
        value: { protocolVersion: version, programVersion: '0', capabilities: [], speakerId: name },
      }),
    );
    return near;
  }

  agent(
    machineId: string,
    userId = 'request:q1',
    held: number[] = [],
    { incarnation = 'i', credential = 'q1.x', capabilities = [] as string[] } = {},
  ): StreamEnd<Buffer, Buffer> {
    const [near, far] = streamPair<Buffer, Buffer>();
    this.relay.attachAgent(far, aCallContext({ userId, credential }));
    const facts = {
      machineId,
      incarnation,
      processors: 1,
      attributes: {},
      untilUnixMs: undefined,
      requestId: 'forged',
      sharedTokens: [],
      homeMarks: [],
    };
    near.write(
      fromAgent({
        $case: 'hello',
        value: {
          hello: { protocolVersion: 1, programVersion: '0', capabilities, speakerId: machineId },
          facts,
          heldReplicaIds: held,
        },
      }),
    );
    return near;
  }

  join(brokerId: string, machineId: string): void {
    const facts = { machineId, incarnation: 'i', processors: 1, attributes: {}, until: 9, requestId: 'q1' };
    this.relay.perform({ kind: 'ReportMachineJoined', brokerId, facts, heldReplicaIds: [] });
  }
}

export function fromBroker(message: NonNullable<ConnectRequest['message']>): Buffer {
  return Buffer.from(ConnectRequest.encode({ message }).finish());
}

export function fromAgent(message: NonNullable<AttachRequest['message']>): Buffer {
  return Buffer.from(AttachRequest.encode({ message }).finish());
}

export function offer(machineId: string, transferId: string): Buffer {
  const value = {
    content: { sha256: Buffer.alloc(32), sizeBytes: 9 },
    offset: 0,
    linkable: false,
    pathProof: '',
    source: { $case: 'transferId', value: transferId },
  } as const;
  return fromBroker({ $case: 'toMachine', value: { machineId, message: { $case: 'content', value } } });
}

export function aReport(sequence: number, replicaIds: readonly number[] = []): Buffer {
  const ended = replicaIds.map((replicaId) => ({
    replicaId,
    outcome: Outcome.SUCCEEDED,
    exitStatus: 0,
    startedUnixMs: 1_000,
    endedUnixMs: 1_040,
    reason: '',
    detail: undefined,
    standardOutput: Buffer.alloc(0),
    standardError: Buffer.alloc(0),
    outputTruncated: false,
    outputs: [],
  }));
  return fromAgent({ $case: 'report', value: { sequence, started: [], ended, gangMemberReady: [] } });
}

export function acknowledge(machineId: string, sequence: number): Buffer {
  return fromBroker({
    $case: 'toMachine',
    value: { machineId, message: { $case: 'acknowledged', value: { sequence } } },
  });
}

/** Lets messages in flight arrive. */
export async function settle(): Promise<void> {
  for (let index = 0; index < 20; index += 1) await Promise.resolve();
}

export function sentToBroker(stream: StreamEnd<Buffer, Buffer>): (string | undefined)[] {
  return received(stream).map((bytes) => ConnectResponse.decode(bytes).message?.$case);
}

export function sentToAgent(stream: StreamEnd<Buffer, Buffer>): (string | undefined)[] {
  return received(stream).map((bytes) => AttachResponse.decode(bytes).message?.$case);
}

const listeners = new WeakMap<StreamEnd<Buffer, Buffer>, Buffer[]>();

/** What has arrived at the dialling side of a stream. */
export function received(stream: StreamEnd<Buffer, Buffer>): Buffer[] {
  const known = listeners.get(stream);
  if (known !== undefined) return known;
  const messages: Buffer[] = [];
  listeners.set(stream, messages);
  stream.listen({
    onMessage: (bytes) => {
      messages.push(bytes);
    },
    onClosed: () => undefined,
  });
  return messages;
}
