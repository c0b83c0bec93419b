// A stand-in for the agent: takes replicas and says at once that they succeeded. With it a provider is tested, and its
// relay
// measured, without anything else. A replica whose value is "hold" never ends.
import {
  GridMachineServiceClient,
  Outcome,
  type AttachRequest,
  type AttachResponse,
  type Report,
} from '@mutirao/api/machine';
import { dial, openStream, type MessageStream } from '@mutirao/runtime/rpc';

const {
  MUTIRAO_AGENT_PROVIDER: address = '',
  MUTIRAO_CREDENTIAL: token = '',
  MUTIRAO_AGENT_REQUEST: request = '',
  MUTIRAO_PROCESS_INDEX: index = '0',
} = process.env;
const client = dial(GridMachineServiceClient, address, { token });
const held = new Set<number>();
const unacknowledged = new Map<number, Report>();
/** For how long it looks for its provider: one that a failed test leaves behind must not go on for ever. */
const patience = 30_000;
let giveUpAt = performance.now() + patience;
let sequence = 0;
let stream: MessageStream<AttachResponse, AttachRequest> | undefined;

function attach(): void {
  const opened: MessageStream<AttachResponse, AttachRequest> = openStream(client.attach());
  stream = opened;
  opened.listen({
    onMessage: ({ message }) => {
      giveUpAt = performance.now() + patience;
      if (message !== undefined) receive(message);
    },
    onClosed: (error) => {
      if (
        error?.code === 'MUT_ALLOCATION_ENDED' ||
        error?.code === 'MUT_UNAUTHENTICATED' ||
        performance.now() > giveUpAt
      )
        process.exit(0);
      setTimeout(attach, 50);
    },
  });
  const hello = { protocolVersion: 1, programVersion: '0', capabilities: [], speakerId: index };
  const facts = {
    machineId: `${request}.${index}`,
    incarnation: String(process.pid),
    processors: 1,
    attributes: {},
    untilUnixMs: undefined,
    requestId: request,
    sharedTokens: [],
    homeMarks: [],
  };
  opened.write({ message: { $case: 'hello', value: { hello, facts, heldReplicaIds: [...held] } } });
  for (const report of unacknowledged.values()) opened.write({ message: { $case: 'report', value: report } });
}

function receive(message: NonNullable<AttachResponse['message']>): void {
  if (message.$case === 'acknowledged') {
    for (const [number, report] of unacknowledged) {
      if (number > message.value.sequence) break;
      unacknowledged.delete(number);
      for (const { replicaId } of report.ended) held.delete(replicaId);
    }
  } else if (message.$case === 'start') {
    const now = Date.now();
    for (const { replicaId } of message.value.replicas) held.add(replicaId);
    announce(
      message.value.replicas
        .filter(({ value }) => value !== 'hold')
        .map(({ replicaId }) => ({
          replicaId,
          outcome: Outcome.SUCCEEDED,
          exitStatus: 0,
          startedUnixMs: now,
          endedUnixMs: now + 1,
          reason: '',
          detail: undefined,
          standardOutput: Buffer.alloc(0),
          standardError: Buffer.alloc(0),
          outputTruncated: false,
          outputs: [],
        })),
    );
  }
}

function announce(ended: Report['ended']): void {
  if (ended.length === 0) return;
  sequence += 1;
  const report = { sequence, started: [], ended, gangMemberReady: [] };
  unacknowledged.set(sequence, report);
  stream?.write({ message: { $case: 'report', value: report } });
}

attach();
