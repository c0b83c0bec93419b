import {
  GridMachineProviderServiceClient,
  type ConnectRequest,
  type ConnectResponse,
  type Demand,
  type MachineJoined,
  type ToMachine,
} from '@mutirao/api/provider';
import { dial, openStream, type MessageStream } from '@mutirao/runtime/rpc';

/** A stand-in for the broker: one stream to a provider, what came in on it, and nothing more. */
export class FakeBroker {
  readonly client: GridMachineProviderServiceClient;
  readonly #name: string;
  #stream: MessageStream<ConnectResponse, ConnectRequest> | undefined;
  /** Everything that came in since the last connection, oldest first. */
  messages: NonNullable<ConnectResponse['message']>[] = [];
  isConnected = false;
  /** Also called for each message. */
  onMessage: (message: NonNullable<ConnectResponse['message']>) => void = () => undefined;

  constructor(name: string, address: string, token: string) {
    this.#name = name;
    this.client = dial(GridMachineProviderServiceClient, address, { token });
  }

  /** Opens a new stream and says hello. */
  connect(): void {
    this.messages = [];
    const stream: MessageStream<ConnectResponse, ConnectRequest> = openStream(this.client.connect());
    this.#stream = stream;
    stream.listen({
      onMessage: ({ message }) => {
        if (message === undefined) return;
        if (message.$case === 'hello') this.isConnected = true;
        this.messages.push(message);
        this.onMessage(message);
      },
      onClosed: () => {
        this.isConnected = false;
      },
    });
    this.send({
      $case: 'hello',
      value: { protocolVersion: 1, programVersion: '0', capabilities: [], speakerId: this.#name },
    });
  }

  send(message: NonNullable<ConnectRequest['message']>): void {
    this.#stream?.write({ message });
  }

  demand(pendingTasks: number, parts: Partial<Demand> = {}): void {
    const value = {
      pendingTasks,
      processors: 1,
      taskTimeMsMax: undefined,
      taskTimeMsMean: undefined,
      deadlineUnixMs: undefined,
      userId: 'ana',
      reserved: [],
      ...parts,
    };
    this.send({ $case: 'demand', value });
  }

  toMachine(machineId: string, message: NonNullable<ToMachine['message']>): void {
    this.send({ $case: 'toMachine', value: { machineId, message } });
  }

  /** Starts no-op replicas. */
  start(machineId: string, replicaIds: readonly number[], value = ''): void {
    const template = {
      jobId: 1,
      userId: 'ana',
      command: '',
      noOp: true,
      environment: {},
      limits: undefined,
      processors: 1,
      dropToken: '',
      homeChallenge: '',
      dropProof: '',
    };
    const replicas = replicaIds.map((replicaId) => ({
      replicaId,
      taskIndex: replicaId,
      value,
      inputs: [],
      outputs: [],
    }));
    this.toMachine(machineId, { $case: 'start', value: { template, replicas } });
  }

  /** The messages of one kind. */
  received<K extends NonNullable<ConnectResponse['message']>['$case']>(
    kind: K,
  ): Extract<NonNullable<ConnectResponse['message']>, { $case: K }>['value'][] {
    return this.messages.filter((message) => message.$case === kind).map((message) => message.value as never);
  }

  /** Machines that joined and have not been lost since. */
  machines(): MachineJoined[] {
    const joined = new Map<string, MachineJoined>();
    for (const message of this.messages) {
      if (message.$case === 'joined') joined.set(message.value.facts?.machineId ?? '', message.value);
      else if (message.$case === 'lost') joined.delete(message.value.machineId);
    }
    return [...joined.values()];
  }

  /** Replicas that reports said have ended, each as often as it was said. */
  ended(): number[] {
    return this.received('fromMachine').flatMap(({ message }) =>
      message?.$case === 'report' ? message.value.ended.map(({ replicaId }) => replicaId) : [],
    );
  }

  /** Ends its stream; calls can still be made. */
  leave(): void {
    this.#stream?.close();
  }

  close(): void {
    this.leave();
    this.client.close();
  }
}
