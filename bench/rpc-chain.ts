/**
 * How many tasks a bare chain of three processes carries: batches go from the first through a relay to the last,
 * reports
 * come back the same way. All is encoded, decoded and checked as in the grid; nothing is scheduled, journaled or run.
 *
 * `rpc-chain.ts [batch size] [seconds]`; the other words are for the processes that it starts.
 */
import { decodeReport, decodeStartReplicas, encodeReport, encodeStartReplicas } from '@mutirao/api/codecs';
import {
  GridMachineServiceClient,
  GridMachineServiceService,
  type AttachRequest,
  type AttachResponse,
} from '@mutirao/api/machine';
import {
  GridMachineProviderServiceClient,
  GridMachineProviderServiceService,
  type ConnectRequest,
  type ConnectResponse,
} from '@mutirao/api/provider';
import type { ReplicaEnd, StartReplicas } from '@mutirao/core/messages';
import { createLogger } from '@mutirao/runtime/log';
import { killGroup, startProcess } from '@mutirao/runtime/processes';
import { acceptToken, bind, dial, openStream, serve, type Handlers, type MessageStream } from '@mutirao/runtime/rpc';
import { freeSocket } from '@mutirao/testkit';
import { atLeast, plain, report } from './harness.ts';

const token = 'bench';
const machineId = 'relay/1.1';
const batchesInFlight = 16;
const [role = '64', argument = '5'] = process.argv.slice(2);
const log = createLogger('rpc-chain', 'warn');
const unused = (): never => {
  throw new Error('not in this benchmark');
};

/** Passes batches down and reports up, decoding neither below the level of whole messages. */
async function relay(): Promise<void> {
  let machine: MessageStream<AttachRequest, AttachResponse> | undefined;
  let broker: MessageStream<ConnectRequest, ConnectResponse> | undefined;
  const machines = { pullContent: unused, pushContent: unused } as unknown as Handlers<
    typeof GridMachineServiceService
  >;
  const providers = {
    sendContent: unused,
    receiveContent: unused,
    getResource: unused,
    listRequests: unused,
    drain: unused,
  } as unknown as Handlers<typeof GridMachineProviderServiceService>;
  const services = [
    bind(GridMachineServiceService, {
      ...machines,
      attach: (stream) => {
        machine = stream;
        stream.listen({
          onMessage: ({ message }) => {
            if (message?.$case === 'report')
              broker?.write({ message: { $case: 'fromMachine', value: { machineId, message } } });
          },
          onClosed: () => undefined,
        });
      },
    }),
    bind(GridMachineProviderServiceService, {
      ...providers,
      connect: (stream) => {
        broker = stream;
        stream.listen({
          onMessage: ({ message }) => {
            if (message?.$case === 'toMachine' && message.value.message?.$case === 'start')
              machine?.write({ message: message.value.message });
          },
          onClosed: () => undefined,
        });
      },
    }),
  ];
  const server = await serve({ address: freeSocket(), tokens: acceptToken(token, 'bench'), log, services });
  process.stdout.write(`${server.address}\n`);
}

/** Answers each batch with the report that all of it succeeded. */
function machine(address: string): void {
  const stream: MessageStream<AttachResponse, AttachRequest> = openStream(
    dial(GridMachineServiceClient, address, { token }).attach(),
    log,
  );
  let sequence = 0;
  const noBytes = Buffer.alloc(0);
  stream.listen({
    onMessage: ({ message }) => {
      if (message?.$case !== 'start') return;
      const now = Date.now();
      const ended: ReplicaEnd[] = decodeStartReplicas(message.value).replicas.map(({ replicaId }) => ({
        replicaId,
        outcome: 'succeeded',
        exitStatus: 0,
        startedAt: now,
        endedAt: now,
        reason: '',
        detail: '',
        standardOutput: noBytes,
        standardError: noBytes,
        outputTruncated: false,
        outputs: [],
      }));
      stream.write({ message: { $case: 'report', value: encodeReport({ sequence: ++sequence, started: [], ended }) } });
    },
    onClosed: () => {
      process.exit(0);
    },
  });
}

function getBatch(size: number, first: number): StartReplicas {
  const limits = { runTimeMax: 0, memoryMax: 0, outputMax: 0 };
  const template = { jobId: 1, userId: 'bench', command: 'true', noOp: true, environment: {}, limits, processors: 1 };
  return {
    template,
    replicas: Array.from({ length: size }, (_, index) => ({
      replicaId: first + index,
      taskIndex: first + index,
      value: String(first + index),
      inputs: [],
      outputs: [],
    })),
  };
}

/** Keeps a number of batches under way for `seconds`; returns tasks per second. */
function measure(address: string, batchSize: number, seconds: number): Promise<number> {
  const stream: MessageStream<ConnectResponse, ConnectRequest> = openStream(
    dial(GridMachineProviderServiceClient, address, { token }).connect(),
    log,
  );
  let next = 1;
  let done = 0;
  const begun = performance.now();
  const send = (): void => {
    stream.write({
      message: {
        $case: 'toMachine',
        value: { machineId, message: { $case: 'start', value: encodeStartReplicas(getBatch(batchSize, next)) } },
      },
    });
    next += batchSize;
  };
  return new Promise((resolve, reject) => {
    stream.listen({
      onMessage: ({ message }) => {
        if (message?.$case !== 'fromMachine' || message.value.message?.$case !== 'report') return;
        done += decodeReport(message.value.message.value).ended.length;
        const elapsed = performance.now() - begun;
        if (elapsed > seconds * 1000) {
          resolve((done / elapsed) * 1000);
          stream.close();
        } else send();
      },
      onClosed: (error) => {
        if (error !== undefined) reject(error);
      },
    });
    for (let count = 0; count < batchesInFlight; count++) send();
  });
}

async function main(batchSize: number, seconds: number): Promise<void> {
  const started: number[] = [];
  const start = (...words: string[]): ReturnType<typeof startProcess> => {
    const child = startProcess({
      command: process.execPath,
      args: [import.meta.filename, ...words],
      stdout: { kind: 'capture', bytesMax: 100 },
      stderr: { kind: 'inherit' },
      onExit: () => undefined,
    });
    if (child.pid !== undefined) started.push(child.pid);
    return child;
  };
  try {
    const relaying = start('relay');
    let address = '';
    while (!address.includes('\n')) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
      address = Buffer.from(relaying.stdout.bytes()).toString();
    }
    start('machine', address.trim());
    await new Promise((resolve) => {
      setTimeout(resolve, 1500);
    });
    await measure(address.trim(), batchSize, 1);
    report('rpc-chain', [
      atLeast(
        `tasks through three processes, batches of ${batchSize}`,
        await measure(address.trim(), batchSize, seconds),
        'tasks/s',
        100_000,
      ),
      plain('batches under way', batchesInFlight, ''),
    ]);
  } finally {
    for (const pid of started) killGroup(pid, 'SIGKILL');
  }
}

if (role === 'relay') await relay();
else if (role === 'machine') machine(argument);
else {
  await main(Number(role), Number(argument));
  process.exit(0);
}
